package metric

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"
	"github.com/gomlx/gomlx/pkg/ml/layers"
	"github.com/gomlx/gomlx/pkg/ml/train/losses"
	"github.com/gomlx/gomlx/pkg/ml/train/optimizers"

	"github.com/scorekit/lab/internal/given"
	"github.com/scorekit/lab/scorekit/random"
)

// Recognition asks whether samples that were drawn for a class look like it to a small classifier that has learned from
// real, labelled examples: a classification accuracy score the other way round (Ravuri and Vinyals 2019; the accuracy
// part of Salimans et al. 2016).
//
// The classifier is a network with one hidden layer of SiLU units and a softmax, trained by Adam on batches of 128 with
// the cross-entropy. Its inputs have the mean of the examples taken off and are divided by the root mean square of what is left;
// noise of a third of that is added while it learns, so that it does not cling to single coordinates. It is not
// a good classifier, but one that is trained in seconds: RecognitionResult.Real says how good.
type Recognition struct {
	Hidden  int     // units of the hidden layer; 0 means 256
	Steps   int     // of training; 0 means 1,000
	HoldOut float64 // share of the examples that is kept to judge the classifier by; 0 means 0.2
	Seed    int64   // of the split, the weights and the batches
}

// RecognitionResult is the result of [Recognition.Test].
type RecognitionResult struct {
	Accuracy      float64 // share of the samples that were taken for their class
	StandardError float64 // of Accuracy, samples being independent and the classifier as it is
	Real          float64 // the same share of the real examples kept back: what could be expected of perfect samples
	RealError     float64 // its standard error
	Table         [][]int // [class][answer]: how many samples of a class were taken for which
}

// the classifier's batches and the noise on its inputs, which have root mean square 1
const (
	recognitionBatch = 128
	recognitionNoise = 1.0 / 3
)

// Test trains the classifier on examples, a tensor [n, dims...] or rows as for [scorekit.Examples], and their labels, numbered from 0,
// and shows it the samples, with the classes they were drawn for. Time grows with Steps·d·Hidden.
//
// ctx stops it between two steps. It returns an error for impossible settings, for as many labels or classes as there are not
// points, for a label below 0, a class that has no examples, fewer than two classes, points of different dimensions, and
// values that are not finite.
func (r Recognition) Test(ctx context.Context, backend backends.Backend, examples any, labels []int, samples any, classes []int) (RecognitionResult, error) {
	out, err := r.test(ctx, backend, examples, labels, samples, classes)
	if err != nil {
		return RecognitionResult{}, fmt.Errorf("metric: recognition: %w", err)
	}
	return out, nil
}

func (r Recognition) test(ctx context.Context, backend backends.Backend, examples any, labels []int, samples any, classes []int) (RecognitionResult, error) {
	x, y, kept, err := r.check(ctx, backend, examples, labels, samples, classes)
	if err != nil {
		return RecognitionResult{}, err
	}
	order := rand.New(rand.NewPCG(uint64(r.Seed), 0x4ec0)).Perm(len(x))
	learned, judged := order[kept:], order[:kept]
	count := 0
	seen := map[int]bool{}
	for _, i := range learned {
		count, seen[labels[i]] = max(count, labels[i]+1), true
	}
	if len(seen) < 2 {
		return RecognitionResult{}, fmt.Errorf("%d class: there must be at least two to tell apart", len(seen))
	}
	for i, c := range classes {
		if !seen[c] {
			return RecognitionResult{}, fmt.Errorf("class %d of sample %d: none of the %d examples learned from has it", c, i, len(learned))
		}
	}
	scale := newScale(x, learned)
	c := &classifier{hidden: cmp.Or(r.Hidden, 256), classes: count, dim: len(x[0])}
	targets := make([]int32, len(learned))
	for k, i := range learned {
		targets[k] = int32(labels[i])
	}
	if err := c.train(ctx, backend, scale.tensor(x, learned), targets, cmp.Or(r.Steps, 1000), r.Seed); err != nil {
		return RecognitionResult{}, err
	}
	answers, err := c.answer(backend, scale.tensor(x, judged))
	if err != nil {
		return RecognitionResult{}, err
	}
	right := 0
	for k, i := range judged {
		if answers[k] == labels[i] {
			right++
		}
	}
	out := RecognitionResult{Table: make([][]int, count)}
	out.Real, out.RealError = shareOf(right, kept)
	all := make([]int, len(y))
	for i := range all {
		all[i] = i
	}
	if answers, err = c.answer(backend, scale.tensor(y, all)); err != nil {
		return RecognitionResult{}, err
	}
	for i := range out.Table {
		out.Table[i] = make([]int, count)
	}
	right = 0
	for i, a := range answers {
		out.Table[classes[i]][a]++
		if a == classes[i] {
			right++
		}
	}
	out.Accuracy, out.StandardError = shareOf(right, len(y))
	return out, nil
}

// check returns both sets as rows and how many of the examples are kept back.
func (r Recognition) check(ctx context.Context, backend backends.Backend, examples any, labels []int, samples any, classes []int) (x, y [][]float64, kept int, err error) {
	if err := errors.Join(given.Check("ctx", ctx), given.Check("backend", backend)); err != nil {
		return nil, nil, 0, err
	}
	if r.Hidden < 0 || r.Steps < 0 || !(r.HoldOut >= 0 && r.HoldOut < 1) {
		return nil, nil, 0, fmt.Errorf("hidden %d, steps %d, hold-out %v: the first two must not be negative, the last from 0 to below 1", r.Hidden, r.Steps, r.HoldOut)
	}
	x, y, err = twoSets(examples, samples, 2, "")
	if err != nil {
		return nil, nil, 0, err
	}
	if len(labels) != len(x) || len(classes) != len(y) {
		return nil, nil, 0, fmt.Errorf("%d labels for %d examples, %d classes for %d samples: must be one for each", len(labels), len(x), len(classes), len(y))
	}
	held := cmp.Or(r.HoldOut, 0.2)
	kept = int(math.Round(held * float64(len(x))))
	if kept < 2 || len(x)-kept < 2 {
		return nil, nil, 0, fmt.Errorf("hold-out %v of %d examples: must leave at least two on each side", held, len(x))
	}
	for i, label := range labels {
		if label < 0 {
			return nil, nil, 0, fmt.Errorf("label %d of example %d: must not be negative", label, i)
		}
	}
	return x, y, kept, nil
}

