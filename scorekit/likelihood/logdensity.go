package likelihood

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/numbers"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/random"
)

// Result is what [LogDensity] returns, one entry for each point.
type Result struct {
	LogDensity []float64 // log p(x), in nats

	// StandardError is that of each LogDensity by the draw of its probes, s/√Probes with s the standard deviation of the
	// single probes' results. It is nil for the exact divergence, and for one probe, which tells nothing of it.
	StandardError []float64

	Latent [][]float64 // where the ODE took the points, flattened

	Evaluations int // evaluations of the score with its divergence, each for a chunk of points, over all chunks
	Steps       int // steps of the solver over all chunks
	Rejected    int // steps tried beside these whose error was too large
}

// LogDensity returns the log-density of points under the score of model by the probability-flow ODE: see the package's
// documentation for the formula, and for what is exact and what is not.
//
// model has the score of noised data, s(x, σ), as for every sampler. points are a tensor [n, dims...], or rows as for
// [scorekit.Examples]; what is computed has their dtype, or that of the model's weights. Rows must not influence one
// another in the model; all points of a chunk share its steps, which the most difficult one determines.
//
// It returns an error for impossible settings, for points that are not finite or do not fit the model, for a model whose
// weights are missing, for a score that is not finite on the way, and one that wraps ctx's cause when it was stopped.
func LogDensity(ctx context.Context, backend backends.Backend, model scorekit.Model, points any, settings Settings) (*Result, error) {
	r, err := logDensity(ctx, backend, model, points, settings)
	if err != nil {
		return nil, fmt.Errorf("likelihood: LogDensity: %w", err)
	}
	return r, nil
}

func logDensity(ctx context.Context, backend backends.Backend, model scorekit.Model, given any, settings Settings) (*Result, error) {
	if ctx == nil || backend == nil {
		return nil, fmt.Errorf("ctx and backend: both must be given")
	}
	if err := settings.validate(); err != nil {
		return nil, err
	}
	bound, err := scorekit.Bind(model, given)
	if err != nil {
		return nil, err
	}
	rows, err := scorekit.Rows(bound.Points)
	if err != nil {
		return nil, err
	}
	settings = settings.filled(bound.Points.DType())
	s, freeSolver, err := newSolver(backend, bound, settings)
	if err != nil {
		return nil, err
	}
	defer freeSolver()
	draw, freeDraw, err := newProbes(backend, bound, settings)
	if err != nil {
		return nil, err
	}
	defer freeDraw()

	n, r := len(rows), &Result{}
	chunk := evenChunk(n, settings.Chunk)
	tell := reporter(settings.Report, n)
	tell(0)
	for first := 0; first < n; first += chunk {
		if err := solveChunk(ctx, s, draw, rows[first:min(first+chunk, n)], chunk, r); err != nil {
			return nil, err
		}
		tell(len(r.LogDensity))
	}
	r.Evaluations, r.Steps, r.Rejected = s.evaluations, s.steps, s.rejected
	return r, nil
}

// filled puts in the defaults.
func (s Settings) filled(dtype dtypes.DType) Settings {
	tolerance := 1e-5
	if dtype == dtypes.Float64 {
		tolerance = 1e-7
	}
	if s.RTol == 0 {
		s.RTol = tolerance
	}
	if s.ATol == 0 {
		s.ATol = tolerance
	}
	if s.Chunk == 0 {
		s.Chunk = 512
	}
	return s
}

// evenChunk returns the size of the fewest equal chunks of at most limit: all have one shape, for which a graph is
// compiled once, and few rows are added to fill the last.
func evenChunk(n, limit int) int {
	chunks := (n + limit - 1) / limit
	return (n + chunks - 1) / chunks
}

// integrals is how many integrals of the divergence a point has.
func (s Settings) integrals() int { return max(1, s.Probes) }

