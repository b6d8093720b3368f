package scorekit_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/leaktest"
	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/objective"
	"github.com/scorekit/lab/scorekit/random"
)

// numbers is a source of single numbers with classes: batch k draws its rows with a generator of its own, so that it can
// begin anywhere. Before it gives batch k it calls before(ctx, k), if that is set.
type numbers struct {
	values  []float64
	classes []int32
	narrow  bool // float32
	before  func(ctx context.Context, batch int) error
}

func (s numbers) Shape() []int { return []int{1} }

func (s numbers) Batches(ctx context.Context, seed int64, n int, from int) iter.Seq2[scorekit.SourceBatch, error] {
	return func(yield func(scorekit.SourceBatch, error) bool) {
		for k := from; ; k++ {
			if s.before != nil {
				if err := s.before(ctx, k); err != nil {
					yield(scorekit.SourceBatch{}, err)
					return
				}
			}
			rng := rand.New(rand.NewPCG(uint64(seed), uint64(k)))
			b := scorekit.SourceBatch{}
			wide, narrow := make([]float64, n), make([]float32, n)
			for i := range n {
				row := rng.IntN(len(s.values))
				wide[i], narrow[i] = s.values[row], float32(s.values[row])
				if s.classes != nil {
					b.Classes = append(b.Classes, s.classes[row])
				}
			}
			b.X = tensors.FromFlatDataAndDimensions(wide, n, 1)
			if s.narrow {
				b.X = tensors.FromFlatDataAndDimensions(narrow, n, 1)
			}
			if !yield(b, nil) {
				return
			}
		}
	}
}

func streamed(t *testing.T, s scorekit.Source) scorekit.Data {
	t.Helper()
	d, err := scorekit.Stream(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A stream and Examples of the same numbers lead to the same closed form. The weights are mostly averaged over the last
// 40 steps of 2,048; the label has the standard deviation √(1/σ² − 1/v) = 1.9 about the score, so that b has the standard
// error 1.9/√82000·√(1+m²/v) = 0.008, of which the tolerance is 4.
func TestStreamTrainsAsExamplesDo(t *testing.T) {
	values := []float64{-1, 0.5, 2, 2.5}
	mean, variance := 1.0, (4+0.25+1+2.25)/4
	column := make([][]float64, len(values))
	for i, v := range values {
		column[i] = []float64{v}
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for name, data := range map[string]scorekit.Data{
			"stream": streamed(t, numbers{values: values, narrow: true}), "examples": examples(t, column),
		} {
			f, err := scorekit.Fit(background, b, scorekit.Score(linear), objective.Denoising{Sigma: 0.5}, data, scorekit.WithSteps(400),
				scorekit.WithBatch(2048), scorekit.WithUnroll(4), scorekit.WithOptimizer(scorekit.Adam{Rate: scorekit.Rate{Peak: 0.05, Cosine: true}}))
			if err != nil {
				t.Fatal(name, err)
			}
			v := variance + 0.25
			a, bias := weights(t, f)
			within(t, name+": a", a, -1/v, 0.07/v)
			within(t, name+": b", bias[0], mean/v, 0.07/v)
		}
	})
}

// A run that a source's error has stopped goes on at its place: the weights are those of an uninterrupted one.
func TestStreamResumesBitForBit(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		broken := errors.New("the disk is gone")
		good := numbers{values: []float64{-1, 0.5, 2, 2.5}}
		bad := good
		bad.before = func(_ context.Context, batch int) error {
			if batch == 7 {
				return broken
			}
			return nil
		}
		fit := func(s scorekit.Source, more ...scorekit.FitOption) (*scorekit.Fitted, error) {
			return scorekit.Fit(background, b, scorekit.Score(linear), objective.Denoising{Sigma: 0.5}, streamed(t, s),
				append(more, scorekit.WithSteps(12), scorekit.WithBatch(3), scorekit.WithUnroll(2), scorekit.WithSeed(5))...)
		}
		dir := t.TempDir()
		first, err := fit(bad, scorekit.WithCheckpoints(dir, 4))
		wantError(t, err, "scorekit: Fit", "numbers", "batch 7", "disk is gone")
		if !errors.Is(err, broken) || first == nil || first.Steps() != 6 {
			t.Fatalf("stopped with %v, model %v", err, first)
		}
		resumed, err := fit(good, scorekit.WithCheckpoints(dir, 4), scorekit.WithResume())
		if err != nil {
			t.Fatal(err)
		}
		whole, err := fit(good)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"a", "b"} {
			equalTensors(t, name, resumed.Vars().GetVariableByScopeAndName("/", name).MustValue(), whole.Vars().GetVariableByScopeAndName("/", name).MustValue())
		}
		a, _ := weights(t, whole)
		if early, _ := weights(t, first); early == a {
			t.Error("the second half changed nothing")
		}
	})
}

