package density

import (
	"fmt"
	"slices"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit/random"
)

// Product makes a density in d dimensions of independent blocks of coordinates, each with a density of its own:
//
//	p(x) = Πⱼ pⱼ(xⱼ),   x = (x₁, x₂, …)
//	∇ log p(x) = (∇ log p₁(x₁), ∇ log p₂(x₂), …)
//
// It can do what all of its factors can: with Gaussians and Mixtures it has scores of noised points, and so on. Make
// one with [NewProduct].
type Product struct {
	factors []Density
}

var _ Density = Product{}

// NewProduct returns the product of the factors, at least one, whose coordinates follow one another. A factor may be a
// product.
func NewProduct(factors ...Density) (Product, error) {
	if len(factors) == 0 {
		return Product{}, fmt.Errorf("density: Product: no factors: must have at least one")
	}
	for i, f := range factors {
		if f == nil {
			return Product{}, fmt.Errorf("density: Product: factor %d is nil: must be a density", i)
		}
		if err := f.Validate(); err != nil {
			return Product{}, fmt.Errorf("density: Product: factor %d: %w", i, err)
		}
		if shape := f.Shape(); len(shape) != 1 || shape[0] != f.Dim() || f.Dim() < 1 {
			return Product{}, fmt.Errorf("density: Product: factor %d has %d dimensions and draws of shape %v: must be [dimensions]", i, f.Dim(), shape)
		}
	}
	return Product{slices.Clone(factors)}, nil
}

// Dim returns d, the sum over the factors.
func (p Product) Dim() int {
	d := 0
	for _, f := range p.factors {
		d += f.Dim()
	}
	return d
}

// Factors returns the densities that are multiplied.
func (p Product) Factors() []Density { return slices.Clone(p.factors) }

// Validate returns an error for a zero value, which is not a distribution.
func (p Product) Validate() error { return validate("Product", p.Dim()) }

// moments is a density whose mean and covariance are known; they are nil where they do not exist.
type moments interface {
	Mean() []float64
	Cov() [][]float64
}

// Mean returns the mean, or nil when that of a factor is not known or does not exist.
func (p Product) Mean() []float64 {
	var mean []float64
	for _, f := range p.factors {
		m, ok := f.(moments)
		if !ok || m.Mean() == nil {
			return nil
		}
		mean = append(mean, m.Mean()...)
	}
	return mean
}

// Cov returns the covariance, row by row, or nil when that of a factor is not known or does not exist.
func (p Product) Cov() [][]float64 {
	d := p.Dim()
	var cov [][]float64
	for _, f := range p.factors {
		m, ok := f.(moments)
		if !ok || m.Cov() == nil {
			return nil
		}
		start := len(cov)
		for _, block := range m.Cov() {
			row := make([]float64, d)
			copy(row[start:], block)
			cov = append(cov, row)
		}
	}
	return cov
}

// Energy returns the sum of the factors' energies: [batch, d] → [batch]. It panics, as graph functions do, when x has
// another shape.
func (p Product) Energy(x *Node) *Node {
	return p.sum(x, func(f Density, block *Node) *Node { return f.Energy(block) })
}

// LogDensity returns log p(x): [batch, d] → [batch]. It panics, as graph functions do, when x has another shape and
// when the normalising constant of a factor is not known.
func (p Product) LogDensity(x *Node) *Node {
	return p.sum(x, func(f Density, block *Node) *Node { return f.LogDensity(block) })
}

func (p Product) sum(x *Node, term func(f Density, block *Node) *Node) *Node {
	checkPoints("Product", p.Dim(), x, nil)
	var sum *Node
	for i, block := range p.blocks(x) {
		if t := term(p.factors[i], block); i == 0 {
			sum = t
		} else {
			sum = graph.Add(sum, t)
		}
	}
	return sum
}

// blocks returns the coordinates of each factor.
func (p Product) blocks(x *Node) []*Node {
	blocks, start := make([]*Node, len(p.factors)), 0
	for i, f := range p.factors {
		blocks[i] = graph.Slice(x, graph.AxisRange(), graph.AxisRange(start, start+f.Dim()))
		start += f.Dim()
	}
	return blocks
}

// Score returns ∇ log p(x), or, when sigma, [batch], is not nil, that of p convolved with N(0, σ²I): [batch, d]. It
// panics, as graph functions do, when the shapes do not fit and when sigma is given and a factor cannot take it.
func (p Product) Score(vars *mlctx.Context, x, sigma *Node) *Node {
	checkPoints("Product", p.Dim(), x, sigma)
	scores := p.blocks(x)
	for i, block := range scores {
		scores[i] = p.factors[i].Score(vars, block, sigma)
	}
	return graph.Concatenate(scores, 1)
}

// Shape returns [d], the shape of one draw.
func (p Product) Shape() []int { return []int{p.Dim()} }

// Batch returns n independent draws, those of the factors side by side, of rng's dtype: [n, d]. It panics, as graph
// functions do, when n is below 1 and when a factor has no exact draws.
func (p Product) Batch(vars *mlctx.Context, rng *random.Source, n int) *Node {
	checkBatch("Product", p.Dim(), n)
	draws := make([]*Node, len(p.factors))
	for i, f := range p.factors {
		draws[i] = f.Batch(vars, rng, n)
	}
	return graph.Concatenate(draws, 1)
}
