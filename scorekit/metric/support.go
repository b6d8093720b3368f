package metric

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/given"
	"github.com/scorekit/lab/scorekit"
)

// Support is where a density on a line is not 0: from Low to High, either of which may be infinite.
type Support struct{ Low, High float64 }

// LogDensity is a model whose log-density is known too, up to a constant: every density of package density, or a user's
// own.
type LogDensity interface {
	scorekit.Model
	// LogDensity adds log p(x), [batch], to the graph of x, [batch, 1].
	LogDensity(x *scorekit.Node) *scorekit.Node
}

// ByParts returns the terms of [ByParts] for a density p on the line and the score of a model q, by quadrature. p need
// not be normalised: restricted to the support it is divided by its integral, so that a Gaussian on [0, ∞) is the
// truncated one. At an infinite end p·s_q is taken to be 0.
//
// The trapezoidal rule after a double-exponential change of variable (Takahasi and Mori 1974) is used, with a step of
// 1/64: about 10 digits for densities that are smooth but at the ends and at their mean. The terms must add up, which
// shows that it was enough: it returns an error if they do not, to a millionth, as for a mode far narrower than its
// distance from the end, a judged score that jumps, or a score that is not that of p. It also returns an error for an
// empty support, a density without a finite integral, scores without a finite mean square or not finite, and those of
// [scorekit.Evaluate]. ctx stops it between the evaluations of the density and the scores.
func (s Support) ByParts(ctx context.Context, backend backends.Backend, p LogDensity, q scorekit.Model) (ByParts, error) {
	out, err := s.byParts(ctx, backend, p, q)
	if err != nil {
		return ByParts{}, fmt.Errorf("metric: integration by parts: %w", err)
	}
	return out, nil
}

func (s Support) byParts(ctx context.Context, backend backends.Backend, p LogDensity, q scorekit.Model) (ByParts, error) {
	if err := s.check(); err != nil {
		return ByParts{}, err
	}
	if err := given.Check("density", p); err != nil {
		return ByParts{}, err
	}
	grid, err := s.nodes(ctx, backend, p)
	if err != nil {
		return ByParts{}, err
	}
	points := make([][]float64, len(grid))
	for i, n := range grid {
		points[i] = []float64{n.at}
	}
	a, err := scoreRows(ctx, backend, p, points, nil)
	if err != nil {
		return ByParts{}, fmt.Errorf("first score: %w", err)
	}
	b, slopes, err := ImplicitFisher{}.scoreAndSlopes(ctx, backend, q, points, nil)
	if err != nil {
		return ByParts{}, fmt.Errorf("second score: %w", err)
	}
	var out ByParts
	size, far := 0.0, 0.0
	for i, n := range grid {
		gap := a[i][0] - b[i][0]
		out.Explicit += n.share * gap * gap / 2
		out.Implicit += n.share * (b[i][0]*b[i][0]/2 + slopes[i][0])
		out.Constant += n.share * a[i][0] * a[i][0] / 2
		part := n.share * (a[i][0]*a[i][0] + b[i][0]*b[i][0] + math.Abs(slopes[i][0]))
		size += part
		if n.outermost {
			far += part
		}
		out.Boundary.Value -= n.outward * b[i][0]
	}
	if !(far <= 1e-6*size) {
		return ByParts{}, fmt.Errorf("the scores have no finite mean square: far out the integrals still grow")
	}
	size += math.Abs(out.Boundary.Value)
	out.Boundary.negligible = 1e-9 * size
	if off := out.Explicit - out.Implicit - out.Constant - out.Boundary.Value; !(math.Abs(off) <= 1e-6*size) {
		return ByParts{}, fmt.Errorf("explicit %v, implicit %v, constant %v and boundary term %v do not add up: the quadrature misses a part of the density, the judged score jumps, or the first is not that of the density",
			out.Explicit, out.Implicit, out.Constant, out.Boundary.Value)
	}
	return out, nil
}

