package benchmark

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/sampler"
	"github.com/scorekit/lab/scorekit/sde"
)

// chains is a sampler under way: run after run, each from new starting points.
type chains struct {
	start   func(run int64) iter.Seq2[*scorekit.SampleStep, error]
	n       int
	chunk   int     // steps between two waits for the device; 0: a whole run is one step
	flops   float64 // of a step, for one chain
	verdict func(x *tensors.Tensor) (map[string]float64, error)

	runs int64
	next func() (*scorekit.SampleStep, error, bool)
	stop func()
	last *scorekit.SampleStep
	x    *tensors.Tensor // where the chains of the last whole run ended
}

func (c *chains) size() (items, flops float64) { return float64(c.n), float64(c.n) * c.flops }

func (c *chains) close() {
	if c.stop != nil {
		c.stop()
	}
}

// advance counts a new run's start, too: what is compiled was kept by the first.
func (c *chains) advance() (int, error) {
	if c.last == nil || c.last.Step == c.last.Total {
		c.close()
		c.next, c.stop = iter.Pull2(c.start(c.runs))
		c.runs, c.last = c.runs+1, nil
	}
	first := 0
	if c.last != nil {
		first = c.last.Step
	}
	for c.last == nil || c.last.Step < c.last.Total && (c.chunk == 0 || c.last.Step < first+c.chunk) {
		step, err, ok := c.next()
		if err != nil || !ok {
			return 0, fmt.Errorf("the chains ended early: %w", err)
		}
		c.last = step
	}
	x, err := c.last.X() // waits for the device
	if err != nil {
		return 0, err
	}
	if c.last.Step == c.last.Total {
		c.x = x
	}
	if c.chunk == 0 {
		return 1, nil
	}
	return c.last.Step - first, nil
}

func (c *chains) judge(context.Context) (map[string]float64, error) {
	for c.x == nil {
		if _, err := c.advance(); err != nil {
			return nil, err
		}
	}
	return c.verdict(c.x)
}

func beginAnnealed(ctx context.Context, b backends.Backend, r Request) (work, error) {
	const n, d = 1024, 64
	fitted, err := trained(ctx, b, "ncsn_digits", r)
	if err != nil {
		return nil, err
	}
	ladder := sampler.AnnealedLangevin{Max: 1, Min: 0.01, Levels: 10, StepsPerLevel: 100, StepSize: 2e-5}
	start := func(run int64) iter.Seq2[*scorekit.SampleStep, error] {
		rng := rand.New(rand.NewPCG(uint64(r.Seed), uint64(run)))
		points := make([]float32, n*d)
		for i := range points {
			points[i] = rng.Float32()
		}
		return scorekit.SampleSteps(ctx, b, fitted, ladder, n,
			scorekit.WithStart(tensors.FromFlatDataAndDimensions(points, n, d)), scorekit.WithSeed(r.Seed+run))
	}
	return &chains{start: start, n: n, chunk: 100, flops: mlpFlops(64, 256, 256, 256, 64), verdict: judgeDrawnDigits}, nil
}

func beginFlow(ctx context.Context, b backends.Backend, r Request) (work, error) {
	const n = 4096
	fitted, err := trained(ctx, b, "nc2d", r)
	if err != nil {
		return nil, err
	}
	sigmas, err := sde.KarrasSigmas(20, 0.02, 18, 7)
	if err != nil {
		return nil, err
	}
	flow := sampler.ProbabilityFlow{Sigmas: append(sigmas, 0), Solver: sampler.Heun}
	start := func(run int64) iter.Seq2[*scorekit.SampleStep, error] {
		return scorekit.SampleSteps(ctx, b, fitted, flow, n, scorekit.WithSeed(r.Seed+run))
	}
	return &chains{start: start, n: n, flops: 35 * mlpFlops(2, 128, 128, 128, 2), verdict: judgeDrawnRing}, nil
}

func beginLangevin(ctx context.Context, b backends.Backend, r Request, n, steps, chunk int) (work, error) {
	density, err := ring.Density()
	if err != nil {
		return nil, err
	}
	start := func(run int64) iter.Seq2[*scorekit.SampleStep, error] {
		return scorekit.SampleSteps(ctx, b, density, sampler.Langevin{StepSize: 0.01, Steps: steps}, n,
			scorekit.WithStartNormal(4), scorekit.WithSeed(r.Seed+run))
	}
	return &chains{start: start, n: n, chunk: chunk, verdict: judgeLangevin}, nil
}
