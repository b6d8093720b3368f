package scorekit_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"
	"gonum.org/v1/gonum/stat"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/random"
)

// A block of examples of so many numbers has at most 64 of them on every backend: 151 are three blocks of 51, the last with
// two to spare.
const (
	broad     = 4096
	three     = 151
	ofThree   = 51
	justBlock = 64
)

// alike are examples all of whose numbers are one draw of N(2, 1).
type alike struct{}

func (alike) Shape() []int { return []int{broad} }

func (alike) Batch(_ *mlctx.Context, rng *random.Source, n int) *Node {
	return graph.BroadcastToDims(graph.AddScalar(rng.Normal(n, 1), 2), n, broad)
}

// first returns the first number of each row, [n].
func first(x *Node) *Node {
	return graph.Reshape(graph.Slice(x, graph.AxisRange(), graph.AxisRange(0, 1)), x.Shape().Dimensions[0])
}

// noisyFirst is x₁ + z, z ~ N(0, 1); it tells how many examples it is asked for at once.
func noisyFirst(asked *[]int) objectiveFunc {
	return func(_ *mlctx.Context, rng *random.Source, _ scorekit.Score, x *Node) *Node {
		n := x.Shape().Dimensions[0]
		*asked = append(*asked, n)
		return graph.Add(first(x), rng.Normal(n))
	}
}

// byHand returns the losses of noisyFirst, the blocks drawn one after the other in a graph of their own.
func byHand(t *testing.T, b backends.Backend, n, size int, seed int64) (losses []float64) {
	t.Helper()
	exec, err := graph.NewExec(b, func(state *Node) (*Node, *Node) {
		rng := random.New(state, dtypes.Float32, 1)
		x := alike{}.Batch(nil, rng, size)
		return graph.Add(first(x), rng.Normal(size)), rng.State()
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	state, err := random.Seed(seed)
	if err != nil {
		t.Fatal(err)
	}
	for len(losses) < n {
		var block *tensors.Tensor
		if block, state, err = exec.Exec2(state); err != nil {
			t.Fatal(err)
		}
		for _, v := range tensors.MustCopyFlatData[float32](block) {
			losses = append(losses, float64(v))
		}
	}
	return losses[:n]
}

// Many examples are drawn and judged in blocks of one size, each with random numbers of its own. The loss is N(2, 2): four
// standard errors of the mean are allowed, and of the standard deviation, whose own is √(2/(2n)).
func TestEvaluateLossInBlocks(t *testing.T) {
	zero := scorekit.Score(func(_ *mlctx.Context, x, _ *Node) *Node { return graph.ZerosLike(x) })
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for _, c := range []struct{ n, size int }{{three, ofThree}, {justBlock, justBlock}, {justBlock + 1, 33}} {
			var asked []int
			mean, se, err := scorekit.EvaluateLoss(background, b, zero, noisyFirst(&asked), alike{}, c.n, 7)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(asked, []int{c.size}) {
				t.Errorf("%d examples in blocks of %v, want %d", c.n, asked, c.size)
			}
			losses, root := byHand(t, b, c.n, c.size, 7), math.Sqrt(float64(c.n))
			wantMean, wantStd := stat.MeanStdDev(losses, nil)
			// Two graphs may round a float32 of about 5 in two ways: 5·10⁻⁷.
			within(t, fmt.Sprint("mean of ", c.n), mean, wantMean, 5e-7)
			within(t, fmt.Sprint("standard error of ", c.n), se, wantStd/root, 5e-7)
			within(t, "mean", mean, 2, 4*math.Sqrt2/root)
			within(t, "standard error", se, math.Sqrt2/root, 4/float64(c.n))
			again, _, err := scorekit.EvaluateLoss(background, b, zero, noisyFirst(&asked), alike{}, c.n, 7)
			if err != nil || again != mean {
				t.Errorf("the same seed again: %v, %v, want %v", again, err, mean)
			}
		}
	})
}

// rising is a source whose example k has the numbers k and the class ⌊k/50⌋ mod 3. With stop it gives nothing: it calls that after
// a moment, and waits for the end of ctx.
type rising struct {
	given *atomic.Int64 // batches
	stop  func()
}

