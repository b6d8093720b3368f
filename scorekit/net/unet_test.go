package net

import (
	"context"
	"fmt"
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

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/objective"
)

// Before training the score is −x/(σ² + DataStd²), and 0 with DataStd 0, for images of every size: a pixel, a row, sides that are odd at each
// resolution, even ones, and others as high as wide or not. One set of weights takes them all.
func TestImageSizes(t *testing.T) {
	const std = 0.7
	nets := []scorekit.Conditional{UNet{Channels: []int{2, 2, 4}, Patch: 1, Embedding: 3, DataStd: std}, UNet{Channels: []int{2, 3}, Attention: true, Embedding: 3},
		ResidualConv{Channels: 2, Blocks: 1, Embedding: 3, DataStd: std}}
	sizes := [][]int{{1, 1}, {1, 9}, {7, 7}, {13, 13}, {28, 28}, {15, 20}}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		if b != testbackend.Go(t) {
			sizes = sizes[1:3] // each is a network more to compile
		}
		vars, got := fresh(t, b, 3, func(vars *mlctx.Context, g *graph.Graph) (out []*Node) {
			for k, m := range nets {
				for _, size := range sizes {
					x := graph.Sin(graph.IotaFull(g, testvalues.Shape(2, size[0], size[1], 1)))
					s := m.Score(vars.Inf("net_%d", k), x, graph.Const(g, []float64{0.1, 2}))
					if !s.Shape().Equal(x.Shape()) {
						t.Errorf("%T: a score of shape %s for images of shape %s", m, s.Shape(), x.Shape())
					}
					out = append(out, s)
				}
			}
			return out
		})
		for k, m := range nets {
			for i, size := range sizes {
				n := size[0] * size[1]
				want := make([]float64, 2*n)
				for j := range want {
					if k != 1 {
						want[j] = -math.Sin(float64(j)) / (std*std + []float64{0.01, 4}[j/n])
					}
				}
				testvalues.Near(t, fmt.Sprintf("%#v at the start, images of %v", m, size), got[k*len(sizes)+i], want, 1e-14)
			}
		}
		count := 0
		for v := range vars.In("net_2").IterVariablesInScope() {
			count += v.Shape().Size()
		}
		// The first convolution; a block with two norms, two convolutions and what the level does; the last; the embedding.
		if want := 9*2 + (4 + 9*4 + 4 + 3*4 + 4 + 9*4) + (4 + 9*2) + (32*3 + 3 + 3*3 + 3); count != want {
			t.Errorf("%d weights, want %d", count, want)
		}
	})
}

// An odd image that enters by squares is the even one with zeros at its end, of which the score's part within is given.
func TestOddImageIsCropped(t *testing.T) {
	start := moved(t)
	m := imageModels["unet patch"].model
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := run(t, b, imageCopy(t, start), func(vars *mlctx.Context, g *graph.Graph) []*Node {
			small := graph.Sin(graph.IotaFull(g, testvalues.Shape(1, 7, 5, 2)))
			large := wholeSquares(wholeSquares(small, 1, 2), 2, 2)
			if d := large.Shape().Dimensions; !slices.Equal(d, []int{1, 8, 6, 2}) {
				t.Fatalf("shape %v, want 8×6", d)
			}
			sigma := graph.Const(g, []float64{0.4})
			inside := graph.Slice(m.Score(vars.In("unet patch"), large, sigma), graph.AxisRange(), graph.AxisRange(0, 7), graph.AxisRange(0, 5))
			return []*Node{m.Score(vars.In("unet patch"), small, sigma), inside}
		})
		testvalues.Near(t, "score of the odd image", got[0], got[1], 1e-13)
	})
}