// Each step is given its own batch, in order: with the objective −Σs and plain descent at rate r the weight a is r times
// the sum of all examples over the batch.
func TestStreamGivesEachBatchOnce(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		given := []float64{1, 10, 100, 1000, 10000, 100000, 1000000}
		f, err := scorekit.Fit(background, b, scorekit.Score(linear), drift, streamed(t, inOrder{given}), scorekit.WithSteps(7), scorekit.WithBatch(1), scorekit.WithUnroll(3),
			scorekit.WithEMA(0), scorekit.WithDType(dtypes.Float64), scorekit.WithOptimizer(scorekit.SGD{Rate: scorekit.Rate{Peak: 1}}))
		if err != nil {
			t.Fatal(err)
		}
		a, _ := weights(t, f)
		within(t, "sum", a, 1111111, 1e-9)
	})
}

// inOrder gives one number a batch, and ends.
type inOrder struct{ values []float64 }

func (s inOrder) Shape() []int { return []int{1} }

func (s inOrder) Batches(_ context.Context, _ int64, n int, from int) iter.Seq2[scorekit.SourceBatch, error] {
	return func(yield func(scorekit.SourceBatch, error) bool) {
		for _, v := range s.values[from:] {
			flat := make([]float64, n)
			for i := range flat {
				flat[i] = v
			}
			if !yield(scorekit.SourceBatch{X: tensors.FromFlatDataAndDimensions(flat, n, 1)}, nil) {
				return
			}
		}
	}
}

// fixed gives one batch again and again.
type fixed struct {
	shape []int
	batch func() scorekit.SourceBatch
}

func (s fixed) Shape() []int { return s.shape }

func (s fixed) Batches(context.Context, int64, int, int) iter.Seq2[scorekit.SourceBatch, error] {
	return func(yield func(scorekit.SourceBatch, error) bool) {
		for yield(s.batch(), nil) {
		}
	}
}

func TestStreamRefusesBadBatches(t *testing.T) {
	be := testbackend.Go(t)
	of := func(flat any, dims ...int) func() scorekit.SourceBatch {
		return func() scorekit.SourceBatch {
			switch f := flat.(type) {
			case []float64:
				return scorekit.SourceBatch{X: tensors.FromFlatDataAndDimensions(f, dims...)}
			case []float32:
				return scorekit.SourceBatch{X: tensors.FromFlatDataAndDimensions(f, dims...)}
			case []int32:
				return scorekit.SourceBatch{X: tensors.FromFlatDataAndDimensions(f, dims...)}
			}
			return scorekit.SourceBatch{}
		}
	}
	nan := math.NaN()
	for _, c := range []struct {
		name  string
		data  scorekit.Source
		parts []string
	}{
		{"NaN", fixed{[]int{2}, of([]float64{1, 2, 3, nan}, 2, 2)}, []string{"batch 0", "row 1, column 1", "NaN"}},
		{"Inf", fixed{[]int{2}, of([]float32{1, 2, float32(math.Inf(1)), 4}, 2, 2)}, []string{"batch 0", "row 1, column 0", "+Inf"}},
		{"too large", fixed{[]int{2}, of([]float64{1, 1e300, 3, 4}, 2, 2)}, []string{"row 0, column 1", "1e+300", "WithDType"}},
		{"shape", fixed{[]int{2}, of([]float64{1, 2, 3, 4, 5, 6}, 2, 3)}, []string{"batch 0", "[2 3]", "[2 2]"}},
		{"size of the batch", fixed{[]int{2}, of([]float64{1, 2}, 1, 2)}, []string{"batch 0", "[1 2]", "[2 2]"}},
		{"dtype", fixed{[]int{2}, of([]int32{1, 2, 3, 4}, 2, 2)}, []string{"batch 0", "Int32"}},
		{"nil", fixed{[]int{2}, of(nil)}, []string{"batch 0", "nil"}},
		{"an end", inOrder{[]float64{1, 2, 3}}, []string{"ended before batch 3"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := scorekit.Fit(background, be, scorekit.Score(linear), objective.Denoising{Sigma: 1}, streamed(t, c.data), scorekit.WithBatch(2), scorekit.WithSteps(5))
			wantError(t, err, append(c.parts, "scorekit: Fit: source scorekit_test.")...)
		})
	}
	for _, shape := range [][]int{nil, {}, {0}, {3, -1}} {
		_, err := scorekit.Stream(fixed{shape: shape})
		wantError(t, err, "scorekit: Stream", "shape")
	}
	_, err := scorekit.Stream(nil)
	wantError(t, err, "scorekit: Stream", "nil")
}

