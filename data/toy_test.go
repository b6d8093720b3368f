package data_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/data"
	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/random"
)

// toy is what every toy set does.
type toy interface {
	scorekit.Data
	scorekit.Validator
	Sample(n int, seed int64) (data.Set, error)
}

type dense interface {
	toy
	Density() (density.Mixture, error)
}

const draws = 50_000

// everyToy holds each toy set with its mean and E|x|² in closed form.
//
// The swiss roll's integrals over t from a = 3π/2 to b = 9π/2, over 3π: ∫t cos t = [cos t + t sin t] = 6π,
// ∫t sin t = [sin t − t cos t] = 2, ∫t² = (b³−a³)/3 = 9.75π²·3π; times 1/5 for the mean and 1/25 for the square.
// The moons: E|m|² is 1 for the upper one, and 1 + |(1, ½)|² − 2·½·2/π for the lower, as the mean of sin t is 2/π.
var everyToy = []struct {
	name   string
	toy    toy
	mean   [2]float64
	square float64
}{
	{"ring", data.Ring{}, [2]float64{0, 0}, 16 + 2*0.09},
	{"ring of 5", data.Ring{Modes: 5, Radius: 2, Std: 0.5}, [2]float64{0, 0}, 4 + 2*0.25},
	{"moons", data.TwoMoons{}, [2]float64{0.5, 0.25}, (1+1+1.25-2/math.Pi)/2 + 2*0.01},
	{"roll", data.SwissRoll{}, [2]float64{0.4, 2 / (15 * math.Pi)}, 9.75*math.Pi*math.Pi/25 + 2*0.01},
	{"board", data.Checkerboard{}, [2]float64{0, 0}, 2 * 64.0 / 12},
	{"board of 2", data.Checkerboard{Squares: 2, Width: 1}, [2]float64{0, 0}, 2 * 1.0 / 12},
}

// What is drawn on the host and in the graph has the mean and mean square of the closed form, within 5 standard errors
// taken from the draws; the density has them exactly.
func TestMoments(t *testing.T) {
	check := func(t *testing.T, name string, rows [][]float64, mean [2]float64, square float64) {
		t.Helper()
		for what, number := range map[string]struct {
			of   func(x []float64) float64
			want float64
		}{
			"E x":    {func(x []float64) float64 { return x[0] }, mean[0]},
			"E y":    {func(x []float64) float64 { return x[1] }, mean[1]},
			"E|x|²":  {func(x []float64) float64 { return x[0]*x[0] + x[1]*x[1] }, square},
			"finite": {func(x []float64) float64 { return 0 * x[0] * x[1] }, 0},
		} {
			got, se := average(rows, number.of)
			if !(math.Abs(got-number.want) <= 5*se) {
				t.Errorf("%s: %s = %v, want %v ± %v", name, what, got, number.want, se)
			}
		}
	}
	for _, c := range everyToy {
		set, err := c.toy.Sample(draws, 3)
		if err != nil {
			t.Fatal(err)
		}
		check(t, c.name+", sampled", set.Rows(), c.mean, c.square)
		if d, ok := c.toy.(dense); ok {
			p, err := d.Density()
			if err != nil {
				t.Fatal(err)
			}
			m, cov := p.Mean(), p.Cov()
			square := cov[0][0] + cov[1][1] + m[0]*m[0] + m[1]*m[1]
			if math.Abs(m[0]-c.mean[0])+math.Abs(m[1]-c.mean[1])+math.Abs(square-c.square) > 1e-11 {
				t.Errorf("%s: density of mean %v and mean square %v, want %v and %v", c.name, m, square, c.mean, c.square)
			}
		}
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for i, rows := range batches(t, b) {
			check(t, everyToy[i].name+", in the graph", rows, everyToy[i].mean, everyToy[i].square)
		}
	})
}