func (rising) Shape() []int { return []int{broad} }

func (rising) Classes() int { return 3 }

func (s rising) Batches(ctx context.Context, _ int64, n int, from int) iter.Seq2[scorekit.SourceBatch, error] {
	return func(yield func(scorekit.SourceBatch, error) bool) {
		for k := from; ; k++ {
			if s.stop != nil {
				time.AfterFunc(100*time.Millisecond, s.stop)
				<-ctx.Done()
				yield(scorekit.SourceBatch{}, errors.New("a source that was told to stop"))
				return
			}
			x, classes := make([]float32, 0, n*broad), make([]int32, n)
			for i := range n {
				x = append(x, slices.Repeat([]float32{float32(k*n + i)}, broad)...)
				classes[i] = int32((k*n + i) / 50 % 3)
			}
			s.given.Add(1)
			if !yield(scorekit.SourceBatch{X: tensors.FromFlatDataAndDimensions(x, n, broad), Classes: classes}, nil) {
				return
			}
		}
	}
}

// teller is a model whose score is the class that it is told.
type teller struct{}

func (teller) NumClasses() int { return 3 }

func (teller) Score(_ *mlctx.Context, x, _ *Node) *Node {
	return graph.AddScalar(graph.ZerosLike(x), -1000)
}

func (teller) ScoreGiven(_ *mlctx.Context, x, _, classes *Node) *Node {
	n := x.Shape().Dimensions[0]
	return graph.BroadcastToDims(graph.Reshape(graph.ConvertDType(classes, x.DType()), n, 1), n, broad)
}

// A block goes on where the one before it ended in a stream, in the classes of a stream, and in those of a Given that has one
// for each example. All of it is whole numbers: the means are exact but for the sum's rounding.
func TestEvaluateLossGoesOnFromBlockToBlock(t *testing.T) {
	var all, classes, twice []float64
	list := make([]int, three)
	for i := range three {
		all, classes = append(all, float64(i)), append(classes, float64(i/50%3))
		list[i] = i / ofThree
		twice = append(twice, float64(list[i]))
	}
	ofX := objectiveFunc(func(_ *mlctx.Context, _ *random.Source, _ scorekit.Score, x *Node) *Node { return first(x) })
	ofScore := objectiveFunc(func(vars *mlctx.Context, _ *random.Source, s scorekit.Score, x *Node) *Node {
		return first(s(vars, x, nil))
	})
	// A counter as an objective keeps it in training: the first step is all that there is.
	ofSteps := objectiveFunc(func(vars *mlctx.Context, _ *random.Source, _ scorekit.Score, x *Node) *Node {
		count := vars.GetVariable("steps")
		if count == nil {
			count = vars.VariableWithValue("steps", int32(5)).SetTrainable(false)
		}
		t := count.ValueGraph(x.Graph())
		count.SetValueGraph(graph.AddScalar(t, 1))
		return graph.BroadcastToDims(graph.ConvertDType(t, x.DType()), x.Shape().Dimensions[0])
	})
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for name, c := range map[string]struct {
			model     scorekit.Model
			objective scorekit.Objective
			want      []float64
		}{
			"stream":                {teller{}, ofX, all},
			"classes of a stream":   {teller{}, ofScore, classes},
			"classes of a Given":    {scorekit.Given{Model: teller{}, Classes: list}, ofScore, twice},
			"a counter of training": {teller{}, ofSteps, slices.Repeat([]float64{5}, three)},
		} {
			source := rising{given: new(atomic.Int64)}
			mean, se, err := scorekit.EvaluateLoss(background, b, c.model, c.objective, streamed(t, source), three, 1)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			wantMean, wantStd := stat.MeanStdDev(c.want, nil)
			within(t, name+": mean", mean, wantMean, 1e-9)
			within(t, name+": standard error", se, wantStd/math.Sqrt(three), 1e-9)
			if n := source.given.Load(); n != 3 {
				t.Errorf("%s: %d batches were read, want 3", name, n)
			}
		}
		_, _, err := scorekit.EvaluateLoss(background, b, scorekit.Given{Model: teller{}, Classes: list[:three-1]}, ofScore, alike{}, three, 1)
		wantError(t, err, "scorekit: EvaluateLoss: ", "Given: 150 classes for 151 points: must be one for all, or one for each")
		both := objectiveFunc(func(vars *mlctx.Context, _ *random.Source, s scorekit.Score, x *Node) *Node {
			return first(graph.Slice(s(vars, graph.Concatenate([]*Node{x, x}, 0), nil), graph.AxisRange(0, x.Shape().Dimensions[0])))
		})
		_, _, err = scorekit.EvaluateLoss(background, b, scorekit.Given{Model: teller{}, Classes: list}, both, alike{}, three, 1)
		wantError(t, err, "scorekit: EvaluateLoss: ", "Given: 51 classes for 102 points: must be one for all, or one for each")
	})
}

