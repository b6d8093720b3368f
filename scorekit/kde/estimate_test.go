package kde_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/shapes"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/kde"
	"github.com/scorekit/lab/scorekit/random"
	"github.com/scorekit/lab/scorekit/sampler"
)

// stacked puts points of 2 numbers into a tensor [n, 2, 1].
func stacked(points [][]float64) *tensors.Tensor {
	var flat []float64
	for _, p := range points {
		flat = append(flat, p...)
	}
	return tensors.FromFlatDataAndDimensions(flat, len(points), 2, 1)
}

// spread returns n points of d coordinates without a pattern, up to about size from 0.
func spread(n, d int, size float64) [][]float64 {
	rows := make([][]float64, n)
	for i := range rows {
		for k := range d {
			rows[i] = append(rows[i], size*math.Sin(float64((i+1)*(i+2*k+3))*1.7))
		}
	}
	return rows
}

// A Gaussian estimate is a mixture of Gaussians: log-densities and scores are those of density.Mixture, with and without a
// noise level for each point, for every bandwidth matrix and whichever way squares of distances are taken (from 8
// coordinates by matrix products unless the kernels are narrow); Noised is the same as one noise level.
func TestAgainstMixture(t *testing.T) {
	type example struct {
		name string
		q    kde.Estimate
	}
	var examples []example
	for _, e := range []struct {
		name      string
		d         int
		bandwidth kde.Bandwidth
	}{{"line", 1, kde.Fixed(0.7)}, {"plane, covariance", 2, kde.Covariance(0.6)}, {"products", 9, kde.PerCoordinate(1, 2, 1, 2, 1, 2, 1, 2, 1)},
		{"products, covariance", 9, kde.Covariance(0.6)}, {"narrow", 9, kde.Fixed(1e-3)}} {
		examples = append(examples, example{e.name, must(t)(kde.New(spread(12, e.d, 2), kde.Gaussian, e.bandwidth))})
	}
	sigma := []float64{0, 0.4, 2}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for _, dtype := range []dtypes.DType{dtypes.Float64, dtypes.Float32} {
			got := testvalues.RunIn(t, b, dtype, func(in testvalues.Inputs) []*kde.Node {
				var out []*kde.Node
				for _, e := range examples {
					var components []density.Gaussian
					for _, p := range spread(12, e.q.Dim(), 2) {
						g, err := density.NewGaussian(p, e.q.BandwidthMatrix())
						if err != nil {
							t.Fatal(err)
						}
						components = append(components, g)
					}
					m, err := density.NewMixture(nil, components...)
					if err != nil {
						t.Fatal(err)
					}
					noised, err := e.q.Noised(sigma[2])
					if err != nil {
						t.Fatal(err)
					}
					x, levels := in.Of(spread(3, e.q.Dim(), 2.5)), in.Of(sigma)
					last := graph.Slice(x, graph.AxisElem(2))
					out = append(out, e.q.LogDensity(x), m.LogDensity(x), e.q.Score(nil, x, nil), m.Score(nil, x, nil),
						e.q.LogDensityNoised(x, levels), m.LogDensityNoised(x, levels), e.q.Score(nil, x, levels), m.Score(nil, x, levels),
						noised.Score(nil, last, nil), m.Score(nil, last, in.Of(sigma[2:])))
				}
				return out
			})
			// Of logarithms of up to 1e6, and of scores whose shares come from their differences, float32 keeps 1e-4.
			rtol := map[dtypes.DType]float64{dtypes.Float64: 1e-9, dtypes.Float32: 1e-4}[dtype]
			for i := 0; i < len(got); i += 2 {
				testvalues.Near(t, examples[i/10].name+" "+dtype.String(), got[i], got[i+1], rtol)
			}
		}
	})
}

