package data_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/data"
	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/likelihood"
	"github.com/scorekit/lab/scorekit/objective"
	"github.com/scorekit/lab/scorekit/random"
)

func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// greys are images of 2×2 pixels of 4 greys in two classes.
func greys() data.Set {
	return data.Set{
		Name: "greys", X: tensors.FromValue([][]float32{{0, 1, 2, 3}, {3, 3, 0, 1}, {2, 1, 0, 0}, {1, 1, 2, 2}}), Labels: []int{0, 1, 1, 0},
		Height: 2, Width: 2, Levels: data.Levels{Count: 4, Low: 0, High: 3},
	}
}

// A model that holds every cell for equally probable has log₂ 256 = 8 bits a pixel, in whatever range it learned, and
// the offsets say so: log p(z) = −784 log 2 for the uniform density on [−1, 1]⁷⁸⁴. Rounding gives back the images
// themselves.
func TestPipelineOfMNIST(t *testing.T) {
	set := must[data.Set](t)(data.MNIST())
	parts := must[[]data.Set](t)(set.SplitInto(1, 0.02, 0.98))
	set = parts[0]
	p := must[data.Pipeline](t)(data.Pipeline{
		Dequantize: data.Dequantizer{Levels: set.Levels},
		Transforms: data.Chain{data.MinMax{Low: -1, High: 1, Joint: true}},
	}.FitSet(t.Context(), set))
	z, offsets, err := p.Apply(set.X, 7)
	if err != nil {
		t.Fatal(err)
	}
	bits := likelihood.BitsPerDim(-784*math.Log(2)+offsets[0], 784)
	bins := likelihood.Bins{Count: 256, Low: -1, High: 1}.BitsPerDim(-784*math.Log(2), 784)
	if math.Abs(bits-8) > 1e-12 || math.Abs(bins-8) > 1e-12 {
		t.Errorf("%v bits a pixel, %v by the bins: want 8", bits, bins)
	}
	flat := values(t, z)
	if low, high := slices.Min(flat), slices.Max(flat); low < -1 || high > 1 || low > -0.999 || high < 0.99 {
		t.Errorf("from %v to %v: want from −1 to 1", low, high)
	}
	restored := must[data.Set](t)(p.Restore(must[*tensors.Tensor](t)(set.Images())))
	if restored.Height != 28 || restored.Levels != set.Levels {
		t.Errorf("restored as %dx%d of %v", restored.Height, restored.Width, restored.Levels)
	}
	back := must[*tensors.Tensor](t)(p.Invert(z))
	if !back.Equal(set.X) {
		t.Error("the images do not come back")
	}
	other, _, err := p.Apply(set.X, 8)
	if err != nil || other.Equal(z) {
		t.Errorf("another seed gives the same noise: %v", err)
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var stored data.Pipeline
	if err := json.Unmarshal(text, &stored); err != nil || !reflect.DeepEqual(stored, p) {
		t.Errorf("%s read as %+v: %v", text, stored, err)
	}
}

// The density that a pipeline gives in the data's units is one: with a normal model of what it learned, it integrates
// to 1.
func TestPipelineKeepsProbability(t *testing.T) {
	var rows, line [][]float64
	for k := range 99 {
		rows = append(rows, []float64{math.Pow(float64(k)/98, 2)*3 + 5})
	}
	p := must[data.Pipeline](t)(data.Pipeline{Transforms: data.Chain{data.MinMax{}, data.Logit{}, data.Standardizer{}}}.Fit(each(rows)))
	const n = 20_001
	for k := range n {
		line = append(line, []float64{5 + 3*float64(k)/(n-1)})
	}
	z, offsets, err := p.Apply(asTensor(line, dtypes.Float64, n, 1), 1)
	if err != nil {
		t.Fatal(err)
	}
	sum, flat := 0.0, values(t, z)
	for k, v := range flat {
		sum += math.Exp(-v*v/2+offsets[k]) / math.Sqrt(2*math.Pi) * 3 / (n - 1)
	}
	// The trapezoid rule leaves half of each end out; beyond the ends of [0, 1] lies what the margin lets out.
	beyond := 0.5*math.Erfc(flat[n-1]/math.Sqrt2) + 0.5*math.Erfc(-flat[0]/math.Sqrt2)
	if math.Abs(sum+beyond-1) > 1e-4 {
		t.Errorf("the density sums to %v and %v beyond the ends: want 1", sum, beyond)
	}
}

// Uniform noise: the mean of log p(y) + offset is a lower bound of log P, and equal where p is even in each cell.
// Gaussian noise: the bound is the same mean taken by quadrature, and below log ∫ p(y) P(x|y) dy.
func TestDequantizersBound(t *testing.T) {
	const n = 100_000
	levels := data.Levels{Count: 3, Low: -1, High: 3} // −1, 1, 3: steps of 2
	logp := func(y float64) float64 { return -0.5*math.Pow((y-0.7)/1.8, 2) - math.Log(1.8*math.Sqrt(2*math.Pi)) }
	integral := func(from, to float64, f func(y float64) float64) float64 {
		const steps = 4000
		sum, h := 0.0, (to-from)/steps
		for k := range steps {
			sum += h * f(from+(float64(k)+0.5)*h)
		}
		return sum
	}
	for _, gaussian := range []float64{0, 0.4} {
		q := data.Dequantizer{Levels: levels, Gaussian: gaussian}
		for k := range 3 {
			x := -1 + 2*float64(k)
			y, offsets, err := q.Apply(asTensor(slices.Repeat([][]float64{{x}}, n), dtypes.Float64, n, 1), int64(k))
			if err != nil {
				t.Fatal(err)
			}
			var mean, square float64
			for i, v := range values(t, y) {
				bound := logp(v) + offsets[i]
				mean += bound / n
				square += bound * bound / n
			}
			var want, mass float64
			if gaussian == 0 {
				want = integral(x, x+2, logp)/2 + math.Log(2)
				mass = integral(x, x+2, func(y float64) float64 { return math.Exp(logp(y)) })
			} else {
				s := 2 * gaussian
				normal := func(y, at float64) float64 {
					return math.Exp(-0.5*math.Pow((y-at)/s, 2)) / (s * math.Sqrt(2*math.Pi))
				}
				posterior := func(y float64) float64 {
					return normal(y, x) / (normal(y, -1) + normal(y, 1) + normal(y, 3))
				}
				want = integral(x-8*s, x+8*s, func(y float64) float64 {
					return normal(y, x) * (logp(y) + math.Log(posterior(y)) - math.Log(normal(y, x)))
				})
				mass = integral(-12, 12, func(y float64) float64 { return math.Exp(logp(y)) * posterior(y) })
			}
			if se := math.Sqrt((square - mean*mean) / n); math.Abs(mean-want) > 5*se {
				t.Errorf("gaussian %v, level %v: bound %v ± %v, want %v", gaussian, x, mean, se, want)
			}
			if want > math.Log(mass) {
				t.Errorf("gaussian %v, level %v: bound %v above log P = %v", gaussian, x, want, math.Log(mass))
			}
		}
	}
	// An even density: equal.
	_, offsets, err := data.Dequantizer{Levels: levels}.Apply(asTensor([][]float64{{1, 3}}, dtypes.Float64, 1, 2), 1)
	if err != nil || math.Abs(offsets[0]-2*math.Log(6)+2*math.Log(3)) > 1e-14 {
		t.Errorf("log P of two even levels of 3: offset %v, %v", offsets, err)
	}
}

// Batches of discrete data are dequantised afresh in the graph, keep their labels, and round to the levels; those of
// continuous data are what Apply gives.
func TestPipelineExamples(t *testing.T) {
	set := greys()
	mirror := data.Chain{data.MinMax{Low: 1, High: -1, Joint: true}}
	if _, err := (data.Pipeline{Transforms: mirror}).FitSet(t.Context(), set); err == nil {
		t.Error("a falling range was taken")
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for _, gaussian := range []float64{0, 0.05} {
			p := must[data.Pipeline](t)(data.Pipeline{
				Dequantize: data.Dequantizer{Levels: set.Levels, Gaussian: gaussian},
				Transforms: data.Chain{data.MinMax{Low: -1, High: 1, Joint: true}, data.Standardizer{}},
			}.FitSet(t.Context(), set))
			rows := must[scorekit.Data](t)(p.Examples(set))
			images := must[scorekit.Data](t)(p.ImageExamples(set))
			labelled, ok := rows.(scorekit.Labelled)
			if !ok || labelled.Classes() != 2 || !slices.Equal(rows.Shape(), []int{4}) || !slices.Equal(images.Shape(), []int{2, 2, 1}) {
				t.Fatalf("examples of shapes %v and %v", rows.Shape(), images.Shape())
			}
			vars := mlctx.New()
			exec := must[*mlctx.Exec](t)(mlctx.NewExec(b, vars, func(vars *mlctx.Context, state *data.Node) []*data.Node {
				rng := random.New(state, dtypes.Float32, 1)
				x, classes := labelled.LabelledBatch(vars.In("rows"), rng, 500)
				return []*data.Node{x, classes, images.Batch(vars.In("images"), rng, 500)}
			}))
			out := must[[]*tensors.Tensor](t)(exec.Exec(must[*tensors.Tensor](t)(random.Seed(1))))
			originals := set.Rows()
			seen := map[string]bool{}
			classes := tensors.MustCopyFlatData[int32](out[1])
			for i, row := range must[data.Set](t)(p.Restore(out[0])).Rows() {
				k := slices.IndexFunc(originals, func(o []float64) bool { return slices.Equal(o, row) })
				if k < 0 || set.Labels[k] != int(classes[i]) {
					t.Fatalf("gaussian %v: row %d came back as %v of class %d", gaussian, i, row, classes[i])
				}
				seen[fmt.Sprint((data.Set{X: out[0]}).Rows()[i])] = true
			}
			if len(seen) != 500 {
				t.Errorf("gaussian %v: %d different rows of 500: the noise is not fresh", gaussian, len(seen))
			}
			for i, row := range must[data.Set](t)(p.Restore(out[2])).Rows() {
				if !slices.ContainsFunc(originals, func(o []float64) bool { return slices.Equal(o, row) }) {
					t.Fatalf("gaussian %v: image %d came back as %v", gaussian, i, row)
				}
			}
		}
		wine := must[data.Set](t)(data.Wine())
		p := must[data.Pipeline](t)(data.Pipeline{Transforms: data.Chain{data.Standardizer{}}}.FitSet(t.Context(), wine))
		examples := must[scorekit.Data](t)(p.Examples(wine))
		z, _, err := p.Apply(wine.X, 0)
		if err != nil {
			t.Fatal(err)
		}
		exec := must[*mlctx.Exec](t)(mlctx.NewExec(b, mlctx.New(), func(vars *mlctx.Context, state *data.Node) *data.Node {
			return examples.Batch(vars, random.New(state, dtypes.Float64, 1), 50)
		}))
		out := must[[]*tensors.Tensor](t)(exec.Exec(must[*tensors.Tensor](t)(random.Seed(1))))
		all := data.Set{X: z}.Rows()
		for i, row := range (data.Set{X: out[0]}).Rows() {
			if !slices.ContainsFunc(all, func(o []float64) bool { return slices.Equal(o, row) }) {
				t.Fatalf("row %d, %v, is none of the standardised ones", i, row)
			}
		}
	})
}