// The score of a pattern moves with it, if the pixels that it acts on and those that the edges act on do not meet: the last are up
// to 6 from the edges, one for each convolution.
func TestImageScoreMoves(t *testing.T) {
	const name, size, row, column = "residual", 30, 13, 14
	start, m := moved(t), imageModels[name]
	at := func(i, j int) [][][][]float64 {
		image := make([][][]float64, size)
		for r := range image {
			image[r] = make([][]float64, size)
			for c := range image[r] {
				image[r][c] = make([]float64, m.size[2])
				if r >= i && r < i+3 && c >= j && c < j+2 {
					image[r][c][0] = math.Cos(float64(3*(r-i) + 2*(c-j)))
				}
			}
		}
		return [][][][]float64{image}
	}
	got := run(t, testbackend.Go(t), start, func(vars *mlctx.Context, g *graph.Graph) []*Node {
		score := func(i, j int) *Node {
			return m.model.Score(vars.In(name), graph.Const(g, at(i, j)), graph.Const(g, []float64{0.4}))
		}
		window := func(s *Node, i, j int) *Node {
			return graph.Slice(s, graph.AxisRange(), graph.AxisRange(i-6, i+9), graph.AxisRange(j-6, j+8))
		}
		there := score(row+1, column-1)
		return []*Node{window(score(row, column), row, column), window(there, row+1, column-1), window(there, row, column)}
	})
	testvalues.Near(t, "score of the moved pattern", got[1], got[0], 1e-11)
	if slices.Equal(got[2], got[0]) {
		t.Error("the score stayed where it was")
	}
}

// The norm of 1, 3, 5, 7, of which the first channel has 1 and 5: over both channels mean 4 and variance 5, by itself
// mean 3 and variance 4. Another image in the batch changes nothing; a large mean costs no precision.
func TestGroupNorm(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		_, got := fresh(t, b, 1, func(vars *mlctx.Context, g *graph.Graph) []*Node {
			x := graph.Const(g, [][][][]float64{{{{1, 3}, {5, 7}}}, {{{100, -1}, {3, 4}}}})
			far := graph.AddScalar(graph.ConvertDType(x, dtypes.Float32), 1000)
			part := func(y *Node) *Node { return graph.ConvertDType(graph.Slice(y, graph.AxisElem(0)), dtypes.Float64) }
			return []*Node{part(groupNorm(vars.In("one"), x, nil, 1)), part(groupNorm(vars.In("two"), x, nil, 2)), part(groupNorm(vars.In("far"), far, nil, 1))}
		})
		five, four := math.Sqrt(5+1e-5), math.Sqrt(4+1e-5)
		testvalues.Near(t, "one group", got[0], []float64{-3 / five, -1 / five, 1 / five, 3 / five}, 1e-14)
		testvalues.Near(t, "two groups", got[1], []float64{-2 / four, -2 / four, 2 / four, 2 / four}, 1e-14)
		testvalues.Near(t, "1000 further", got[2], got[0], 1e-5)
	})
}

// fewSteps trains an image network on pure Go for some large steps, so that no weight is as it was at the start.
func fewSteps(t *testing.T, m scorekit.Model, options ...scorekit.FitOption) (*scorekit.Fitted, error) {
	t.Helper()
	data, err := scorekit.LabelledExamples(tensors.FromFlatDataAndDimensions(points(4, 6, 5, 1), 4, 6, 5, 1), []int{0, 1, 1, scorekit.NoClass})
	if err != nil {
		t.Fatal(err)
	}
	options = append([]scorekit.FitOption{scorekit.WithSteps(6), scorekit.WithBatch(4), scorekit.WithUnroll(1),
		scorekit.WithOptimizer(scorekit.Adam{Rate: scorekit.Rate{Peak: 0.1}})}, options...)
	return scorekit.Fit(context.Background(), testbackend.Go(t), m, objective.MultiNoise{Min: 0.1, Max: 2}, data, options...)
}