// Sums in chunks, in blocks of points and centres, coordinate by coordinate or over all coordinates at once, agree with the sums
// written out. 5,001 centres of one coordinate, with 600 points, make 3 chunks of a graph and 2 blocks, the last not full;
// 71 points make 2 blocks, the last not full; 70 coordinates are more than are taken one by one.
func TestChunksAndBlocks(t *testing.T) {
	ctx := context.Background()
	type example struct {
		name      string
		points, x [][]float64
		kernel    kde.Kernel
		h         float64
	}
	examples := []example{
		{"many", spread(5001, 1, 3), spread(600, 1, 3.2), kde.Gaussian, 0.1},
		{"many, compact", spread(5001, 1, 3), spread(71, 1, 2.9), kde.Biweight, 0.2},
		{"wide", spread(1500, 70, 0.1), spread(5, 70, 0.1), kde.Logistic, 1},
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for _, e := range examples {
			q := must(t)(kde.New(e.points, e.kernel, kde.Fixed(e.h)))
			h := make([]float64, q.Dim())
			for k := range h {
				h[k] = e.h
			}
			var logs, scores []float64
			for _, x := range e.x {
				log, score := naive(e.kernel, e.points, nil, h, x)
				logs, scores = append(logs, log), append(scores, score...)
			}
			got := testvalues.RunIn(t, b, dtypes.Float64, func(in testvalues.Inputs) []*kde.Node {
				return []*kde.Node{q.LogDensity(in.Of(e.x)), q.Score(nil, in.Of(e.x), nil)}
			})
			testvalues.Near(t, e.name+": log q in a graph", got[0], logs, 1e-11)
			testvalues.Near(t, e.name+": score in a graph", got[1], scores, 1e-9)

			var reports []scorekit.Report
			at, err := q.LogDensityAt(ctx, b, e.x, func(r scorekit.Report) { reports = append(reports, r) })
			if err != nil {
				t.Fatal(err)
			}
			testvalues.Near(t, e.name+": log q at points", at, logs, 1e-11)
			if last := reports[len(reports)-1]; !last.Done || last.Step != len(e.x) || last.Total != len(e.x) {
				t.Errorf("%s: last report %+v", e.name, last)
			}
			tensor, err := q.ScoreAt(ctx, b, e.x)
			if err != nil {
				t.Fatal(err)
			}
			testvalues.Near(t, e.name+": score at points", testvalues.Flat(t, tensor), scores, 1e-9)
		}
	})
}

// Points given as float32 are computed in float32 and give tensors of their shape and dtype.
func TestAtPointsOfAnyShape(t *testing.T) {
	ctx, b := context.Background(), testbackend.Go(t)
	points := spread(20, 2, 1)
	q := must(t)(kde.New(stacked(points), kde.Gaussian, kde.Fixed(0.4)))
	x := tensors.FromFlatDataAndDimensions([]float32{0.5, -0.25, 1, 0}, 2, 2, 1)
	scores, err := q.ScoreAt(ctx, b, x)
	if err != nil {
		t.Fatal(err)
	}
	if !scores.Shape().Equal(x.Shape()) {
		t.Errorf("scores of shape %s for points of shape %s", scores.Shape(), x.Shape())
	}
	rows, err := scorekit.Rows(scores)
	if err != nil {
		t.Fatal(err)
	}
	logs, err := q.LogDensityAt(ctx, b, x)
	if err != nil {
		t.Fatal(err)
	}
	for i, at := range [][]float64{{0.5, -0.25}, {1, 0}} {
		log, score := naive(kde.Gaussian, points, nil, []float64{0.4, 0.4}, at)
		testvalues.NearOne(t, "score", rows[i], score, 1e-5)
		testvalues.NearOne(t, "log q", logs[i:i+1], []float64{log}, 1e-5)
	}
}