// A model's checkpoint holds its pipeline.
func TestPipelineIsSaved(t *testing.T) {
	wine := must[data.Set](t)(data.Wine())
	p := must[data.Pipeline](t)(data.Pipeline{Transforms: data.Chain{data.Whitener{}}}.FitSet(t.Context(), wine))
	line := scorekit.Score(func(vars *mlctx.Context, x, _ *data.Node) *data.Node {
		return graph.Mul(x, vars.VariableWithValue("a", float32(-1)).ValueGraph(x.Graph()))
	})
	option := must[scorekit.FitOption](t)(p.Option())
	model := must[*scorekit.Fitted](t)(scorekit.Fit(context.Background(), testbackend.Go(t), line, objective.Denoising{Sigma: 0.5},
		must[scorekit.Data](t)(p.Examples(wine)), scorekit.WithSteps(1), option))
	read := must[data.Pipeline](t)(data.PipelineOf(model))
	if !reflect.DeepEqual(read, p) || read.Columns[0] != "alcohol" {
		t.Errorf("read %+v, want %+v", read, p)
	}
	samples := must[data.Set](t)(read.Restore(must[*tensors.Tensor](t)(p.Transforms.Apply(wine.X))))
	if samples.Columns[12] != "proline" || math.Abs(samples.Rows()[3][12]-wine.Rows()[3][12]) > 1e-9 {
		t.Errorf("restored %v of %v", samples.Rows()[3], samples.Columns)
	}
	if none, err := data.PipelineOf(metadata{}); err != nil || !reflect.DeepEqual(none, data.Pipeline{}) {
		t.Errorf("a model without a pipeline: %v, %v", none, err)
	}
	if same := must[*tensors.Tensor](t)((data.Pipeline{}).Invert(wine.X)); !same.Equal(wine.X) {
		t.Error("the zero pipeline changes something")
	}
	for _, text := range []string{"{", `{"transforms": [{"turn": {}}]}`, `{"transforms": [{"standardize": {"mean": [1], "std": [0]}}]}`, `{"transforms": [{"minmax": {}}]}`} {
		if _, err := data.PipelineOf(metadata{"pipeline": text}); err == nil || !strings.HasPrefix(err.Error(), "data: PipelineOf: ") {
			t.Errorf("%s: error %v", text, err)
		}
	}
}