// shareOf returns k/n and its standard error; that of a share of 0 or 1 is taken as if half a case had gone the other way.
func shareOf(k, n int) (p, standardError float64) {
	p = float64(k) / float64(n)
	q := math.Min(math.Max(p, 0.5/float64(n)), 1-0.5/float64(n))
	return p, math.Sqrt(q * (1 - q) / float64(n))
}

// scale brings points to mean 0 and root mean square 1, over all coordinates together.
type scale struct {
	mean []float64
	unit float64
}

func newScale(x [][]float64, rows []int) scale {
	s := scale{make([]float64, len(x[0])), 0}
	for _, i := range rows {
		for j, v := range x[i] {
			s.mean[j] += v / float64(len(rows))
		}
	}
	for _, i := range rows {
		for j, v := range x[i] {
			s.unit = math.Hypot(s.unit, (v-s.mean[j])/math.Sqrt(float64(len(rows)*len(x[0]))))
		}
	}
	if s.unit == 0 {
		s.unit = 1
	}
	return s
}

func (s scale) tensor(x [][]float64, rows []int) *tensors.Tensor {
	flat := make([]float32, 0, len(rows)*len(s.mean))
	for _, i := range rows {
		for j, v := range x[i] {
			flat = append(flat, float32((v-s.mean[j])/s.unit))
		}
	}
	return tensors.FromFlatDataAndDimensions(flat, len(rows), len(s.mean))
}

// classifier is the network and its weights.
type classifier struct {
	hidden, classes, dim int
	vars                 *mlctx.Context
}

func (c *classifier) logits(vars *mlctx.Context, x *graph.Node) *graph.Node {
	h := layers.Dense(vars.In("hidden"), x, true, c.hidden)
	h = graph.Mul(h, graph.Sigmoid(h))
	return layers.Dense(vars.In("out"), h, true, c.classes)
}

func (c *classifier) train(ctx context.Context, backend backends.Backend, x *tensors.Tensor, labels []int32, steps int, seed int64) error {
	c.vars = mlctx.New().Checked(false)
	if err := c.vars.SetRNGStateFromSeed(seed); err != nil {
		return err
	}
	state, err := random.Seed(seed)
	if err != nil {
		return err
	}
	c.vars.In("random").VariableWithValue("state", state).SetTrainable(false)
	c.vars.In("data").VariableWithValue("points", x).SetTrainable(false)
	c.vars.In("data").VariableWithValue("labels", tensors.FromFlatDataAndDimensions(labels, len(labels), 1)).SetTrainable(false)
	optimizer := optimizers.Adam().Epsilon(1e-8).WeightDecay(1e-2).Done()
	step, err := mlctx.NewExec(backend, c.vars, func(vars *mlctx.Context, rate *graph.Node) *graph.Node {
		g := rate.Graph()
		randomness := vars.In("random").GetVariable("state")
		rng := random.New(randomness.ValueGraph(g), dtypes.Float32, 1)
		rows := rng.Int(len(labels), recognitionBatch, 1)
		points := graph.Gather(vars.In("data").GetVariable("points").ValueGraph(g), rows)
		points = graph.Add(points, graph.MulScalar(rng.Normal(recognitionBatch, c.dim), recognitionNoise))
		targets := graph.Gather(vars.In("data").GetVariable("labels").ValueGraph(g), rows)
		loss := graph.ReduceAllMean(losses.SparseCategoricalCrossEntropyLogits([]*graph.Node{targets}, []*graph.Node{c.logits(vars.In("model"), points)}))
		optimizers.LearningRateVar(vars, dtypes.Float32, 0).SetValueGraph(rate)
		optimizer.UpdateGraph(vars, g, loss)
		randomness.SetValueGraph(rng.State())
		return loss
	})
	if err != nil {
		return err
	}
	defer step.Finalize()
	var loss *tensors.Tensor
	for k := range steps {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		rate := float32(2e-3 * 0.5 * (1 + math.Cos(math.Pi*float64(k)/float64(steps))))
		if loss != nil {
			loss.MustFinalizeAll()
		}
		if loss, err = step.Exec1(rate); err != nil {
			return err
		}
	}
	if last := float64(tensors.ToScalar[float32](loss)); !finite(last) {
		return fmt.Errorf("the classifier's loss is %v after %d steps: must be finite", last, steps)
	}
	return nil
}

// answer returns the most likely class of each point.
func (c *classifier) answer(backend backends.Backend, x *tensors.Tensor) ([]int, error) {
	exec, err := mlctx.NewExec(backend, c.vars, func(vars *mlctx.Context, x *graph.Node) *graph.Node {
		return graph.ArgMax(c.logits(vars.Checked(false).In("model"), x), -1)
	})
	if err != nil {
		return nil, err
	}
	defer exec.Finalize()
	out, err := exec.Exec1(x)
	if err != nil {
		return nil, err
	}
	answers := make([]int, 0, x.Shape().Dimensions[0])
	err = out.ConstFlatData(func(flat any) {
		for _, a := range flat.([]int32) {
			answers = append(answers, int(a))
		}
	})
	return answers, err
}
