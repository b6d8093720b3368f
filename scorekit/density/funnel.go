package density

import (
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit/random"
)

// Funnel is Neal's funnel (Neal 2003, Slice sampling, section 8): the first coordinate v is the log-variance of the
// others, so that the funnel's neck is e^{−v/2} times narrower than its mouth.
//
//	v ~ N(0, s²),   xᵢ | v ~ N(0, eᵛ),   i = 2 … d
//	log p(x) = −v²/2s² − (d−1)v/2 − ½ Σᵢ xᵢ²e^{−v} − log s − (d/2) log 2π
//	∇ log p(x) = ( −v/s² − (d−1)/2 + ½ Σᵢ xᵢ²e^{−v},  −x₂e^{−v},  …,  −x_d e^{−v} )
//
// e^{−v} overflows soon: so that nothing is ever Inf or NaN, e^{−v/2} stops growing at v = −80 in float32 and −700 in
// float64, and |xᵢ|e^{−v/2} at 10¹⁷ and 10¹⁵². Make one with [NewFunnel].
type Funnel struct {
	d   int
	std float64
}

var _ Density = Funnel{}

// NewFunnel returns the funnel in d ≥ 2 dimensions, v included, with the standard deviation s of v, which must be
// positive. Neal's has d = 10 and s = 3.
func NewFunnel(d int, std float64) (Funnel, error) {
	if err := checkAll("Funnel", checkDim(d, 2), checkOnePositive("std", std)); err != nil {
		return Funnel{}, err
	}
	return Funnel{d, std}, nil
}

// Dim returns d.
func (f Funnel) Dim() int { return f.d }

// Validate returns an error for a zero value, which is not a distribution.
func (f Funnel) Validate() error { return validate("Funnel", f.d) }

// Mean returns the mean, 0.
func (f Funnel) Mean() []float64 { return make([]float64, f.d) }

// Cov returns the covariance, diag(s², e^{s²/2}, …, e^{s²/2}).
func (f Funnel) Cov() [][]float64 {
	variances := make([]float64, f.d)
	for i := range variances {
		variances[i] = math.Exp(f.std * f.std / 2)
	}
	if f.d > 0 {
		variances[0] = f.std * f.std
	}
	return diagonalMatrix(variances)
}

// LogDensity returns log p(x): [batch, d] → [batch]. It panics, as graph functions do, when x has another shape.
func (f Funnel) LogDensity(x *Node) *Node {
	checkPoints("Funnel", f.d, x, nil)
	v, unit, _ := f.at(x)
	inner := graph.AddScalar(graph.DivScalar(v, f.std*f.std), float64(f.d-1))
	twice := graph.Add(graph.Reshape(graph.Mul(v, inner), -1), graph.ReduceSum(graph.Square(unit), 1))
	return graph.Neg(graph.AddScalar(graph.MulScalar(twice, 0.5), math.Log(f.std)+0.5*float64(f.d)*math.Log(2*math.Pi)))
}

// Energy returns −log p(x): [batch, d] → [batch]. It panics, as graph functions do, when x has another shape.
func (f Funnel) Energy(x *Node) *Node { return graph.Neg(f.LogDensity(x)) }

// Score returns ∇ log p(x): [batch, d] → [batch, d]. vars is not used. It panics, as graph functions do, when x has
// another shape or sigma is not nil.
func (f Funnel) Score(_ *mlctx.Context, x, sigma *Node) *Node {
	checkClean("Funnel", f.d, x, sigma)
	v, unit, narrowing := f.at(x)
	square := graph.ReduceAndKeep(graph.Square(unit), graph.ReduceSum, 1)
	pull := graph.Sub(graph.MulScalar(graph.AddScalar(square, -float64(f.d-1)), 0.5), graph.DivScalar(v, f.std*f.std))
	return graph.Concatenate([]*Node{pull, graph.Neg(graph.Mul(unit, narrowing))}, 1)
}

// at returns v, [batch, 1], the other coordinates times e^{−v/2}, [batch, d−1], and e^{−v/2}, [batch, 1].
func (f Funnel) at(x *Node) (v, unit, narrowing *Node) {
	limit := logLimit(x.DType()) / 2
	v = coordinate(x, 0)
	narrowing = graph.Exp(graph.MinScalar(graph.MulScalar(v, -0.5), limit))
	unit = graph.Mul(graph.Slice(x, graph.AxisRange(), graph.AxisRangeToEnd(1)), narrowing)
	return v, graph.ClipScalar(unit, -math.Exp(limit), math.Exp(limit)), narrowing
}

// Shape returns [d], the shape of one draw.
func (f Funnel) Shape() []int { return []int{f.d} }

// Batch returns n independent draws, v = s z₁ and xᵢ = e^{v/2} zᵢ, of rng's dtype: [n, d]. vars is not used. It panics,
// as graph functions do, when n is below 1.
func (f Funnel) Batch(_ *mlctx.Context, rng *random.Source, n int) *Node {
	checkBatch("Funnel", f.d, n)
	z := rng.Normal(n, f.d)
	v := graph.MulScalar(coordinate(z, 0), f.std)
	rest := graph.Slice(z, graph.AxisRange(), graph.AxisRangeToEnd(1))
	rest = graph.Mul(rest, expWithin(graph.MulScalar(v, 0.5)))
	return graph.StopGradient(graph.Concatenate([]*Node{v, rest}, 1))
}
