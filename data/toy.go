package data

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/dtypes"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
)

// Node is a GoMLX graph node.
type Node = scorekit.Node

// draw collects n labelled draws in the plane; a negative label means that the set has none.
func draw(name string, n int, next func() (x, y float64, label int)) Set {
	values := make([]float64, 0, 2*n)
	var labels []int
	for range n {
		x, y, label := next()
		values = append(values, x, y)
		if label >= 0 {
			labels = append(labels, label)
		}
	}
	return Set{Name: name, X: tensor(values, 2, dtypes.Float32), Labels: labels}
}

func orDefault(v, standard float64) float64 {
	if v == 0 {
		return standard
	}
	return v
}

// checkPositive returns an error that names the first value that is not positive and finite.
func checkPositive(who string, names []string, values ...float64) error {
	for i, v := range values {
		if !(v > 0) || math.IsInf(v, 0) {
			return fmt.Errorf("data: %s: %s %v: must be positive and finite", who, names[i], v)
		}
	}
	return nil
}

// checkSample returns the error of impossible settings, or one that names a number of draws below 1.
func checkSample(who string, n int, settings error) error {
	if settings != nil {
		return settings
	}
	if n < 1 {
		return fmt.Errorf("data: %s: %d draws: must be at least 1", who, n)
	}
	return nil
}

// mustDensity is for graph functions, which panic.
func mustDensity(toy interface {
	Density() (density.Mixture, error)
}) density.Mixture {
	p, err := toy.Density()
	if err != nil {
		panic(err)
	}
	return p
}