type metadata map[string]string

func (m metadata) Metadata() map[string]string { return m }

// counting is a source of the rows {k, k+½} of batch k, of integers if levels.
type counting struct{ bad bool }

func (counting) Shape() []int { return []int{2} }

func (c counting) Batches(_ context.Context, _ int64, n int, from int) iter.Seq2[scorekit.SourceBatch, error] {
	return func(yield func(scorekit.SourceBatch, error) bool) {
		for k := from; k < 6; k++ {
			x := float64(k)
			if c.bad && k == 4 {
				x = 0.5
			}
			b := scorekit.SourceBatch{X: tensors.FromValue(slices.Repeat([][]float64{{x, 5 - x}}, n)), Classes: slices.Repeat([]int32{int32(k)}, n)}
			if !yield(b, nil) {
				return
			}
		}
		yield(scorekit.SourceBatch{}, errors.New("the end"))
	}
}

// A resumed source gives the same batches, with the same noise; errors pass, and new ones name the batch.
func TestPipelineSource(t *testing.T) {
	p := data.Pipeline{Dequantize: data.Dequantizer{Levels: data.Levels{Count: 6, Low: 0, High: 5}}, Transforms: data.Chain{data.Standardizer{Mean: []float64{3, 3}, Std: []float64{2, 2}}}}
	gather := func(c counting, seed int64, from int) (batches []scorekit.SourceBatch, err error) {
		for b, err := range p.Source(c).Batches(context.Background(), seed, 3, from) {
			if err != nil {
				return batches, err
			}
			batches = append(batches, b)
		}
		return batches, nil
	}
	all, err := gather(counting{}, 9, 0)
	if err == nil || err.Error() != "the end" || len(all) != 6 {
		t.Fatalf("%d batches and the error %v", len(all), err)
	}
	rest, _ := gather(counting{}, 9, 4)
	other, _ := gather(counting{}, 8, 4)
	for k := range rest {
		if !rest[k].X.Equal(all[4+k].X) || rest[k].Classes[0] != int32(4+k) {
			t.Errorf("batch %d differs after a resumption", 4+k)
		}
		if rest[k].X.Equal(other[k].X) {
			t.Errorf("batch %d has the same noise with another seed", 4+k)
		}
		for _, row := range (data.Set{X: must[*tensors.Tensor](t)(p.Invert(rest[k].X))}).Rows() {
			if row[0] != float64(4+k) || row[1] != float64(1-k) {
				t.Errorf("batch %d came back as %v", 4+k, row)
			}
		}
	}
	if _, err := gather(counting{bad: true}, 9, 0); err == nil || !strings.Contains(err.Error(), "batch 4: data: Pipeline: Apply: row 0, column 0: value 0.5: must be one of the 6 levels from 0 to 5") {
		t.Errorf("error %v", err)
	}
}