// In float32 and float64, however far away, a kernel that is positive everywhere has a finite log-density and a score that points
// back, with a finite gradient; where a compact kernel has no centre the log-density is −Inf, and the score and the gradient
// are 0.
func TestFarPoints(t *testing.T) {
	points := [][]float64{{3, -1}, {-2, 0.5}, {0, 4}}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for _, dtype := range []dtypes.DType{dtypes.Float32, dtypes.Float64} {
			x := [][]float64{{1e4, -1e4}, {-1e12, 3}, {1e30, 1e30}, {-3e38, 3e38}}
			got := testvalues.RunIn(t, b, dtype, func(in testvalues.Inputs) []*kde.Node {
				var out []*kde.Node
				for _, k := range allKernels {
					q := must(t)(kde.New(points, k, kde.Fixed(0.01)))
					x := in.Of(x)
					log := q.LogDensity(x)
					out = append(out, log, q.Score(nil, x, nil), graph.Gradient(graph.ReduceAllSum(log), x)[0])
				}
				return out
			})
			for i, k := range allKernels {
				log, score, gradient := got[3*i], got[3*i+1], got[3*i+2]
				for j := range x {
					if compact := k >= kde.Biweight; compact != math.IsInf(log[j], -1) || math.IsNaN(log[j]) || math.IsInf(log[j], 1) {
						t.Errorf("%v %v: log q(%v) = %v", k, dtype, x[j], log[j])
					}
					for c, s := range score[2*j : 2*j+2] {
						if math.IsNaN(s) || math.IsInf(s, 0) || math.IsNaN(gradient[2*j+c]) {
							t.Errorf("%v %v: score %v, gradient %v at %v", k, dtype, s, gradient[2*j+c], x[j])
						}
						if k >= kde.Biweight && (s != 0 || gradient[2*j+c] != 0) || k < kde.Biweight && math.Abs(x[j][c]) > 10 && s*x[j][c] >= 0 {
							t.Errorf("%v %v: score %v at %v: does not point back", k, dtype, s, x[j])
						}
					}
				}
			}
		}
	})
}

// Differences keep all digits of float32 where centres are 10⁵ bandwidths apart.
func TestNarrowKernelsInFloat32(t *testing.T) {
	points, x := [][]float64{{4, 0}, {-4, 0}, {0.5, 2}}, [][]float64{{4, 1e-4}, {0.5001, 2}, {-4.0001, -5e-5}}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		build := func(in testvalues.Inputs) []*kde.Node {
			q := must(t)(kde.New(points, kde.Gaussian, kde.Fixed(1e-4)))
			return []*kde.Node{q.LogDensity(in.Of(x)), q.Score(nil, in.Of(x), nil)}
		}
		got := testvalues.RunIn(t, b, dtypes.Float32, build)
		want := testvalues.RunIn(t, b, dtypes.Float64, func(in testvalues.Inputs) []*kde.Node {
			q := must(t)(kde.New(points, kde.Gaussian, kde.Fixed(1e-4)))
			x := graph.ConvertDType(graph.ConvertDType(in.Of(x), dtypes.Float32), dtypes.Float64) // as float32 has them
			return []*kde.Node{q.LogDensity(x), q.Score(nil, x, nil)}
		})
		testvalues.Near(t, "log q", got[0], want[0], 1e-6)
		testvalues.Near(t, "score", got[1], want[1], 1e-6)
	})
}

// A subset of all centres of equal weight is the whole estimate: no centre is in it twice.
func TestSubsetOfAll(t *testing.T) {
	for _, n := range []int{1, 2, 6, 30, 97} {
		points := spread(n, 1, 3)
		q := must(t)(kde.New(points, kde.Gaussian, kde.Fixed(0.3)))
		got := drawn(t, testbackend.Go(t), func(rng *random.Source) []*kde.Node {
			in := testvalues.Inputs{Graph: rng.Graph(), DType: dtypes.Float64}
			x := in.Of(spread(5, 1, 3.1))
			return []*kde.Node{q.Subset(nil, rng, n).Score(nil, x, nil), q.Score(nil, x, nil)}
		})
		testvalues.Near(t, "score", got[0], got[1], 1e-12)
	}
}

// The verbs of scorekit take an estimate as model and as data, and what it keeps on the device is kept once for each
// estimate.
func TestVerbs(t *testing.T) {
	b := testbackend.Go(t)
	points := spread(30, 2, 2)
	q := must(t)(kde.New(points, kde.Gaussian, kde.Fixed(0.5)))
	scores, err := scorekit.Evaluate(context.Background(), b, q, points[:3])
	if err != nil {
		t.Fatal(err)
	}
	_, want := naive(kde.Gaussian, points, nil, []float64{0.5, 0.5}, points[1])
	testvalues.NearOne(t, "Evaluate", testvalues.Flat(t, scores)[2:4], want, 1e-12)
	if _, err := scorekit.Draw(t.Context(), b, q, 10, 1); err != nil {
		t.Error(err)
	}
	if _, err := scorekit.Sample(context.Background(), b, q, sampler.Langevin{Steps: 20, StepSize: 0.01}, 8, scorekit.WithShape(2)); err != nil {
		t.Error(err)
	}
}

