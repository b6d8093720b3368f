package metric

import (
	"context"
	"fmt"

	"github.com/gomlx/gomlx/backends"
	"gonum.org/v1/gonum/floats"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/autodiff"
)

// ImplicitFisher holds the settings of the implicit form of the Fisher divergence, which needs no score of the data.
type ImplicitFisher struct {
	Probes int            // of Hutchinson's estimate of the divergence; 0 means the exact one, for up to 256 dimensions
	Kind   autodiff.Probe // distribution of the probes
	Seed   int64          // of the probes
}

// maxExact is the number of dimensions up to which exact divergences are taken: they cost that many passes.
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
// points, for a score or slope that is not finite, and the errors of [scorekit.Evaluate]. Like that it takes the points in
// blocks, so that memory does not grow with their number beyond that of the points and scores themselves, and ctx stops it
// between two of them.
func (f ImplicitFisher) Estimate(ctx context.Context, backend backends.Backend, q scorekit.Model, points any, sigma ...float64) (mean, standardError float64, err error) {
	s, slopes, err := f.scoreAndSlopes(ctx, backend, q, points, sigma)
	if err != nil {
		return 0, 0, fmt.Errorf("metric: implicit Fisher divergence: %w", err)
	}
	each := make([]float64, len(s))
	for i := range s {
		each[i] = floats.Dot(s[i], s[i])/2 + floats.Sum(slopes[i])
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
func (f ImplicitFisher) ByParts(ctx context.Context, backend backends.Backend, p, q scorekit.Model, points any, sigma ...float64) (ByParts, error) {
	const who = "metric: integration by parts"
	b, slopes, err := f.scoreAndSlopes(ctx, backend, q, points, sigma)
	if err != nil {
		return ByParts{}, fmt.Errorf("%s: second score: %w", who, err)
	}
	a, err := scoreRows(ctx, backend, p, points, sigma)
	if err != nil {
		return ByParts{}, fmt.Errorf("%s: first score: %w", who, err)
	}
	out, n := ByParts{}, float64(len(a))
	each := make([]float64, len(a))
	for i := range a {
		own, cross, other, trace := floats.Dot(a[i], a[i])/2, floats.Dot(a[i], b[i]), floats.Dot(b[i], b[i])/2, floats.Sum(slopes[i])
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