func TestImpossibleTransforms(t *testing.T) {
	fit := func(c data.Transform, rows ...[]float64) error { _, err := c.Fit(each(rows)); return err }
	apply := func(c data.Transform, x [][]float64) error { _, err := c.Apply(tensors.FromValue(x)); return err }
	named := func(c data.Transform, rows ...[]float64) error {
		_, err := data.Pipeline{Transforms: data.Chain{c}}.FitSet(t.Context(), data.Set{Name: "wines", Columns: []string{"ash", "hue", "age"}, X: tensors.FromValue(rows)})
		return err
	}
	broken := errors.New("line 7: ragged")
	ragged := func(yield func([]float64, error) bool) { _ = yield([]float64{1}, nil) && yield(nil, broken) }
	throughError := func(c data.Transform) error { _, err := c.Fit(ragged); return err }
	levels := data.Levels{Count: 3, Low: 0, High: 2}
	dequantize := func(q data.Dequantizer, x float64) error {
		_, _, err := q.Apply(tensors.FromValue([][]float64{{x}}), 1)
		return err
	}
	good := data.Standardizer{Mean: []float64{1}, Std: []float64{1e-300}}
	for want, err := range map[string]error{
		"data: Standardizer: Fit: no examples":                                          fit(data.Standardizer{}),
		"data: MinMax: Fit: one row: must have at least two":                            fit(data.MinMax{}, []float64{1, 2}),
		"data: Whitener: Fit: row 1 of 1 columns, row 0 of 2":                           fit(data.Whitener{}, []float64{1, 2}, []float64{1}),
		"Standardizer: Fit: value NaN in row 1, column 0":                               fit(data.Standardizer{}, []float64{1}, []float64{math.NaN()}),
		"data: Whitener: Fit: line 7: ragged":                                           throughError(data.Whitener{}),
		"data: Chain: transform 0: nil":                                                 fit(data.Chain{nil}, []float64{1}),
		`data: wines: data: Standardizer: Fit: column "hue": 4 in every row: must vary`: named(data.Standardizer{}, []float64{1, 4, 3}, []float64{2, 4, 6}),
		"leave out what is constant, or scale all columns jointly":                      named(data.MinMax{}, []float64{1, 4, 3}, []float64{2, 4, 6}),
		`columns of rank 2 of 3: columns "ash" "age" follow from one another`:           named(data.Whitener{}, []float64{1, 4, 3}, []float64{2, 4, 6}, []float64{3, 9, 9}, []float64{-1, 0, -3}, []float64{5, 0, 15}),
		"3 rows of 3 columns: must be more rows than columns":                           named(data.Whitener{}, []float64{1, 4, 3}, []float64{2, 4, 7}, []float64{5, 0, 0}),
		"data: Logit: Apply: row 1, column 0: value 1.5: must be from 0 to 1":           apply(data.Logit{}, [][]float64{{1}, {1.5}}),
		"data: Logit: margin 0.5: must be above 0 and below 0.5":                        fit(data.Logit{Margin: 0.5}),
		"data: Whitener: 0 means, 0 deviations, 0 axes":                                 apply(data.Whitener{}, [][]float64{{1}}),
		"at right angles": apply(data.Whitener{Mean: []float64{0, 0}, Std: []float64{1, 1}, Spread: []float64{1, 1}, Axes: [][]float64{{1, 0}, {1, 0}}}, [][]float64{{1, 1}}),
		"data: MinMax: column 0 from 1 to 1: must be finite and rising": apply(data.MinMax{Min: []float64{1}, Max: []float64{1}}, [][]float64{{1}}),
		"data: MinMax: range from 2 to 1":                               fit(data.MinMax{Low: 2, High: 1}, []float64{1}, []float64{2}),
		"row 0, column 0 becomes +Inf: must be finite in Float64":       apply(good, [][]float64{{1e30}}),
		"transform 1 of 2 columns after one of 1":                       data.Chain{good, data.MinMax{Min: []float64{1, 1}, Max: []float64{2, 2}}}.Validate(),
		"value 0.5: must be one of the 3 levels from 0 to 2":            dequantize(data.Dequantizer{Levels: levels}, 0.5),
		"value 3: must be one of the 3 levels":                          dequantize(data.Dequantizer{Levels: levels}, 3),
		"data: Levels: count 1: must be at least 2":                     dequantize(data.Dequantizer{Levels: data.Levels{Count: 1, High: 1}}, 0),
		"data: Levels: from 2 to 0: must be finite and rising":          dequantize(data.Dequantizer{Levels: data.Levels{Count: 3, Low: 2}}, 0),
		"data: Dequantizer: gaussian -1":                                dequantize(data.Dequantizer{Levels: levels, Gaussian: -1}, 0),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "data: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one that says %q", err, want)
		}
	}
	var flat *data.FlatColumnsError
	if err := named(data.MinMax{}, []float64{1, 4, 3}, []float64{2, 4, 3}); !errors.As(err, &flat) || !slices.Equal(flat.Columns, []int{1, 2}) {
		t.Errorf("constant columns: %v", err)
	}
}

