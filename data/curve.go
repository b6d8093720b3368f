package data

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/scorekit/lab/scorekit/density"
)

// curve is a path in the plane, run through at a time t drawn between its ends: uniformly, or with a density that is
// proportional to often.
type curve struct {
	from, to float64
	at       func(t float64) (x, y float64)
	speed    float64 // the largest |d(x, y)/dt|
	often    func(t float64) float64
}

// blurred returns the distribution of a point on one of the curves, each as likely, plus noise N(0, s²I):
//
//	p(x) = (1/C) Σ_c 1/(b−a) ∫ₐᵇ N(x; c(t), s²I) dt,
//
// or the same with the density of t in the place of 1/(b−a). The curves must be equally long in t.
//
// The integrals are taken by Gauss–Legendre quadrature, which is a mixture of Gaussians at the nodes. Its error falls
// faster than e^{−n} once the n nodes are closer together than s; the number taken leaves it near the rounding of
// float64.
func blurred(who string, s float64, curves ...curve) (density.Mixture, error) {
	var weights []float64
	var parts []density.Gaussian
	for _, c := range curves {
		half := (c.to - c.from) / 2 * c.speed / s
		n := 4*math.Ceil(half) + 24
		if n > maxNodes {
			return density.Mixture{}, fmt.Errorf("data: %s: noise %v: too small for the exact density, must be at least %.3g",
				who, s, s*4*half/(maxNodes-28))
		}
		times, weight := make([]float64, int(n)), make([]float64, int(n))
		quad.Legendre{}.FixedLocations(times, weight, c.from, c.to)
		for i, t := range times {
			x, y := c.at(t)
			part, err := density.Isotropic([]float64{x, y}, s)
			if err != nil {
				return density.Mixture{}, fmt.Errorf("data: %s: %w", who, err)
			}
			if c.often != nil {
				weight[i] *= c.often(t)
			}
			parts, weights = append(parts, part), append(weights, weight[i])
		}
	}
	return density.NewMixture(weights, parts...)
}

// maxNodes bounds the cost of evaluating the density at a point.
const maxNodes = 5000
