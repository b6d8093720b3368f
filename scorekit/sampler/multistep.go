package sampler

import (
	"math"

	"github.com/scorekit/lab/scorekit/sde"
)

// The coefficients of the solvers that remember: the factors of x and of the predictions, the latest first, 0 for those
// that are not there yet.

// adamsStep integrates the polynomial in σ through ε̂ of this step and of up to memory ones before it, exactly up to
// degree 3: d(x/a)/dσ = ε̂.
func adamsStep(g descent, k, memory int) []float64 {
	from, to := g.levels[k], g.levels[k+1]
	var known []float64
	for j := k; j >= max(0, k-memory); j-- {
		known = append(known, g.levels[j].Sigma())
	}
	c := make([]float64, 2+memory)
	c[0] = to.Mean / from.Mean
	middle, half := (from.Sigma()+to.Sigma())/2, (to.Sigma()-from.Sigma())/2
	for _, node := range []float64{-1 / math.Sqrt(3), 1 / math.Sqrt(3)} { // Gauss's two
		at := middle + half*node
		for j, mine := range known {
			weight := half * to.Mean
			for i, other := range known {
				if i != j {
					weight *= (at - other) / (mine - other)
				}
			}
			c[1+j] += weight
		}
	}
	return c
}

// exponentialStep goes in u, which is 0 at the start of the step and 1 at its end and even in ln σ. With the polynomial p(u)
// through the denoised points and H = ln(σ/σ′) the step is x/a ← e^{−H} x/a + ∫₀¹ H e^{−H(1−u)} p(u) du. A step that goes
// further down, to make room for noise, has a larger H but the same u.
func (s Solver) exponentialStep(g descent, k int, to sde.Level) []float64 {
	from := g.levels[k]
	c := make([]float64, 2+s.rule().memory)
	c[0], c[1] = kept(from, to)
	if k == 0 {
		return c
	}
	// The integrals of 1, u and u² with the weight of p.
	H := math.Log(from.Sigma() / to.Sigma())
	constant := -math.Expm1(-H)
	linear := 1 - constant/H
	square := 1 - 2*linear/H
	switch s {
	case DPMSolver2M:
		linear = constant / 2 // that of p(½)
	case DPMSolver3M:
		square /= 2
	}
	h := math.Log(from.Sigma() / g.levels[k+1].Sigma())
	before := func(j int) float64 { return math.Log(g.levels[j-1].Sigma()/g.levels[j].Sigma()) / h }
	// p = D + u d + u(u + r)d₂ in Newton's form, with r the step before and d, d₂ the divided differences.
	r := before(k)
	if k == 1 || s.rule().memory == 1 {
		c[1] += to.Mean * linear / r
		c[2] -= to.Mean * linear / r
		return c
	}
	earlier := before(k - 1)
	d2 := (square + r*linear) / (r + earlier)
	d := (linear + d2) / r
	c[1] += to.Mean * d
	c[2] -= to.Mean * (d + d2/earlier)
	c[3] += to.Mean * d2 / earlier
	return c
}
