package autodiff

import (
	"fmt"
	"slices"

	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/scorekit/random"
)

// Probe is a distribution of probe vectors v with E[vvᵀ] = I. Its variance is that of one vᵀHv with H = ∂s/∂x,
// H̃ = (H + Hᵀ)/2 and d the numbers of a row; an antisymmetric part of H costs none.
type Probe int

const (
	// Rademacher probes are ±1. Variance 2 Σ_{i≠j} H̃ᵢⱼ²: zero for a diagonal Jacobian.
	Rademacher Probe = iota
	// Gaussian probes are N(0, I). Variance 2‖H̃‖_F².
	Gaussian
	// Sphere probes are uniform on the sphere of radius √d. Variance 2/(d+2) · (d‖H̃‖_F² − (tr H)²): zero for a
	// multiple of the identity.
	Sphere
)

// String returns the name of the distribution.
func (p Probe) String() string {
	switch p {
	case Rademacher:
		return "Rademacher"
	case Gaussian:
		return "Gaussian"
	case Sphere:
		return "Sphere"
	}
	return fmt.Sprintf("Probe(%d)", int(p))
}

// Draw draws n probes for each row of points shaped dims = [batch, dims...], in one request: [n, batch, dims...].
// It panics with an error, as graph functions do, if n is below 1 or the kind is unknown.
func (p Probe) Draw(rng *random.Source, n int, dims ...int) *Node {
	if n < 1 {
		panic(fmt.Errorf("autodiff: Hutchinson: probes %d: must be at least 1", n))
	}
	all := append([]int{n}, dims...)
	switch p {
	case Rademacher:
		return graph.StopGradient(rng.Rademacher(all...))
	case Gaussian:
		return graph.StopGradient(rng.Normal(all...))
	case Sphere:
		z := rng.Normal(all...)
		within := count(2, z.Rank()-2)
		squares := graph.ReduceAndKeep(graph.Square(z), graph.ReduceSum, within...)
		d := z.Shape().Size() / squares.Shape().Size()
		scale := graph.Sqrt(graph.DivScalar(graph.MaxScalar(squares, 1e-30), float64(d)))
		return graph.StopGradient(graph.Div(z, scale))
	}
	panic(fmt.Errorf("autodiff: Hutchinson: probe kind %d: must be Rademacher, Gaussian or Sphere", int(p)))
}

// Hutchinson adds an unbiased estimate of the divergence of a field to the graph (Hutchinson 1990):
//
//	(1/k) Σⱼ vⱼᵀ(∂s/∂x)vⱼ,   vⱼ with E[vvᵀ] = I.
//
// s and x are [batch, dims...], the result is [batch]. It takes k = probes passes that share the forward pass, as those of
// [Divergence]; every row has its own probes. Its variance is that of one probe (see [Probe]) divided by k. Rows must not influence
// one another.
//
// It panics with an error, as graph functions do, if the shapes differ, probes is below 1, kind is unknown or an
// operation has no derivative.
func Hutchinson(rng *random.Source, s, x *Node, probes int, kind Probe) *Node {
	sameShape("Hutchinson", "field", s, x)
	if f := newForward(s, x); f != nil {
		v := kind.Draw(rng, probes, x.Shape().Dimensions...)
		return graph.DivScalar(f.total(s, probes, some(v)), float64(probes))
	}
	return graph.ReduceMean(HutchinsonProbes(rng, s, x, probes, kind), 0)
}

// HutchinsonProbes is [Hutchinson] before the mean: vⱼᵀ(∂s/∂x)vⱼ of each probe, [probes, batch], so that the spread of
// the estimate can be reported: the variance over the first axis, divided by probes.
func HutchinsonProbes(rng *random.Source, s, x *Node, probes int, kind Probe) *Node {
	sameShape("Hutchinson", "field", s, x)
	v := kind.Draw(rng, probes, x.Shape().Dimensions...)
	return Bilinear(s, x, v, v)
}

// Bilinear adds uᵀ(∂s/∂x)v of each row and each of k pairs of vectors to the graph, as sliced score matching needs it for
// u = v. s and x are [batch, dims...], u and v [k, batch, dims...], the result is [k, batch]. It takes k passes, as those of
// [Divergence]. u and v count as constants: no gradient passes through them. Rows must not influence one another.
//
// It panics with an error, as graph functions do, if the shapes do not fit or an operation has no derivative.
func Bilinear(s, x, u, v *Node) *Node {
	sameShape("Bilinear", "field", s, x)
	dims := x.Shape().Dimensions
	for _, vectors := range []*Node{u, v} {
		if vectors.Rank() != x.Rank()+1 || !slices.Equal(vectors.Shape().Dimensions[1:], dims) || vectors.Shape().Dimensions[0] != u.Shape().Dimensions[0] || vectors.DType() != x.DType() {
			panic(fmt.Errorf("autodiff: Bilinear: vectors of shapes %s and %s for points of shape %s: must be [k, batch, dims...] of the same dtype", u.Shape(), v.Shape(), x.Shape()))
		}
	}
	u, v = graph.StopGradient(u), graph.StopGradient(v)
	k := v.Shape().Dimensions[0]
	if f := newForward(s, x); f != nil {
		return f.each(s, k, some(u), some(v))
	}
	var parts []*Node
	one := func(vectors *Node, j int) *Node {
		return graph.Reshape(graph.Slice(vectors, graph.AxisElem(j)), dims...)
	}
	for j := range k {
		parts = append(parts, perRow(graph.Mul(VJP(s, x, one(u, j)), one(v, j))))
	}
	return graph.Stack(parts, 0)
}