// batches draws from every toy set inside one graph, in float32.
func batches(t *testing.T, b backends.Backend) [][][]float64 {
	t.Helper()
	exec, err := graph.NewExec(b, func(state *data.Node) []*data.Node {
		rng := random.New(state, dtypes.Float32, 1)
		var out []*data.Node
		for _, c := range everyToy {
			out = append(out, c.toy.Batch(nil, rng, draws))
		}
		return out
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	state, err := random.Seed(5)
	if err != nil {
		t.Fatal(err)
	}
	results, err := exec.Exec(state)
	if err != nil {
		t.Fatal(err)
	}
	var all [][][]float64
	for _, x := range results {
		all = append(all, data.Set{X: x}.Rows())
	}
	return all
}

// average returns the mean of f over the rows and its standard error.
func average(rows [][]float64, f func(x []float64) float64) (mean, se float64) {
	square, n := 0.0, float64(len(rows))
	for _, x := range rows {
		v := f(x)
		mean += v / n
		square += v * v / n
	}
	return mean, math.Sqrt(max(0, square-mean*mean) / n)
}

// The density of a set, convolved with noise τ, is at a point the average of N(point; y, τ²I) over draws y of the set:
// within 5 standard errors, for draws on the host and in the graph.
func TestDrawsFollowTheDensity(t *testing.T) {
	const tau = 0.2
	points := [][]float64{{4.1, 0.2}, {-2.7, 2.9}, {0.6, 1.4}, {0.4, -0.3}, {1, 0.1}, {-0.9, 0.3}, {-1.2, 0.1}, {0.1, 2.3}, {1.4, 0.2}}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		inGraph := batches(t, b)
		for i, c := range everyToy {
			d, ok := c.toy.(dense)
			if !ok {
				continue
			}
			p, err := d.Density()
			if err != nil {
				t.Fatal(err)
			}
			noised, err := p.Noised(tau)
			if err != nil {
				t.Fatal(err)
			}
			set, err := c.toy.Sample(draws, 11)
			if err != nil {
				t.Fatal(err)
			}
			logs := logDensity(t, b, noised.LogDensity, points)
			compared := 0
			for j, x := range points {
				want := math.Exp(logs[j])
				if want < 1e-3 { // too few draws near this point to tell anything
					continue
				}
				compared++
				for from, rows := range map[string][][]float64{"sampled": set.Rows(), "in the graph": inGraph[i]} {
					got, se := average(rows, func(y []float64) float64 {
						return math.Exp(-(math.Pow(x[0]-y[0], 2)+math.Pow(x[1]-y[1], 2))/(2*tau*tau)) / (2 * math.Pi * tau * tau)
					})
					if !(math.Abs(got-want) <= 5*se) {
						t.Errorf("%s, %s: noised density at %v = %v ± %v, want %v", c.name, from, x, got, se, want)
					}
				}
			}
			if compared < 2 {
				t.Errorf("%s: only %d points near the set", c.name, compared)
			}
		}
	})
}

func logDensity(t *testing.T, b backends.Backend, logp func(x *data.Node) *data.Node, points [][]float64) []float64 {
	t.Helper()
	result, err := graph.ExecOnce(b, logp, points)
	if err != nil {
		t.Fatal(err)
	}
	return testvalues.Flat(t, result)
}

// The density of the curves is the integral along them, here taken by the trapezoid rule with 20,000 steps, whose error
// is below 10⁻⁷ of it.
func TestCurvesAreIntegrated(t *testing.T) {
	points := [][]float64{{0.1, 0.9}, {1.2, 0.3}, {-0.9, 0.2}, {2.1, 0.4}, {0.3, 0.2}, {1.2, 1.1}, {-1.9, 0.7}}
	b := testbackend.Go(t)
	upper := func(t float64) (x, y float64) { return math.Cos(t), math.Sin(t) }
	lower := func(t float64) (x, y float64) { return 1 - math.Cos(t), 0.5 - math.Sin(t) }
	spiral := func(t float64) (x, y float64) { return t * math.Cos(t) / 5, t * math.Sin(t) / 5 }
	type path = func(t float64) (x, y float64)
	for _, c := range []struct {
		name     string
		toy      dense
		std      float64
		from, to float64
		paths    []path
	}{
		{"moons", data.TwoMoons{}, 0.1, 0, math.Pi, []path{upper, lower}},
		{"thin moons", data.TwoMoons{Noise: 0.02}, 0.02, 0, math.Pi, []path{upper, lower}},
		{"roll", data.SwissRoll{}, 0.1, 1.5 * math.Pi, 4.5 * math.Pi, []path{spiral}},
		{"thick roll", data.SwissRoll{Noise: 0.4}, 0.4, 1.5 * math.Pi, 4.5 * math.Pi, []path{spiral}},
	} {
		p, err := c.toy.Density()
		if err != nil {
			t.Fatal(err)
		}
		got := logDensity(t, b, p.LogDensity, points)
		for i, x := range points {
			const steps = 20_000
			var want float64
			for _, path := range c.paths {
				for k := range steps + 1 {
					px, py := path(c.from + (c.to-c.from)*float64(k)/steps)
					kernel := math.Exp(-(math.Pow(x[0]-px, 2)+math.Pow(x[1]-py, 2))/(2*c.std*c.std)) / (2 * math.Pi * c.std * c.std)
					if k == 0 || k == steps {
						kernel /= 2
					}
					want += kernel / steps / float64(len(c.paths))
				}
			}
			if want > 1e-200 && !(math.Abs(math.Exp(got[i])/want-1) <= 1e-6) {
				t.Errorf("%s at %v: density %v, want %v", c.name, x, math.Exp(got[i]), want)
			}
		}
	}
}