func (s Support) check() error {
	if !(s.Low < s.High) || math.IsInf(s.Low, 1) || math.IsInf(s.High, -1) {
		return fmt.Errorf("support from %v to %v: must go from a smaller to a larger number", s.Low, s.High)
	}
	return nil
}

// node is a point of the quadrature.
type node struct {
	at        float64
	width     float64 // that it stands for; 0 for a finite end of the support
	side      float64 // outward direction at an end, −1 or 1; 0 elsewhere
	outermost bool    // whether nothing beyond it is counted
	share     float64 // of the probability
	outward   float64 // at an end the density times the direction
}

// nodes returns the points of the quadrature at which there is any density.
func (s Support) nodes(ctx context.Context, backend backends.Backend, p LogDensity) ([]node, error) {
	all := s.spread(0)
	if err := weigh(ctx, backend, p, all); err != nil {
		return nil, err
	}
	if math.IsInf(s.Low, -1) && math.IsInf(s.High, 1) { // once more, from about the mean
		center := 0.0
		for _, n := range all {
			center += n.share * n.at
		}
		all = s.spread(center)
		if err := weigh(ctx, backend, p, all); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(all, func(n node) bool { return n.share == 0 && n.outward == 0 }), nil
}

// spread returns the points over the support.
func (s Support) spread(center float64) (all []node) {
	low, high := !math.IsInf(s.Low, -1), !math.IsInf(s.High, 1)
	if low {
		all = append(all, node{at: s.Low, side: -1})
	}
	if high {
		all = append(all, node{at: s.High, side: 1})
	}
	const step, last = 1.0 / 64, 4 * 64
	for k := -last; k <= last; k++ {
		t := float64(k) * step
		u, du := math.Pi/2*math.Sinh(t), math.Pi/2*math.Cosh(t)*step
		add := func(at, slope float64) {
			all = append(all, node{at: at, width: slope * du, outermost: k == last})
		}
		switch e := math.Exp(u); {
		case low && high:
			c := math.Cosh(u)
			add(s.Low+(s.High-s.Low)/(1+math.Exp(-2*u)), (s.High-s.Low)/(2*c*c))
		case low:
			add(s.Low+e, e)
		case high:
			add(s.High-e, e)
		default:
			add(center+e, e)
			add(center-e, e)
		}
	}
	return all
}

// weigh fills in the shares of the probability, and the density at the ends.
func weigh(ctx context.Context, backend backends.Backend, p LogDensity, all []node) error {
	x := make([][]float64, len(all))
	for i, n := range all {
		x[i] = []float64{n.at}
	}
	t, err := scorekit.Evaluate(ctx, backend, asScore{p}, x)
	if err != nil {
		return err
	}
	logs, err := scorekit.Rows(t)
	if err != nil {
		return err
	}
	top := math.Inf(-1)
	for i, l := range logs {
		if math.IsNaN(l[0]) || math.IsInf(l[0], 1) {
			return fmt.Errorf("the log-density at %v is %v: must be a number, or -Inf", x[i][0], l[0])
		}
		top = max(top, l[0])
	}
	if math.IsInf(top, -1) {
		return fmt.Errorf("the density is 0 all over the support")
	}
	total, far := 0.0, 0.0
	for i := range all {
		all[i].share = math.Exp(logs[i][0]-top) * all[i].width
		total += all[i].share
		if all[i].outermost {
			far += all[i].share
		}
	}
	if !(far <= 1e-6*total) {
		return fmt.Errorf("the density has no finite integral: far out it still grows")
	}
	for i := range all {
		all[i].share /= total
		all[i].outward = all[i].side * math.Exp(logs[i][0]-top) / total
	}
	return nil
}

// asScore evaluates log-densities where scores are expected: on a line they have one shape.
type asScore struct{ p LogDensity }

func (a asScore) Score(_ *mlctx.Context, x, _ *scorekit.Node) *scorekit.Node {
	return graph.Reshape(a.p.LogDensity(x), x.Shape().Dimensions...)
}