func TestImpossibleArguments(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	ctx, b := context.Background(), testbackend.Go(t)
	line, plane := [][]float64{{0}, {1}, {3}}, [][]float64{{0, 0}, {1, 2}, {3, 1}}
	of := func(points any, k kde.Kernel, bw kde.Bandwidth) error { _, err := kde.New(points, k, bw); return err }
	weighted := func(w []float64, bw kde.Bandwidth) error {
		_, err := kde.NewWeighted(line, w, kde.Gaussian, bw)
		return err
	}
	good := must(t)(kde.New(plane, kde.Gaussian, kde.Fixed(1)))
	noised := func(k kde.Kernel, sigma float64) error {
		_, err := must(t)(kde.New(line, k, kde.Fixed(1))).Noised(sigma)
		return err
	}
	at := func(points any) error { _, err := good.LogDensityAt(ctx, b, points); return err }
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	_, cancelled := good.ScoreAt(stopped, b, plane)
	_, search := kde.New(line, kde.Gaussian, kde.LeaveOneOut(stopped))
	_, alone := must(t)(kde.New(line[:1], kde.Gaussian, kde.Fixed(1))).LeaveOneOut(ctx)
	_, uneven := must(t)(kde.New(plane, kde.Gaussian, kde.PerCoordinate(1, 2))).LeaveOneOut(ctx)
	_, noBackend := good.LogDensityAt(ctx, nil, plane)
	var none context.Context
	_, noContext := good.LeaveOneOut(none)
	_, zero := kde.Estimate{}.LogDensityAt(ctx, b, plane)
	narrow := tensors.FromFlatDataAndDimensions([]float32{1, 2}, 1, 2)
	_, overflow := must(t)(kde.New([][]float64{{0, 0}, {1e200, 2}}, kde.Gaussian, kde.Fixed(1))).LogDensityAt(ctx, b, narrow)
	_, tiny := must(t)(kde.New(plane, kde.Gaussian, kde.Fixed(1e-20))).ScoreAt(ctx, b, narrow)
	caused, end := context.WithCancelCause(ctx)
	end(errors.New("enough"))
	_, cause := good.LeaveOneOut(caused)
	for _, test := range []struct {
		err  error
		want string
	}{
		{of([][]float64{}, kde.Gaussian, kde.Fixed(1)), "kde: points: there must be at least one, with at least one column"},
		{of([][]float64{{1, 2}, {3}}, kde.Gaussian, kde.Fixed(1)), "kde: points: row 1 has 1 columns but row 0 has 2"},
		{of([][]float64{{1, 2}, {3, nan}}, kde.Gaussian, kde.Fixed(1)), "kde: points: row 1, column 1 is NaN: every value must be finite (rows and columns count from 0)"},
		{of([][]float32{{float32(inf)}}, kde.Gaussian, kde.Fixed(1)), "kde: points: row 0, column 0 is +Inf: every value must be finite (rows and columns count from 0)"},
		{of("points", kde.Gaussian, kde.Fixed(1)), "kde: points of type string: must be *tensors.Tensor, [][]float64 or [][]float32"},
		{of(line, 7, kde.Fixed(1)), "kde: kernel 7: must be Gaussian, Logistic, Sech2, Biweight or Triweight"},
		{of(line, kde.Gaussian, kde.Bandwidth{}), "kde: bandwidth: zero value: must be made by a function such as Fixed"},
		{of(line, kde.Gaussian, kde.Fixed(0)), "kde: bandwidth Fixed: 0 for coordinate 0: must be positive and finite, and its square too"},
		{of(line, kde.Gaussian, kde.Fixed(nan)), "kde: bandwidth Fixed: NaN for coordinate 0: must be positive and finite, and its square too"},
		{of(plane, kde.Gaussian, kde.PerCoordinate(1, -2)), "kde: bandwidth PerCoordinate: -2 for coordinate 1: must be positive and finite, and its square too"},
		{of(plane, kde.Gaussian, kde.PerCoordinate(1)), "kde: bandwidth PerCoordinate: 1 bandwidths for points of 2 coordinates: must be as many"},
		{of([][]float64{{1, 0}, {1, 2}}, kde.Gaussian, kde.NormalReference()), "kde: bandwidth NormalReference: 0 for coordinate 0: must be positive and finite, and its square too"},
		{of(plane, kde.Gaussian, kde.NormalScale()), "kde: bandwidth NormalScale: points of 2 coordinates: must be of one"},
		{of(plane, kde.Gaussian, kde.RuleOfThumb()), "kde: bandwidth RuleOfThumb: points of 2 coordinates: must be of one"},
		{weighted([]float64{1, 2, 3}, kde.RuleOfThumb()), "kde: bandwidth RuleOfThumb: weights that differ: its quartiles are those of points that count alike"},
		{of(line[:1], kde.Gaussian, kde.NormalScale()), "kde: bandwidth NormalScale: one point: must be at least 2"},
		{of(line[:1], kde.Gaussian, kde.RuleOfThumb()), "kde: bandwidth RuleOfThumb: one point: must be at least 2"},
		{of(plane, kde.Gaussian, kde.Covariance(-1)), "kde: bandwidth Covariance: factor -1: must be positive and finite"},
		{of(plane[:1], kde.Gaussian, kde.ScottCovariance()), "kde: bandwidth ScottCovariance: one point: must be at least 2 to have a covariance"},
		{of(plane[:2], kde.Gaussian, kde.ScottCovariance()), "must be positive definite"},
		{of(plane, kde.Biweight, kde.ScottCovariance()), "kde: bandwidth ScottCovariance with the Biweight kernel: must be Gaussian, as the others are products over the coordinates"},
		{of(line[:1], kde.Gaussian, kde.LeaveOneOut(ctx)), "kde: bandwidth LeaveOneOut: one point: must be at least 2"},
		{of([][]float64{{1}, {2}, {1}, {2}}, kde.Gaussian, kde.LeaveOneOut(ctx)), "kde: bandwidth LeaveOneOut: every point occurs more than once: the likelihood grows without end as the bandwidth goes to 0; leave out duplicates or set a number"},
		{weighted([]float64{1, 2}, kde.Fixed(1)), "kde: 2 weights for 3 points: must be as many"},
		{weighted(nil, kde.Fixed(1)), "kde: 0 weights for 3 points: must be as many"},
		{weighted([]float64{1, -1, 1}, kde.Fixed(1)), "kde: weights[1] = -1: must be finite and not negative"},
		{weighted([]float64{1, nan, 1}, kde.Fixed(1)), "kde: weights[1] = NaN: must be finite and not negative"},
		{weighted([]float64{0, 0, 0}, kde.Fixed(1)), "kde: weights are all 0: must have a positive sum"},
		{kde.Estimate{}.Validate(), "kde: zero value: must be made by New or NewWeighted"},
		{noised(kde.Gaussian, -1), "kde: Noised: sigma -1: must be not negative and its square finite"},
		{noised(kde.Logistic, 1), "kde: noise level for the Logistic kernel: its convolution with a normal density has no closed form; must be the Gaussian kernel"},
		{at([][]float64{{1}}), "kde: LogDensityAt: points of shape [1]: must be [2], as the estimate's"},
		{at([][]float64{{1, inf}}), "kde: LogDensityAt: points: row 0, column 1 is +Inf: every value must be finite (rows and columns count from 0)"},
		{noBackend, "kde: LogDensityAt: ctx or backend nil: must be given"},
		{cancelled, "kde: ScoreAt: stopped after 0 of 3 points: context canceled"},
		{search, "kde: bandwidth LeaveOneOut: context canceled"},
		{of(line, kde.Gaussian, kde.LeaveOneOut(none)), "kde: bandwidth LeaveOneOut: ctx nil: must be given"},
		{noContext, "kde: LeaveOneOut: ctx nil: must be given"},
		{cause, "kde: LeaveOneOut: enough"},
		{zero, "kde: LogDensityAt: zero value: must be made by New or NewWeighted"},
		{overflow, "kde: LogDensityAt: value 1e+200 does not fit in float32: use float64"},
		{tiny, "kde: ScoreAt: bandwidth 1e-20: must be from 1e-18 to 1e18 in float32"},
		{alone, "kde: LeaveOneOut: one point: must be at least 2"},
		{uneven, "kde: LeaveOneOut: a bandwidth that differs between coordinates: must be one for all"},
	} {
		if test.err == nil || strings.Count(test.err.Error(), "kde: ") != 1 || !strings.HasPrefix(test.err.Error(), "kde: ") || !strings.HasSuffix(test.err.Error(), test.want) {
			t.Errorf("error %v, want %s", test.err, test.want)
		}
	}
}