func TestStreamStopsWithoutLeavingGoroutines(t *testing.T) {
	be := testbackend.Go(t)
	before := runtime.NumGoroutine()
	values := []float64{1, 2, 3}
	fit := func(ctx context.Context, s scorekit.Source, more ...scorekit.FitOption) (*scorekit.Fitted, error) {
		return scorekit.Fit(ctx, be, scorekit.Score(linear), objective.Denoising{Sigma: 1}, streamed(t, s), append(more, scorekit.WithBatch(2), scorekit.WithSteps(50))...)
	}
	// to the end, and stopped by a callback
	if _, err := fit(background, numbers{values: values}); err != nil {
		t.Error(err)
	}
	_, err := fit(background, numbers{values: values}, scorekit.WithCallback(func(*scorekit.FitStep) error { return errors.New("enough") }))
	wantError(t, err, "enough")
	// left early
	for range scorekit.FitSteps(background, be, scorekit.Score(linear), objective.Denoising{Sigma: 1}, streamed(t, numbers{values: values}), scorekit.WithBatch(2)) {
		break
	}
	// cancelled while the source waits
	cause := errors.New("the cause")
	ctx, cancel := context.WithCancelCause(background)
	f, err := fit(ctx, numbers{values: values, before: func(own context.Context, batch int) error {
		if batch < 20 {
			return nil
		}
		cancel(cause)
		<-own.Done()
		return own.Err()
	}})
	wantError(t, err, "stopped after step", "of 50", "the cause")
	if !errors.Is(err, cause) || f == nil || f.Steps() > 20 {
		t.Errorf("%v, %v", err, f)
	}
	for range 100 { // the runtime takes a moment to count them out
		if runtime.NumGoroutine() <= before {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if now := runtime.NumGoroutine(); now > before {
		t.Errorf("%d goroutines, %d before", now, before)
	}
	// a source that does not listen: the run ends, and its goroutine when the source lets go
	release := make(chan struct{})
	ctx, cancel = context.WithCancelCause(background)
	_, err = fit(ctx, numbers{values: values, before: func(_ context.Context, batch int) error {
		cancel(cause)
		<-release
		return nil
	}})
	close(release)
	wantError(t, err, "stopped after step 0 of 50", "the cause")
}

// A panic in a source, which happens in the goroutine that reads ahead, is an error that says what it was, of which source and
// where, and ends the run as any failed step does: with the weights so far and with nothing left behind.
func TestSourceThatPanics(t *testing.T) {
	trouble := errors.New("trouble")
	nobody := func() *numbers { return nil }
	const line = `stream_test\.go:\d+: `
	for name, c := range map[string]struct {
		panics func()
		want   string
		is     error
	}{
		"text":         {func() { panic("out of paper") }, "panic at " + line + "out of paper$", nil},
		"an error":     {func() { panic(trouble) }, "panic at " + line + "trouble$", trouble},
		"nil":          {func() { _ = nobody().values }, "panic at " + line + "runtime error: invalid memory address or nil pointer dereference$", nil},
		"beyond a row": {func() { _ = []int{1}[len(trouble.Error())] }, "panic at " + line + `runtime error: index out of range \[7\] with length 1$`, nil},
		"Goexit":       {runtime.Goexit, "it ended its goroutine$", nil},
	} {
		source := func(at int) scorekit.Data {
			return streamed(t, numbers{values: []float64{1, 2, 3}, before: func(_ context.Context, batch int) error {
				if batch == at {
					c.panics()
				}
				return nil
			}})
		}
		check := func(verb string, batch int, err error) {
			t.Helper()
			want := fmt.Sprintf(`^scorekit: %s: source scorekit_test\.numbers: batch %d: %s`, verb, batch, c.want)
			if err == nil || !regexp.MustCompile(want).MatchString(err.Error()) || c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("%s: error %v, want %s", name, err, want)
			}
		}
		be, dir, denoise := testbackend.Go(t), t.TempDir(), objective.Denoising{Sigma: 0.5}
		leaktest.Run(t, func() {
			f, err := scorekit.Fit(background, be, smallNet, denoise, source(7), scorekit.WithBatch(2), scorekit.WithUnroll(3),
				scorekit.WithSteps(50), scorekit.WithCheckpoints(dir, 3))
			check("Fit", 7, err)
			kept, loadErr := scorekit.Load(dir)
			if f == nil || f.Steps() != 6 || loadErr != nil || kept.Steps() != 6 {
				t.Errorf("%s: after two calls of 3 steps: %v, checkpoint %v (%v)", name, f, kept, loadErr)
			}
			mean, se, err := scorekit.EvaluateLoss(background, be, scorekit.Score(func(_ *mlctx.Context, x, _ *Node) *Node { return graph.Neg(x) }), denoise, source(0), 64, 1)
			check("EvaluateLoss", 0, err)
			x, err := scorekit.Draw(background, be, source(0), 3, 1)
			check("Draw", 0, err)
			if mean != 0 || se != 0 || x != nil {
				t.Errorf("%s: loss %v ± %v, draws %v beside the errors", name, mean, se, x)
			}
		})
	}
}

// Draw is stopped before it draws, and while it waits for a stream, with the cause.
func TestDrawStops(t *testing.T) {
	reason := errors.New("enough")
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		over, cancel := context.WithCancelCause(background)
		cancel(reason)
		for name, data := range map[string]scorekit.Data{"examples": examples(t, [][]float64{{1}}), "stream": streamed(t, numbers{values: []float64{1}})} {
			if x, err := scorekit.Draw(over, b, data, 3, 1); x != nil || !errors.Is(err, reason) {
				t.Errorf("%s: drew %v, error %v", name, x, err)
			}
		}
		leaktest.Run(t, func() {
			ctx, cancel := context.WithCancelCause(background)
			_, err := scorekit.Draw(ctx, b, streamed(t, numbers{values: []float64{1}, before: func(own context.Context, _ int) error {
				cancel(reason)
				<-own.Done()
				return own.Err()
			}}), 3, 1)
			if !errors.Is(err, reason) || fmt.Sprint(err) != "scorekit: Draw: enough" {
				t.Errorf("error %v while a stream was waited for", err)
			}
		})
	})
}

