package metric

import (
	"fmt"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/autodiff"
	"github.com/scorekit/lab/scorekit/random"
)

// ImplicitFisher holds the settings of the implicit form of the Fisher divergence, which needs no score of the data.
type ImplicitFisher struct {
	Probes int            // of Hutchinson's estimate of the divergence; 0 means the exact one, for up to 256 dimensions
	Kind   autodiff.Probe // distribution of the probes
	Seed   int64          // of the probes
}

// maxExact is the number of dimensions up to which exact divergences are taken: they cost that many reverse passes.
const maxExact = 256

// Estimate returns the implicit form of the Fisher divergence,
//
//	J = E_p[½‖s_q‖² + ∇·s_q]
//
// (Hyvärinen 2005, eq. 4), from points drawn from p, a tensor [n, dims...] or rows as for [scorekit.Examples], and its
// standard error. q is the judged score. J is the Fisher divergence with its ½ less ½E_p‖∇log p‖², which is the same
// for every q, if p vanishes at the ends of its support (see [ByParts]): of two scores the one with the smaller J is
// nearer, by the difference, and J itself is mostly negative. Probes add to the standard error and not to the mean.
// sigma is the noise level for q: none, one, or one for each point; the points must be noised too.
//
// It returns an error for impossible settings, for exact divergences in more than 256 dimensions, for fewer than two
// points, for a score or slope that is not finite, and the errors of [scorekit.Evaluate].
func (f ImplicitFisher) Estimate(backend backends.Backend, q scorekit.Model, points any, sigma ...float64) (mean, standardError float64, err error) {
	s, slopes, err := f.scoreAndSlopes(backend, q, points, sigma)
	if err != nil {
		return 0, 0, fmt.Errorf("metric: implicit Fisher divergence: %w", err)
	}
	each := make([]float64, len(s))
	for i := range s {
		each[i] = dot(s[i], s[i])/2 + sum(slopes[i])
	}
	mean, standardError = meanAndError(each)
	if err := results(mean, standardError); err != nil {
		return 0, 0, fmt.Errorf("metric: implicit Fisher divergence: %w", err)
	}
	return mean, standardError, nil
}

// ByParts returns the terms of [ByParts] as means over points drawn from p, the scores of p and q both being known, in
// any dimension. The boundary term is the mean of −(s_p·s_q + ∇·s_q), whose expectation is 0 for every q exactly if p
// vanishes at the ends of its support (Stein's identity). Arguments and errors are those of [ImplicitFisher.Estimate].
func (f ImplicitFisher) ByParts(backend backends.Backend, p, q scorekit.Model, points any, sigma ...float64) (ByParts, error) {
	const who = "metric: integration by parts"
	b, slopes, err := f.scoreAndSlopes(backend, q, points, sigma)
	if err != nil {
		return ByParts{}, fmt.Errorf("%s: second score: %w", who, err)
	}
	a, err := scoreRows(backend, p, points, sigma)
	if err != nil {
		return ByParts{}, fmt.Errorf("%s: first score: %w", who, err)
	}
	out, n := ByParts{}, float64(len(a))
	each := make([]float64, len(a))
	for i := range a {
		own, cross, other, trace := dot(a[i], a[i])/2, dot(a[i], b[i]), dot(b[i], b[i])/2, sum(slopes[i])
		out.Explicit += (own - cross + other) / n
		out.Implicit += (other + trace) / n
		out.Constant += own / n
		each[i] = -(cross + trace)
	}
	out.Boundary.Value, out.Boundary.StandardError = meanAndError(each)
	out.Boundary.negligible = 1e-6 * (out.Explicit + out.Constant) // scores may be float32
	if err := results(out.Explicit, out.Implicit, out.Constant, out.Boundary.Value, out.Boundary.StandardError); err != nil {
		return ByParts{}, fmt.Errorf("%s: %w", who, err)
	}
	return out, nil
}

// scoreAndSlopes returns the score of at least two points and, for each coordinate, numbers whose sum over a row is its
// divergence.
func (f ImplicitFisher) scoreAndSlopes(backend backends.Backend, q scorekit.Model, points any, sigma []float64) (s, slopes [][]float64, err error) {
	if f.Probes < 0 {
		return nil, nil, fmt.Errorf("%d probes: must be positive, or 0 for the exact divergence", f.Probes)
	}
	if f.Kind != autodiff.Rademacher && f.Kind != autodiff.Gaussian && f.Kind != autodiff.Sphere {
		return nil, nil, fmt.Errorf("probe kind %d: must be Rademacher, Gaussian or Sphere", int(f.Kind))
	}
	if s, err = scoreRows(backend, q, points, sigma); err != nil {
		return nil, nil, err
	}
	if len(s) < 2 {
		return nil, nil, fmt.Errorf("%d point: must be at least 2, for the standard error", len(s))
	}
	if d := len(s[0]); f.Probes == 0 && d > maxExact {
		return nil, nil, fmt.Errorf("points of %d dimensions: the exact divergence takes a reverse pass for each, up to %d: set Probes", d, maxExact)
	}
	m, err := newSlopes(q, f, points)
	if err != nil {
		return nil, nil, err
	}
	if slopes, err = evaluate("slope", backend, m, points, sigma); err != nil {
		return nil, nil, err
	}
	return s, slopes, nil
}

// slopes is the model that has the slopes of another for its score: ∂sᵢ/∂xᵢ, or (1/k) Σ v ⊙ (∂s/∂x)ᵀv over probes. What
// the other tells of itself it passes on.
type slopes struct {
	scorekit.Model
	settings ImplicitFisher
	start    *tensors.Tensor // of the random state
	dtype    dtypes.DType
}

func newSlopes(q scorekit.Model, f ImplicitFisher, points any) (slopes, error) {
	bound, err := scorekit.Bind(q, points)
	if err != nil {
		return slopes{}, err
	}
	start, err := random.Seed(f.Seed)
	return slopes{q, f, start, bound.Points.DType()}, err
}

func (m slopes) Score(vars *mlctx.Context, x, sigma *scorekit.Node) *scorekit.Node {
	s := m.Model.Score(vars, x, sigma)
	if m.settings.Probes == 0 {
		return autodiff.Diagonal(s, x)
	}
	rng := random.New(graph.ConstTensor(x.Graph(), m.start), x.DType(), 1)
	all := m.settings.Kind.Draw(rng, m.settings.Probes, x.Shape().Dimensions...)
	total := graph.ZerosLike(x)
	for j := range m.settings.Probes {
		v := graph.Reshape(graph.Slice(all, graph.AxisElem(j)), x.Shape().Dimensions...)
		total = graph.Add(total, graph.Mul(autodiff.VJP(s, x, v), v))
	}
	return graph.DivScalar(total, float64(m.settings.Probes))
}

func (m slopes) DType() dtypes.DType { return m.dtype }

func (m slopes) Shape() []int {
	if shaped, ok := m.Model.(interface{ Shape() []int }); ok {
		return shaped.Shape()
	}
	return nil
}

func (m slopes) Vars() *mlctx.Context {
	if weighted, ok := m.Model.(interface{ Vars() *mlctx.Context }); ok {
		return weighted.Vars()
	}
	return nil
}