// newSolver compiles what the solver needs.
func newSolver(backend backends.Backend, bound *scorekit.Bound, settings Settings) (*solver, func(), error) {
	shape := bound.Points.Shape()
	field, err := mlctx.NewExec(backend, bound.Vars, func(vars *mlctx.Context, in []*Node) []*Node {
		at, c, y, k := in[0], in[1], in[2], in[3:3+stagesOfAStep]
		var probes *Node
		if settings.Probes > 0 {
			probes = in[3+stagesOfAStep]
		}
		y, rate := stage(vars, bound.Score, settings.Probe, shape.Dimensions[1:], at, c, probes, y, k)
		return []*Node{y, rate}
	})
	if err != nil {
		return nil, nil, err
	}
	d := shape.Size() / shape.Dimensions[0]
	norm, err := graph.NewExec(backend, func(in []*Node) *Node {
		return size(d, in[0], in[1], in[2], in[3], in[4:])
	})
	if err != nil {
		field.Finalize()
		return nil, nil, err
	}
	return &solver{settings: settings, dtype: shape.DType, field: field, norm: norm}, func() { field.Finalize(); norm.Finalize() }, nil
}

// newProbes returns a function that draws the probes for chunks of n points; they are nil for the exact divergence.
func newProbes(backend backends.Backend, bound *scorekit.Bound, settings Settings) (draw func(n int) (*tensors.Tensor, error), free func(), err error) {
	if settings.Probes == 0 {
		return func(int) (*tensors.Tensor, error) { return nil, nil }, func() {}, nil
	}
	state, err := random.Seed(settings.Seed)
	if err != nil {
		return nil, nil, err
	}
	var dims []int
	exec, err := graph.NewExec(backend, func(state *Node) (probes, next *Node) {
		rng := random.New(state, bound.Points.DType(), 1)
		probes = settings.Probe.Draw(rng, settings.Probes, dims...)
		return probes, rng.State()
	})
	if err != nil {
		return nil, nil, err
	}
	draw = func(n int) (*tensors.Tensor, error) {
		dims = append([]int{n}, bound.Points.Shape().Dimensions[1:]...)
		probes, next, err := exec.Exec2(state)
		state = next
		return probes, err
	}
	return draw, exec.Finalize, nil
}

// solveChunk solves for some of the points and appends to the result. The last point fills up a chunk.
func solveChunk(ctx context.Context, s *solver, draw func(n int) (*tensors.Tensor, error), rows [][]float64, chunk int, r *Result) error {
	d, extra := len(rows[0]), s.settings.integrals()
	flat := make([]float64, 0, chunk*(d+extra))
	for i := range chunk {
		flat = append(append(flat, rows[min(i, len(rows)-1)]...), make([]float64, extra)...)
	}
	probes, err := draw(chunk)
	if err != nil {
		return err
	}
	end, err := s.solve(ctx, numbers.Tensor(flat, s.dtype, chunk, d+extra), probes)
	if err != nil {
		return err
	}
	states, err := scorekit.Rows(end)
	if err != nil {
		return err
	}
	if err := free(end); err != nil {
		return err
	}
	if probes != nil {
		if err := free(probes); err != nil {
			return err
		}
	}
	prior := s.settings.SDE.Prior()
	for _, y := range states[:len(rows)] {
		mean, se := meanOf(y[d:])
		r.LogDensity = append(r.LogDensity, prior.LogDensity(y[:d])+mean)
		if extra > 1 {
			r.StandardError = append(r.StandardError, se)
		}
		r.Latent = append(r.Latent, y[:d:d])
	}
	return nil
}

// meanOf returns the mean of values and its standard error, NaN for a single one.
func meanOf(values []float64) (mean, se float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	for _, v := range values {
		se += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(se / (n - 1) / n)
}

// reporter returns a function to call with the number of points done.
func reporter(report func(scorekit.Report), total int) func(done int) {
	start := time.Now()
	return func(done int) {
		if report == nil {
			return
		}
		now := scorekit.Report{Verb: "log-density", Unit: "points", Step: done, Total: total, Elapsed: time.Since(start), Loss: math.NaN(), Done: done == total}
		if done > 0 && now.Elapsed > 0 {
			now.Rate = float64(done) / now.Elapsed.Seconds()
			now.Left = time.Duration(float64(total-done) / now.Rate * float64(time.Second))
		}
		report(now)
	}
}