// Each moon is the other, turned by half a turn about (½, ¼).
func TestMoonsAreAlike(t *testing.T) {
	p, err := data.TwoMoons{}.Density()
	if err != nil {
		t.Fatal(err)
	}
	points := [][]float64{{0.1, 0.9}, {1.2, 0.3}, {-0.9, 0.2}, {2.1, 0.4}}
	var turned [][]float64
	for _, x := range points {
		turned = append(turned, []float64{1 - x[0], 0.5 - x[1]})
	}
	b := testbackend.Go(t)
	a, z := logDensity(t, b, p.LogDensity, points), logDensity(t, b, p.LogDensity, turned)
	for i := range a {
		if math.Abs(a[i]-z[i]) > 1e-10*math.Abs(a[i]) {
			t.Errorf("log-density %v at %v but %v at %v", a[i], points[i], z[i], turned[i])
		}
	}
}

// A label names the part that an example was drawn from.
func TestLabels(t *testing.T) {
	ring, err := data.Ring{}.Sample(8000, 1)
	if err != nil {
		t.Fatal(err)
	}
	counts := make([]int, 8)
	for i, x := range ring.Rows() {
		counts[ring.Labels[i]]++
		// A neighbouring mode is 5 standard deviations beyond the half-way line.
		nearest := (int(math.Round(math.Atan2(x[1], x[0])/(math.Pi/4))) + 8) % 8
		if nearest != ring.Labels[i] {
			t.Errorf("row %d, %v: label %d", i, x, ring.Labels[i])
		}
	}
	for k, n := range counts { // 1000 ± √(8000·⅛·⅞) each
		if math.Abs(float64(n)-1000) > 5*math.Sqrt(8000.0*7/64) {
			t.Errorf("mode %d drawn %d times of 8000", k, n)
		}
	}
	moons, err := data.TwoMoons{Noise: 0.01}.Sample(1000, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range moons.Rows() {
		upper := math.Abs(math.Hypot(x[0], x[1])-1) < 0.06 && x[1] > -0.06
		lower := math.Abs(math.Hypot(x[0]-1, x[1]-0.5)-1) < 0.06 && x[1] < 0.56
		if moons.Labels[i] == 0 && !upper || moons.Labels[i] == 1 && !lower {
			t.Errorf("row %d, %v: label %d", i, x, moons.Labels[i])
		}
	}
	for _, unlabelled := range []toy{data.SwissRoll{}, data.Checkerboard{}} {
		if set, err := unlabelled.Sample(3, 1); err != nil || set.Labels != nil {
			t.Errorf("%T: labels %v, error %v", unlabelled, set.Labels, err)
		}
	}
}

func TestSeeds(t *testing.T) {
	for _, c := range everyToy {
		var sets [3]data.Set
		for i, seed := range []int64{-1, -1, 2} {
			var err error
			if sets[i], err = c.toy.Sample(100, seed); err != nil {
				t.Fatal(err)
			}
			if err := sets[i].Validate(); err != nil {
				t.Error(err)
			}
			if n, d := sets[i].Dims(); n != 100 || d != 2 || sets[i].X.DType() != dtypes.Float32 {
				t.Errorf("%s: %s", c.name, sets[i].X.Shape())
			}
		}
		if !sets[0].X.Equal(sets[1].X) || !slices.Equal(sets[0].Labels, sets[1].Labels) {
			t.Errorf("%s: the same seed gives another set", c.name)
		}
		if sets[0].X.Equal(sets[2].X) {
			t.Errorf("%s: another seed gives the same set", c.name)
		}
	}
}

// Every draw lies on a dark square, where the density is 1 over their area; it is 0 elsewhere.
func TestCheckerboardSupport(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		inGraph := batches(t, b)
		for _, c := range []struct {
			board data.Checkerboard
			area  float64
			dark  [][]float64
			light [][]float64
		}{
			{data.Checkerboard{}, 32,
				[][]float64{{-3, -3}, {-3.9, -3.9}, {-1, -1}, {1, 1}, {3, -1}, {3.9, 3.9}},
				[][]float64{{-3, -1}, {-1, -3}, {3.9, -3.9}, {-5, -5}, {5, 5}, {-3, 5}, {0.1, -4.1}, {1, 1e6}}},
			{data.Checkerboard{Squares: 2, Width: 1}, 0.5,
				[][]float64{{-0.25, -0.25}, {0.25, 0.25}},
				[][]float64{{0.25, -0.25}, {-0.75, 0.25}}},
			{data.Checkerboard{Squares: 3, Width: 6}, 20,
				[][]float64{{0, 0}, {-2, -2}, {-2, 2}, {2, -2}, {2, 2}},
				[][]float64{{0, 2}, {2, 0}, {-2, 0}, {0, -2}, {4, 0}}},
			{data.Checkerboard{Squares: 1, Width: 3}, 9, [][]float64{{1, -1}}, [][]float64{{1.6, 0}}},
		} {
			set, err := c.board.Sample(5000, 9)
			if err != nil {
				t.Fatal(err)
			}
			points := slices.Concat(c.light, c.dark, set.Rows())
			for i, other := range everyToy {
				if other.toy == toy(c.board) {
					points = append(points, inGraph[i]...)
				}
			}
			for i, got := range logDensity(t, b, c.board.LogDensity, points) {
				if i < len(c.light) && !math.IsInf(got, -1) {
					t.Errorf("%+v: log-density %v at %v, want −Inf", c.board, got, points[i])
				}
				if want := -math.Log(c.area); i >= len(c.light) && !(math.Abs(got-want) <= 1e-14*(1+math.Abs(want))) {
					t.Errorf("%+v: log-density %v at %v, want %v", c.board, got, points[i], want)
				}
			}
		}
	})
}