// Graph functions refuse what does not fit with an error that says what would.
func TestMisshapenPoints(t *testing.T) {
	plane := must(t)(kde.New([][]float64{{0, 0}, {1, 2}}, kde.Gaussian, kde.Fixed(1)))
	compact := must(t)(kde.New([][]float64{{0, 0}, {1, 2}}, kde.Biweight, kde.Fixed(1)))
	huge := must(t)(kde.New([][]float64{{0, 0}, {1e200, 2}}, kde.Gaussian, kde.Fixed(1)))
	tiny := must(t)(kde.New([][]float64{{0, 0}, {1, 2}}, kde.Gaussian, kde.Fixed(1e-20)))
	points := func(g *graph.Graph, dtype dtypes.DType, dims ...int) *kde.Node {
		return graph.Zeros(g, shapes.Make(dtype, dims...))
	}
	for want, build := range map[string]func(g *graph.Graph) *kde.Node{
		"kde: points of shape (Float32)[4 3]: must be [batch, [2]] of float32 or float64": func(g *graph.Graph) *kde.Node {
			return plane.LogDensity(points(g, dtypes.Float32, 4, 3))
		},
		"kde: points of shape (Int32)[4 2]": func(g *graph.Graph) *kde.Node { return plane.Score(nil, points(g, dtypes.Int32, 4, 2), nil) },
		"kde: noise levels of shape (Float32)[3] for points of shape (Float32)[4 2]": func(g *graph.Graph) *kde.Node {
			return plane.Score(nil, points(g, dtypes.Float32, 4, 2), points(g, dtypes.Float32, 3))
		},
		"kde: noise level for the Biweight kernel": func(g *graph.Graph) *kde.Node {
			return compact.Score(nil, points(g, dtypes.Float32, 4, 2), points(g, dtypes.Float32, 4))
		},
		"kde: value 1e+200 does not fit in float32: use float64": func(g *graph.Graph) *kde.Node {
			return huge.Score(nil, points(g, dtypes.Float32, 4, 2), nil)
		},
		"kde: bandwidth 1e-20: must be from 1e-18 to 1e18 in float32": func(g *graph.Graph) *kde.Node {
			return tiny.Score(nil, points(g, dtypes.Float32, 4, 2), nil)
		},
		"kde: zero value":                     func(g *graph.Graph) *kde.Node { return kde.Estimate{}.LogDensity(points(g, dtypes.Float32, 4, 2)) },
		"kde: batch of 0: must be at least 1": func(g *graph.Graph) *kde.Node { return plane.Batch(nil, random.Listed(g), 0) },
		"kde: subset of 3 centres: must be from 1 to all 2": func(g *graph.Graph) *kde.Node {
			return plane.Subset(nil, random.Listed(g), 3).Score(nil, points(g, dtypes.Float32, 4, 2), nil)
		},
	} {
		if _, err := graph.ExecOnce(testbackend.Go(t), build); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one that says %q", err, want)
		}
	}
}

// Points that only fill the last block are few, whatever their number, and so are the graphs.
func TestSizeOf(t *testing.T) {
	sizes := map[int]bool{}
	for n := 1; n < 40000; n++ {
		size := kde.SizeOf(n)
		filled := (n + size - 1) / size * size
		if size < 1 || size > n || size > 1024 || filled-n > n/3 {
			t.Fatalf("%d points in blocks of %d", n, size)
		}
		if n <= 1024 {
			continue
		}
		sizes[size] = true
		for other := 512; other <= 1024; other += 128 {
			if least := (n + other - 1) / other * other; size%128 != 0 || filled > least {
				t.Fatalf("%d points in blocks of %d fill %d, of %d %d", n, size, filled, other, least)
			}
		}
	}
	if len(sizes) > 5 {
		t.Errorf("%d sizes", len(sizes))
	}
}