// A run that stops and is resumed ends with the same weights as one that does not, and is loaded from its folder with its settings.
func TestImageCheckpoints(t *testing.T) {
	for _, m := range []scorekit.Model{
		UNet{Channels: []int{2, 4}, Blocks: 2, Patch: 1, Groups: 2, Attention: true, Embedding: 3, Classes: 2, DataStd: 0.5},
		ResidualConv{Channels: 4, Blocks: 1, Groups: 2, Embedding: 3, Classes: 2, DataStd: 0.5},
	} {
		whole, err := fewSteps(t, m)
		if err != nil {
			t.Fatal(err)
		}
		dir := scorekit.WithCheckpoints(t.TempDir(), 3)
		stop := scorekit.WithCallback(func(s *scorekit.FitStep) error {
			if s.Step == 3 {
				return context.Canceled
			}
			return nil
		})
		if _, err := fewSteps(t, m, dir, stop); err == nil {
			t.Fatal("no error after a stop")
		}
		resumed, err := fewSteps(t, m, dir, scorekit.WithResume())
		if err != nil {
			t.Fatal(err)
		}
		path := t.TempDir() + "/model.safetensors"
		if err := resumed.Save(path); err != nil {
			t.Fatal(err)
		}
		loaded, err := scorekit.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(loaded.Model(), m) {
			t.Errorf("loaded %#v, want %#v", loaded.Model(), m)
		}
		want := imageScores(t, testbackend.Go(t), whole, 1, 0.5)
		for what, f := range map[string]*scorekit.Fitted{"resumed": resumed, "loaded": loaded} {
			if got := imageScores(t, testbackend.Go(t), f, 1, 0.5); !slices.Equal(got, want) {
				t.Errorf("%T: %s: scores %v, want %v", m, what, got, want)
			}
		}
	}
}

// imageScores is the score of a trained network for images of noise of the size σ, given a class.
func imageScores(t *testing.T, b backends.Backend, f *scorekit.Fitted, class int, sigma float64) []float64 {
	t.Helper()
	x := points(2, f.Shape()...)
	for i := range x {
		x[i] *= sigma
	}
	given := scorekit.Given{Model: f, Classes: []int{class}}
	s, err := scorekit.Evaluate(context.Background(), b, given, tensors.FromFlatDataAndDimensions(x, slices.Concat([]int{2}, f.Shape())...), sigma)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := scorekit.Rows(s)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(rows...)
}

// Scores stay finite in single precision from σ = 10⁻³ to 10³, and depend on σ in every digit and on the class.
func TestImageLevels(t *testing.T) {
	for _, m := range []scorekit.Model{UNet{Channels: []int{4, 4}, Attention: true, Classes: 2, DataStd: 0.5}, ResidualConv{Channels: 4, Blocks: 1, Classes: 2}} {
		f, err := fewSteps(t, m)
		if err != nil {
			t.Fatal(err)
		}
		testbackend.Each(t, func(t *testing.T, b backends.Backend) {
			var before []float64
			for _, sigma := range []float64{1e-3, 0.1, 1, 30, 1e3} {
				s := imageScores(t, b, f, 1, sigma)
				for i, v := range s {
					if math.IsNaN(v) || math.IsInf(v, 0) || v == 0 {
						t.Fatalf("%T: score %v at σ = %v", m, s, sigma)
					}
					s[i] *= sigma // of one size at every level
				}
				if before != nil && slices.Equal(s, before) {
					t.Errorf("%T: the same at σ = %v", m, sigma)
				}
				before = s
			}
			if one, two := imageScores(t, b, f, 0, 0.3), imageScores(t, b, f, 1, 0.3); slices.Equal(one, two) {
				t.Errorf("%T: the same score given both classes", m)
			}
		})
	}
}

