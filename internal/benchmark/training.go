package benchmark

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/data"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/net"
	"github.com/scorekit/lab/scorekit/objective"
)

// training is what one training task is made of.
type training struct {
	model     scorekit.Model
	objective scorekit.Objective
	data      func() (scorekit.Data, error)
	batch     int
	flops     float64 // of a step, for one example
	chunk     int     // steps between two looks at the loss
	average   float64 // decay of the moving average of the weights
	unroll    int     // steps a call; 0: as many as Fit chooses
	judge     func(ctx context.Context, b backends.Backend, fitted *scorekit.Fitted) (map[string]float64, error)
}

func toy(d scorekit.Data) func() (scorekit.Data, error) {
	return func() (scorekit.Data, error) { return d, nil }
}

func digits() (scorekit.Data, error) {
	set, err := data.Digits()
	if err != nil {
		return nil, err
	}
	return set.Examples()
}

// ringNoised is the network of the task nc2d: a plain noise prediction whose input has about the variance 1 at each level.
var ringNoised = scorekit.Score(func(vars *mlctx.Context, x, sigma *scorekit.Node) *scorekit.Node {
	root := graph.Sqrt(graph.AddScalar(graph.Square(sigma), 8))
	return net.NoiseMLP{Hidden: []int{128, 128, 128}}.Score(vars, graph.Div(x, graph.InsertAxes(root, -1)), sigma)
})

var (
	ring   = data.Ring{}
	gauss  = func(d int) data.Correlated { return data.Correlated{Dim: d, Correlation: 0.5} }
	probes = func(n int) scorekit.Objective { return objective.ImplicitHutchinson{Probes: n} }
)

var trainings = map[string]training{
	"dsm2d": {
		model: net.MLP{Hidden: []int{128, 128, 128}}, objective: objective.Denoising{Sigma: 0.5, Weighted: true},
		data: toy(ring), batch: 512, flops: 3 * mlpFlops(2, 128, 128, 128, 2), chunk: 96, judge: judgeDenoised,
	},
	"ism_exact": {
		model: net.MLP{Hidden: []int{128, 128, 128}, Activation: net.Tanh}, objective: objective.Implicit{},
		data: toy(ring), batch: 512, flops: 9 * mlpFlops(2, 128, 128, 128, 2), chunk: 48, judge: judgeRing,
	},
	"ism_exact_d16": {
		model: net.MLP{Hidden: []int{128, 128}, Activation: net.Tanh}, objective: objective.Implicit{},
		data: toy(gauss(16)), batch: 256, flops: 51 * mlpFlops(16, 128, 128, 16), chunk: 24, judge: judgeGauss(16),
	},
	"ssm": {
		model: net.MLP{Hidden: []int{256, 256}, Activation: net.Tanh}, objective: probes(1),
		data: toy(gauss(64)), batch: 256, flops: 6 * mlpFlops(64, 256, 256, 64), chunk: 48, judge: judgeGauss(64),
	},
	"hutch8": {
		model: net.MLP{Hidden: []int{256, 256}, Activation: net.Tanh}, objective: probes(8),
		data: toy(gauss(64)), batch: 256, flops: 27 * mlpFlops(64, 256, 256, 64), chunk: 24, judge: judgeGauss(64),
	},
	"ncsn_digits": {
		model: net.NoiseMLP{Hidden: []int{256, 256, 256}}, objective: objective.MultiNoise{Min: 0.01, Max: 1},
		data: digits, batch: 256, flops: 3 * noisedFlops(64, 256), chunk: 48, average: 0.999, judge: judgeDigits,
	},
	"nc2d": {
		model: ringNoised, objective: objective.MultiNoise{Min: 0.02, Max: 20},
		data: toy(ring), batch: 512, flops: 3 * noisedFlops(2, 128), chunk: 48, average: 0.999, judge: judgeRingNoised,
	},
	"conv_dsm": {
		model: scorekit.Score(convNet), objective: objective.MultiNoise{Min: 0.01, Max: 1},
		data: toy(blobs{}), batch: 64, flops: 3 * convFlops, chunk: 1, judge: judgeConv,
	},
}

// mlpFlops counts the products of a network at one point, 2mn each.
func mlpFlops(sizes ...int) float64 {
	sum := 0
	for i, n := range sizes[1:] {
		sum += 2 * sizes[i] * n
	}
	return float64(sum)
}

// noisedFlops counts those of a network of a noise level, its embedding included.
func noisedFlops(d, h int) float64 { return float64(2 * (32*h + 2*d*h + 5*h*h)) }

// run is a training under way.
type run struct {
	training
	backend backends.Backend
	next    func() (*scorekit.FitStep, error, bool)
	stop    func()
	last    *scorekit.FitStep
}

func (t training) begin(ctx context.Context, b backends.Backend, r Request) (work, error) {
	source, err := t.data()
	if err != nil {
		return nil, err
	}
	steps := 1_000_000 // a run that ends when it is told to; Fit unrolls what it would in a long one
	if r.How == Cold {
		steps, t.chunk = 1, 1
	}
	options := []scorekit.FitOption{scorekit.WithSteps(steps), scorekit.WithBatch(t.batch), scorekit.WithEMA(t.average), scorekit.WithSeed(r.Seed)}
	if t.unroll > 0 {
		options = append(options, scorekit.WithUnroll(t.unroll))
	}
	next, stop := iter.Pull2(scorekit.FitSteps(ctx, b, t.model, t.objective, source, options...))
	return &run{training: t, backend: b, next: next, stop: stop}, nil
}

func (r *run) size() (items, flops float64) { return float64(r.batch), float64(r.batch) * r.flops }

func (r *run) close() { r.stop() }

func (r *run) advance() (int, error) {
	first := 0
	if r.last != nil {
		first = r.last.Step
	}
	for r.last == nil || r.last.Step < first+r.chunk {
		step, err, ok := r.next()
		if err != nil || !ok {
			return 0, fmt.Errorf("the training ended early: %w", err)
		}
		r.last = step
	}
	if _, err := r.last.Stats(); err != nil { // waits for the device
		return 0, err
	}
	return r.last.Step - first, nil
}

func (r *run) fitted() (*scorekit.Fitted, error) { return r.last.Fitted() }

func (r *run) judge(ctx context.Context) (map[string]float64, error) {
	fitted, err := r.fitted()
	if err != nil {
		return nil, err
	}
	return r.training.judge(ctx, r.backend, fitted)
}

// trained returns the network of a task after netSteps steps: from a file, or trained now.
func trained(ctx context.Context, b backends.Backend, task string, r Request) (*scorekit.Fitted, error) {
	path, t := filepath.Join(r.Folder, fmt.Sprintf("scorekit_%s_%d.safetensors", task, r.Seed)), trainings[task]
	if fitted, err := scorekit.LoadInto(path, t.model); err == nil {
		return fitted, nil
	}
	source, err := t.data()
	if err != nil {
		return nil, err
	}
	fitted, err := scorekit.Fit(ctx, b, t.model, t.objective, source,
		scorekit.WithSteps(netSteps), scorekit.WithBatch(t.batch), scorekit.WithEMA(t.average), scorekit.WithSeed(r.Seed))
	if err != nil {
		return nil, err
	}
	return fitted, fitted.Save(path)
}