// What is held in memory is three blocks, however much the source gives: of a run of 200 batches no more than those of
// four calls have been read when the second call is done.
func TestStreamReadsNoFurtherThanItMust(t *testing.T) {
	be := testbackend.Go(t)
	read := make(chan int, 1000)
	s := numbers{values: []float64{1, 2}, before: func(_ context.Context, batch int) error { read <- batch; return nil }}
	for step, err := range scorekit.FitSteps(background, be, scorekit.Score(linear), drift, streamed(t, s), scorekit.WithBatch(2), scorekit.WithUnroll(5), scorekit.WithSteps(200)) {
		if err != nil {
			t.Fatal(err)
		}
		if step.Step == 10 {
			time.Sleep(50 * time.Millisecond)
			break
		}
	}
	// Two blocks are used, one lies ready, and one was put together when it had to wait.
	if n := len(read); n < 10 || n > 20 {
		t.Errorf("%d batches were read for 2 calls of 5", n)
	}
}

func TestStreamOnTheHost(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		data := streamed(t, numbers{values: []float64{1, 2, 3, 4}})
		x, err := scorekit.Draw(t.Context(), b, data, 400, 3)
		if err != nil {
			t.Fatal(err)
		}
		mean, variance, n := meanAndVariance(t, x)
		within(t, "mean", mean, 2.5, 4*math.Sqrt(1.25/n))
		within(t, "variance", variance, 1.25, 0.25)
		again, err := scorekit.Draw(t.Context(), b, data, 400, 3)
		if err != nil {
			t.Fatal(err)
		}
		equalTensors(t, "same seed", x, again)
		// ½‖s‖² of s(x) = x over the same batch of numbers.
		loss, se, err := scorekit.EvaluateLoss(background, b, scorekit.Score(func(_ *mlctx.Context, x, _ *Node) *Node { return x }), regression{0}, data, 400, 3)
		if err != nil {
			t.Fatal(err)
		}
		within(t, "loss", loss, (variance+mean*mean)/2, 1e-5)
		within(t, "standard error", se, 0.14, 0.02)
	})
	be := testbackend.Go(t)
	twice := objectiveFunc(func(vars *mlctx.Context, rng *random.Source, score scorekit.Score, x *Node) *Node {
		y := streamed(t, numbers{values: []float64{1}}).Batch(vars.InAbsPath("/data"), rng, 2)
		return graph.ReduceSum(graph.Add(score(vars, x, nil), y), 1)
	})
	_, err := scorekit.Fit(background, be, scorekit.Score(linear), twice, streamed(t, numbers{values: []float64{1}}), scorekit.WithBatch(2))
	wantError(t, err, "more than one batch", "held in memory")
	_, err = scorekit.Fit(background, be, scorekit.Score(linear), twice, examples(t, [][]float64{{1}}), scorekit.WithBatch(2))
	wantError(t, err, "stream of", "must be the data of Fit")
}