// telling is a source that tells of its classes, silent one that does not.
type (
	silent  struct{ scorekit.Source }
	telling struct{ silent }
)

func (telling) Classes() int { return 7 }

func TestPipelineSourceTellsOfClasses(t *testing.T) {
	if c, ok := (data.Pipeline{}).Source(telling{}).(interface{ Classes() int }); !ok || c.Classes() != 7 {
		t.Errorf("the number of classes is lost")
	}
	if _, ok := (data.Pipeline{}).Source(silent{}).(interface{ Classes() int }); ok {
		t.Errorf("a source that does not tell of classes seems to")
	}
}

// Fitting to a set is stopped before it begins, in any row of any pass, with the cause.
func TestFitSetStops(t *testing.T) {
	set := data.Set{Name: "three", Columns: []string{"a", "b"}, X: tensors.FromValue([][]float64{{1, 2}, {3, 1}, {5, 7}})}
	pipeline := data.Pipeline{Transforms: data.Chain{data.Standardizer{}, data.Whitener{}}}
	ends := 0
	for end := int64(1); ; end++ {
		p, err := pipeline.FitSet(testvalues.EndingAt(end), set)
		if err == nil {
			break
		}
		if ends++; !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), "data: three: ") || len(p.Transforms) > 0 || ends > 100 {
			t.Fatalf("asked %d times: %v, error %v", end, p, err)
		}
	}
	if ends < 6 { // two transforms, three rows
		t.Errorf("stopped at %d places", ends)
	}
	reason := errors.New("enough")
	over, cancel := context.WithCancelCause(t.Context())
	cancel(reason)
	if _, err := pipeline.FitSet(over, set); !errors.Is(err, reason) {
		t.Errorf("error %v", err)
	}
	var none context.Context
	if _, err := pipeline.FitSet(none, set); err == nil || err.Error() != "data: three: ctx nil: must be given" {
		t.Errorf("error %v", err)
	}
}