// Evaluate and EvaluateLoss look at ctx before each block, and say how far they came. 10,000 points are three blocks of 3,334.
func TestEvaluateStopsBetweenBlocks(t *testing.T) {
	points := make([][]float64, 10_000)
	for i := range points {
		points[i] = []float64{float64(i)}
	}
	minus := scorekit.Score(func(_ *mlctx.Context, x, _ *Node) *Node { return graph.Neg(x) })
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		evaluate := func(ctx context.Context) error {
			s, err := scorekit.Evaluate(ctx, b, minus, points)
			if (s == nil) != (err != nil) {
				t.Errorf("scores %v with error %v", s, err)
			}
			return err
		}
		lose := func(ctx context.Context) error {
			var asked []int
			mean, se, err := scorekit.EvaluateLoss(ctx, b, minus, noisyFirst(&asked), alike{}, three, 1)
			if err != nil && (mean != 0 || se != 0) {
				t.Errorf("loss %v ± %v with error %v", mean, se, err)
			}
			return err
		}
		for _, c := range []struct {
			do   func(context.Context) error
			end  int64
			want string // none: it comes to its end
		}{
			{evaluate, 1, "scorekit: Evaluate: stopped after 0 of 10000 points: context canceled"},
			{evaluate, 2, "scorekit: Evaluate: stopped after 3334 of 10000 points: context canceled"},
			{evaluate, 3, "scorekit: Evaluate: stopped after 6668 of 10000 points: context canceled"},
			{evaluate, 4, ""},
			{lose, 1, "scorekit: EvaluateLoss: stopped after 0 of 151 examples: context canceled"},
			{lose, 2, "scorekit: EvaluateLoss: stopped after 51 of 151 examples: context canceled"},
			{lose, 3, "scorekit: EvaluateLoss: stopped after 102 of 151 examples: context canceled"},
			{lose, 4, ""},
		} {
			err := c.do(testvalues.EndingAt(c.end))
			if c.want == "" && err != nil || c.want != "" && (fmt.Sprint(err) != c.want || !errors.Is(err, context.Canceled)) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		}
		reason := errors.New("enough")
		over, cancel := context.WithCancelCause(background)
		cancel(reason)
		for name, do := range map[string]func(context.Context) error{"Evaluate: stopped after 0 of 10000 points: enough": evaluate, "EvaluateLoss: stopped after 0 of 151 examples: enough": lose} {
			if err := do(over); !errors.Is(err, reason) || fmt.Sprint(err) != "scorekit: "+name {
				t.Errorf("error %v, want %q with the cause", err, name)
			}
		}

		// While a stream is waited for, too; what the source says then is no news.
		waiting, stop := context.WithCancelCause(background)
		source := rising{given: new(atomic.Int64), stop: func() { stop(reason) }}
		var asked []int
		_, _, err := scorekit.EvaluateLoss(waiting, b, minus, noisyFirst(&asked), streamed(t, source), three, 1)
		if !errors.Is(err, reason) || fmt.Sprint(err) != "scorekit: EvaluateLoss: stopped after 0 of 151 examples: enough" {
			t.Errorf("error %v while a stream was waited for", err)
		}
	})
}