func TestImageErrors(t *testing.T) {
	for _, test := range []struct {
		err  error
		want string
	}{
		{UNet{Channels: []int{4, 0}}.Validate(), "UNet: channels [4 0]: each must be at least 1"},
		{UNet{Blocks: -1}.Validate(), "UNet: blocks -1: must be at least 1, or 0 for the usual number"},
		{UNet{Patch: -2}.Validate(), "UNet: patch -2: must be at least 1, or 0 for the usual number"},
		{UNet{Embedding: -1}.Validate(), "UNet: embedding -1: must be at least 1, or 0 for the usual number"},
		{UNet{Groups: -1}.Validate(), "UNet: groups -1: must be at least 1, or 0 for up to 8"},
		{UNet{Channels: []int{6, 8}, Groups: 3}.Validate(), "UNet: groups 3 of 8 channels: must divide them"},
		{UNet{Classes: -1}.Validate(), "UNet: classes -1: must not be negative"},
		{UNet{DataStd: math.NaN()}.Validate(), "UNet: data standard deviation NaN: must be finite and not negative"},
		{ResidualConv{Channels: -4}.Validate(), "residual conv net: channels -4: must be at least 1, or 0 for the usual number"},
		{ResidualConv{Groups: 5}.Validate(), "residual conv net: groups 5 of 32 channels: must divide them"},
		{Preconditioned{Net: UNet{}, DataStd: 1}.Validate(), "preconditioned score: net net.UNet: divides by the noise level itself: set its DataStd and use it as it is"},
		{Preconditioned{Net: ResidualConv{}, DataStd: 1}.Validate(), "preconditioned score: net net.ResidualConv: divides by the noise level itself: set its DataStd and use it as it is"},
		{UNet{}.Validate(), "<nil>"},
		{UNet{Channels: []int{12, 7, 1}}.Validate(), "<nil>"},
		{ResidualConv{}.Validate(), "<nil>"},
	} {
		if fmt.Sprint(test.err) != test.want {
			t.Errorf("error %v, want %s", test.err, test.want)
		}
	}
	for _, m := range []scorekit.Conditional{UNet{Channels: []int{2}}, ResidualConv{Channels: 2, Blocks: 1}} {
		who := map[bool]string{true: "UNet", false: "residual conv net"}[reflect.TypeOf(m) == reflect.TypeOf(UNet{})]
		graphs := map[string]func(vars *mlctx.Context, x, sigma *Node) *Node{
			"points of shape [2 3]: must be images, [batch, height, width, channels]": func(vars *mlctx.Context, x, sigma *Node) *Node {
				return m.Score(vars, graph.Reshape(x, 2, 3), sigma)
			},
			"no noise level was given: use an objective and a sampler that have one, or ConvEnergy": func(vars *mlctx.Context, x, _ *Node) *Node {
				return m.Score(vars, x, nil)
			},
			"classes 0: must be at least 1 for a score given a class": func(vars *mlctx.Context, x, sigma *Node) *Node {
				return m.ScoreGiven(vars, x, sigma, nil)
			},
			"given classes: must be of shape (Int32)[2], one for each point": func(vars *mlctx.Context, x, sigma *Node) *Node {
				if u, ok := m.(UNet); ok {
					u.Classes = 1
					return u.ScoreGiven(vars, x, sigma, graph.Const(x.Graph(), []int64{0, 0}))
				}
				r := m.(ResidualConv)
				r.Classes = 1
				return r.ScoreGiven(vars, x, sigma, graph.Const(x.Graph(), []int32{0}))
			},
		}
		for want, f := range graphs {
			exec, err := mlctx.NewExec(testbackend.Go(t), mlctx.New(), func(vars *mlctx.Context, x *Node) *Node {
				return f(vars, x, graph.Const(x.Graph(), []float64{1, 1}))
			})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := exec.Exec([][][][]float64{{{{1}}, {{2}}, {{3}}}, {{{4}}, {{5}}, {{6}}}}); err == nil || !strings.HasPrefix(err.Error(), who+": "+want) {
				t.Errorf("error %v, want %s: %s", err, who, want)
			}
			exec.Finalize()
		}
	}
}
