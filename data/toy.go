package data

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/dtypes"

	"github.com/scorekit/lab/scorekit"
)

// Node is a GoMLX graph node.
type Node = scorekit.Node

// Toy is a set that is drawn, as much as is wanted of it, rather than kept.
type Toy interface {
	// Batch draws in the graph.
	scorekit.Data
	// Validate returns an error that names an impossible setting.
	scorekit.Validator
	// Sample returns n independent draws, float32 [n, d]. The same seed gives the same set. It returns an error when n is
	// below 1 or a setting is impossible.
	Sample(n int, seed int64) (Set, error)
}

// Toys returns every toy set with its usual settings, by name.
func Toys() map[string]Toy {
	return map[string]Toy{
		"ring": Ring{}, "grid": Grid{}, "clusters": Clusters{}, "correlated": Correlated{},
		"moons": TwoMoons{}, "circles": Circles{}, "swissroll": SwissRoll{}, "spirals": Spirals{}, "pinwheel": Pinwheel{},
		"scurve": SCurve{}, "checkerboard": Checkerboard{},
	}
}

// draw collects n labelled draws in the plane; a negative label means that the set has none.
func draw(name string, n int, next func() (x, y float64, label int)) Set {
	point := make([]float64, 2)
	return drawRows(name, n, 2, func() ([]float64, int) {
		x, y, label := next()
		point[0], point[1] = x, y
		return point, label
	})
}

// drawRows is draw in d dimensions.
func drawRows(name string, n, d int, next func() (row []float64, label int)) Set {
	values := make([]float64, 0, n*d)
	var labels []int
	for range n {
		row, label := next()
		values = append(values, row...)
		if label >= 0 {
			labels = append(labels, label)
		}
	}
	return Set{Name: name, X: tensor(values, d, dtypes.Float32), Labels: labels}
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

// must is for graph functions, which panic.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