func TestImpossibleToys(t *testing.T) {
	sample := func(s toy, n int) error { _, err := s.Sample(n, 1); return err }
	noDensity := func(s dense) error { _, err := s.Density(); return err }
	for want, err := range map[string]error{
		"Ring: modes 1: must be at least 2":                      sample(data.Ring{Modes: 1}, 5),
		"Ring: radius -4: must be positive":                      noDensity(data.Ring{Radius: -4}),
		"Ring: std NaN":                                          data.Ring{Std: math.NaN()}.Validate(),
		"Ring: 0 draws: must be at least 1":                      sample(data.Ring{}, 0),
		"TwoMoons: noise -0.1: must be positive":                 sample(data.TwoMoons{Noise: -0.1}, 5),
		"TwoMoons: -1 draws":                                     sample(data.TwoMoons{}, -1),
		"TwoMoons: noise 1e-05: too small for the exact density": noDensity(data.TwoMoons{Noise: 1e-5}),
		"SwissRoll: noise +Inf: must be positive":                noDensity(data.SwissRoll{Noise: math.Inf(1)}),
		"SwissRoll: 0 draws":                                     sample(data.SwissRoll{}, 0),
		"Checkerboard: squares -2: must be from 1":               sample(data.Checkerboard{Squares: -2}, 5),
		"Checkerboard: width -8: must be positive":               data.Checkerboard{Width: -8}.Validate(),
		"Checkerboard: 0 draws: must be at least 1":              sample(data.Checkerboard{}, 0),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "data: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one that says %q", err, want)
		}
	}
	// In a graph the same errors arrive through the executable.
	for want, bad := range map[string]toy{
		"Ring: modes 1":            data.Ring{Modes: 1},
		"TwoMoons: noise -1":       data.TwoMoons{Noise: -1},
		"SwissRoll: noise -1":      data.SwissRoll{Noise: -1},
		"Checkerboard: squares -2": data.Checkerboard{Squares: -2},
	} {
		_, err := graph.ExecOnce(testbackend.Go(t), func(g *graph.Graph) *data.Node { return bad.Batch(nil, random.Listed(g), 3) })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one that says %q", err, want)
		}
	}
}
