package sde

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
)

// Discrete is the chain of denoising diffusion models, T steps that each replace a share β of the variance by noise:
//
//	x_t = √(1−β_t) x_{t−1} + √β_t z,  α_t = 1 − β_t
//	    = √ᾱ_t · data + √(1−ᾱ_t) z,  ᾱ_t = α_0 α_1 … α_t
//
// Indices are 0 … T−1, as in code and unlike the papers' 1 … T: x_t has gone through t+1 steps, and the data themselves
// come before x_0. Make one with [Linear], [ScaledLinear], [SquaredCosine], [FromBetas] or [Discretize].
// (Sohl-Dickstein et al. 2015; Ho et al. 2020, eq. 2–4.)
type Discrete struct {
	betas []float64
	logs  []float64 // ln ᾱ
}

var _ Marginals = Discrete{}

// FromBetas returns the chain of the given β, each above 0 and below 1. The error names the first that is not, by its
// index.
func FromBetas(betas []float64) (Discrete, error) {
	if len(betas) == 0 {
		return Discrete{}, fmt.Errorf("sde: FromBetas: no betas: there must be at least one")
	}
	d := Discrete{slices.Clone(betas), make([]float64, len(betas))}
	total := 0.0
	for i, b := range betas {
		if !(b > 0 && b < 1) {
			return Discrete{}, fmt.Errorf("sde: FromBetas: betas[%d] = %v: must be above 0 and below 1", i, b)
		}
		total += math.Log1p(-b)
		if d.logs[i] = total; total < -1400 {
			return Discrete{}, fmt.Errorf("sde: FromBetas: betas[%d] = %v: the product of all 1−β down to it is below e^−1400: nothing is left of the data", i, b)
		}
	}
	return d, nil
}

// Validate returns an error for a zero value, which has no steps.
func (d Discrete) Validate() error {
	if len(d.betas) == 0 {
		return fmt.Errorf("sde: Discrete: zero value: must be made by a function that returns one")
	}
	return nil
}

// Len returns T.
func (d Discrete) Len() int { return len(d.betas) }

// Betas returns β_t.
func (d Discrete) Betas() []float64 { return slices.Clone(d.betas) }

// Alphas returns α_t = 1 − β_t.
func (d Discrete) Alphas() []float64 {
	return d.list(func(i int) float64 { return 1 - d.betas[i] })
}

// AlphaBars returns ᾱ_t, diffusers' alphas_cumprod.
func (d Discrete) AlphaBars() []float64 {
	return d.list(func(i int) float64 { return math.Exp(d.logs[i]) })
}

// Levels returns the level {√ᾱ_t, √(1−ᾱ_t)} of each state.
func (d Discrete) Levels() []Level {
	levels := make([]Level, d.Len())
	for i, l := range d.logs {
		levels[i] = Level{math.Exp(l / 2), math.Sqrt(-math.Expm1(l))}
	}
	return levels
}

// Sigmas returns the noise levels √((1−ᾱ_t)/ᾱ_t), rising.
func (d Discrete) Sigmas() []float64 {
	return d.list(d.sigma)
}

func (d Discrete) sigma(i int) float64 { return math.Sqrt(math.Expm1(-d.logs[i])) }

// PosteriorVariances returns the variances of x_{t−1} given x_t and the data, β̃_t = β_t(1−ᾱ_{t−1})/(1−ᾱ_t): 0 at t = 0, before
// which come the data (Ho et al. 2020, eq. 7). [Posterior] has its mean, too.
func (d Discrete) PosteriorVariances() []float64 {
	return d.list(func(i int) float64 {
		if i == 0 {
			return 0
		}
		return d.betas[i] * math.Expm1(d.logs[i-1]) / math.Expm1(d.logs[i])
	})
}

func (d Discrete) list(at func(i int) float64) []float64 {
	out := make([]float64, d.Len())
	for i := range out {
		out[i] = at(i)
	}
	return out
}

// Sigma returns the noise level at index t, which need not be an integer: between two indices it is interpolated
// linearly, and outside of 0 … T−1 it is that of the nearest (diffusers' default). It is NaN for NaN, and for a zero value,
// which Validate refuses.
func (d Discrete) Sigma(t float64) float64 {
	if d.Len() == 0 || math.IsNaN(t) {
		return math.NaN()
	}
	last := d.Len() - 1
	t = min(max(t, 0), float64(last))
	low := int(math.Floor(t))
	if low == last {
		return d.sigma(low)
	}
	share := t - float64(low)
	return (1-share)*d.sigma(low) + share*d.sigma(low+1)
}

// Marginal returns the level at index t, as [Discrete.Sigma] interpolates it.
func (d Discrete) Marginal(t float64) Level { return Preserving(d.Sigma(t)) }

// Time returns the index at which [Discrete.Sigma] is sigma, from 0 to T−1: levels outside of the chain's belong to its
// ends. It is NaN for NaN, and for a zero value, which Validate refuses.
func (d Discrete) Time(sigma float64) float64 {
	if d.Len() == 0 || math.IsNaN(sigma) {
		return math.NaN()
	}
	above := sort.Search(d.Len(), func(i int) bool { return d.sigma(i) >= sigma })
	switch {
	case above == 0:
		return 0
	case above == d.Len():
		return float64(d.Len() - 1)
	}
	low, high := d.sigma(above-1), d.sigma(above)
	return float64(above-1) + (sigma-low)/(high-low)
}

// MarginalNode is Marginal in a graph, for t of shape [batch] or a scalar. It costs T numbers for each t.
func (d Discrete) MarginalNode(t *Node) NodeLevel {
	sigmas := d.Sigmas()
	sigma := node{ramps(t, indices(len(sigmas)), sigmas)}
	root := sigma.times(sigma).shifted(1).sqrt()
	return NodeLevel{node{one(t)}.over(root).Node, sigma.over(root).Node}
}

// TimeNode is Time in a graph, for sigma of shape [batch] or a scalar. It costs T numbers for each sigma.
func (d Discrete) TimeNode(sigma *Node) *Node {
	sigmas := d.Sigmas()
	return ramps(sigma, sigmas, indices(len(sigmas)))
}

func indices(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(i)
	}
	return out
}

// ramps interpolates the points (from, to) linearly at x and continues them by their ends. It adds up one ramp for each
// interval, which climbs from 0 to the interval's rise as x goes through it; so no entry of a table is looked up.
func ramps(x *Node, from, to []float64) *Node {
	n := len(from) - 1
	if n == 0 {
		return graph.AddScalar(zero(x), to[0])
	}
	starts, widths, rises := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		starts[i], widths[i], rises[i] = from[i], from[i+1]-from[i], to[i+1]-to[i]
	}
	row := func(values []float64) *Node {
		wide := graph.ConvertDType(graph.ConstTensor(x.Graph(), tensors.FromValue(values)), x.DType())
		return graph.ExpandLeftToRank(wide, x.Rank()+1)
	}
	share := graph.Div(graph.Sub(graph.InsertAxes(x, -1), row(starts)), row(widths))
	share = graph.ClipScalar(share, 0, 1)
	return graph.AddScalar(graph.ReduceSum(graph.Mul(share, row(rises)), -1), to[0])
}