func TestAugment(t *testing.T) {
	half := func(rng *random.Source, x *Node) *Node { // mirrored with probability ½
		return graph.Mul(x, rng.Rademacher(x.Shape().Dimensions[0], 1))
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for name, data := range map[string]scorekit.Data{"examples": examples(t, [][]float64{{3}}), "stream": streamed(t, numbers{values: []float64{3}})} {
			x, err := scorekit.Draw(t.Context(), b, scorekit.Augment(scorekit.Augment(data, half), func(_ *random.Source, x *Node) *Node { return graph.AddScalar(x, 1) }), 400, 1)
			if err != nil {
				t.Fatal(name, err)
			}
			mean, variance, n := meanAndVariance(t, x) // 4 and −2
			within(t, name+": mean", mean, 1, 4*3/math.Sqrt(n))
			within(t, name+": square", variance+(mean-1)*(mean-1), 9, 1e-5)
		}
	})
	be := testbackend.Go(t)
	draw := func(data scorekit.Data) error {
		_, err := scorekit.Draw(t.Context(), be, data, 3, 1)
		return err
	}
	data := examples(t, [][]float64{{3, 4}})
	wantError(t, draw(scorekit.Augment(nil, half)), "Augment", "data nil")
	wantError(t, draw(scorekit.Augment(data, nil)), "Augment", "change nil")
	wantError(t, draw(scorekit.Augment(data, func(_ *random.Source, x *Node) *Node { return graph.ReduceSum(x, 1) })), "Augment", "[3]", "[3 2]")
	wantError(t, draw(scorekit.Augment(data, func(*random.Source, *Node) *Node { return nil })), "Augment", "nil")
}

// A header without the settings of later versions is read, and is that of a run without classes.
func TestCheckpointOfARunWithoutClassesSaysNothingOfThem(t *testing.T) {
	be := testbackend.Go(t)
	path := t.TempDir() + "/model.safetensors"
	f, err := scorekit.Fit(background, be, linearModel{}, regression{1}, examples(t, [][]float64{{1}}), scorekit.WithSteps(1))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "class_dropout") {
		t.Error("the header names a class dropout")
	}
	if _, err := scorekit.Load(path); err != nil {
		t.Error(err)
	}
}
