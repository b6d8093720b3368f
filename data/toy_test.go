package data_test

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"gonum.org/v1/gonum/floats"

	"github.com/scorekit/lab/data"
	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/random"
)

// dense is a toy set whose density is a mixture.
type dense interface {
	data.Toy
	Density() (density.Mixture, error)
}

// exact is a density with its moments.
type exact interface {
	density.Density
	Mean() []float64
	Cov() [][]float64
}

// densityOf returns the density of a toy set with noise tau added, or nil if the set has none.
func densityOf(t *testing.T, toy data.Toy, tau float64) exact {
	t.Helper()
	var p exact
	var err error
	switch toy := toy.(type) {
	case data.SCurve: // its noise is what is added
		p, err = data.SCurve{Noise: math.Hypot(max(toy.Noise, 0.1), tau)}.Density()
	case data.Correlated:
		var g density.Gaussian
		if g, err = toy.Density(); err == nil {
			p, err = g.Noised(tau)
		}
	case dense:
		var m density.Mixture
		if m, err = toy.Density(); err == nil {
			p, err = m.Noised(tau)
		}
	default:
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const draws = 20_000

// everyToy holds each toy set with its mean and E|x|² in closed form.
//
// The swiss roll's integrals over t from a = 3π/2 to b = 9π/2, over 3π: ∫t cos t = [cos t + t sin t] = 6π,
// ∫t sin t = [sin t − t cos t] = 2, ∫t² = (b³−a³)/3 = 9.75π²·3π; times 1/5 for the mean and 1/25 for the square.
// The moons: E|m|² is 1 for the upper one, and 1 + |(1, ½)|² − 2·½·2/π for the lower, as the mean of sin t is 2/π.
var everyToy = []struct {
	name   string
	toy    data.Toy
	mean   []float64
	square float64
}{
	{"ring", data.Ring{}, []float64{0, 0}, 16 + 2*0.09},
	{"ring of 5", data.Ring{Modes: 5, Radius: 2, Std: 0.5}, []float64{0, 0}, 4 + 2*0.25},
	{"moons", data.TwoMoons{}, []float64{0.5, 0.25}, (1+1+1.25-2/math.Pi)/2 + 2*0.01},
	{"roll", data.SwissRoll{}, []float64{0.4, 2 / (15 * math.Pi)}, 9.75*math.Pi*math.Pi/25 + 2*0.01},
	{"board", data.Checkerboard{}, []float64{0, 0}, 2 * 64.0 / 12},
	{"board of 2", data.Checkerboard{Squares: 2, Width: 1}, []float64{0, 0}, 2 * 1.0 / 12},
	{"grid", data.Grid{}, []float64{0, 0}, 4*24.0/6 + 2*0.04},
	{"grid of 2", data.Grid{Side: 2, Spacing: 3, Std: 0.5}, []float64{0, 0}, 9*3.0/6 + 2*0.25},
	{"circles", data.Circles{}, []float64{0, 0}, 2.5 + 2*0.01},
	{"wide circles", data.Circles{Outer: 3, Inner: 0.5, Noise: 0.2}, []float64{0, 0}, 9.25/2 + 2*0.04},
	{"spirals", data.Spirals{}, []float64{0, 0}, 4.5 + 2*0.01},
	{"spirals of 3", data.Spirals{Arms: 3, Turns: 0.5, Radius: 2, Noise: 0.15}, []float64{0, 0}, 2 + 2*0.0225},
	{"pinwheel", data.Pinwheel{}, []float64{0, 0}, 4*(1+0.09*cutVariance) + 2*0.0225},
	{"pinwheel of 3", data.Pinwheel{Arms: 3, Radius: 1, Length: 0.2, Bend: 0.4, Noise: 0.1}, []float64{0, 0}, 1 + 0.04*cutVariance + 2*0.01},
	{"S", data.SCurve{}, []float64{0, 0, 1}, 0.5 + 1.5 + 4/(3*math.Pi) + 4.0/3 + 3*0.01},
	{"correlated", data.Correlated{Dim: 3, Correlation: -0.6}, []float64{0, 0, 0}, 3},
	{"clusters", data.Clusters{Dim: 3, Modes: 4, Radius: 2, Std: 0.4}, []float64{0, 0, 0}, 4 + 3*0.16},
}

// cutVariance is the variance of N(0, 1) cut off at 4 deviations, 1 − 2·4 φ(4)/(2Φ(4) − 1).
var cutVariance = 1 - 8*math.Exp(-8)/math.Sqrt(2*math.Pi)/math.Erf(4/math.Sqrt2)

// What is drawn on the host and in the graph has the mean and mean square of the closed form, within 5 standard errors
// taken from the draws; the density has them exactly.
func TestMoments(t *testing.T) {
	check := func(t *testing.T, name string, rows [][]float64, mean []float64, square float64) {
		t.Helper()
		for what, number := range map[string]struct {
			of   func(x []float64) float64
			want float64
		}{
			"E x":    {func(x []float64) float64 { return x[0] }, mean[0]},
			"E y":    {func(x []float64) float64 { return x[1] }, mean[1]},
			"E z":    {func(x []float64) float64 { return x[len(x)-1] }, mean[len(mean)-1]},
			"E|x|²":  {func(x []float64) float64 { return floats.Dot(x, x) }, square},
			"finite": {func(x []float64) float64 { return 0 * floats.Dot(x, x) }, 0},
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
		if p := densityOf(t, c.toy, 0); p != nil {
			square := 0.0
			for j, m := range p.Mean() {
				square += p.Cov()[j][j] + m*m
				if math.Abs(m-c.mean[j]) > 1e-11 {
					t.Errorf("%s: density of mean %v, want %v", c.name, p.Mean(), c.mean)
				}
			}
			if math.Abs(square-c.square) > 1e-11 {
				t.Errorf("%s: density of mean square %v, want %v", c.name, square, c.square)
			}
		}
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for i, rows := range batches(t, b) {
			check(t, everyToy[i].name+", in the graph", rows, everyToy[i].mean, everyToy[i].square)
		}
	})
}

// drawn keeps what batches drew on each backend, as tests only look at it.
var drawn = map[string][][][]float64{}

// batches draws from every toy set inside one graph, in float32.
func batches(t *testing.T, b backends.Backend) [][][]float64 {
	t.Helper()
	if all, ok := drawn[b.Name()]; ok {
		return all
	}
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
	drawn[b.Name()] = all
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
	fixed := [][]float64{{4.1, 0.2}, {-2.7, 2.9}, {0.6, 1.4}, {0.4, -0.3}, {1, 0.1}, {-0.9, 0.3}, {-1.2, 0.1}, {0.1, 2.3}, {1.4, 0.2}}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		inGraph := batches(t, b)
		points := make([][][]float64, len(everyToy))
		for i, c := range everyToy {
			points[i] = must[data.Set](t)(c.toy.Sample(5, 99)).Rows()
			if len(c.mean) == 2 {
				points[i] = append(points[i], fixed...)
			}
		}
		logs := testvalues.Run(t, b, func(g *graph.Graph) []*data.Node {
			out := make([]*data.Node, len(everyToy))
			for i, c := range everyToy {
				if noised := densityOf(t, c.toy, tau); noised != nil {
					out[i] = noised.LogDensity(graph.Const(g, points[i]))
				} else {
					out[i] = graph.ScalarZero(g, dtypes.Float64)
				}
			}
			return out
		})
		for i, c := range everyToy {
			if len(logs[i]) == 1 {
				continue
			}
			set := must[data.Set](t)(c.toy.Sample(draws, 11))
			d := len(c.mean)
			compared := 0
			for j, x := range points[i] {
				want := math.Exp(logs[i][j])
				if want < 1e-3 { // too few draws near this point to tell anything
					continue
				}
				compared++
				for from, rows := range map[string][][]float64{"sampled": set.Rows(), "in the graph": inGraph[i]} {
					got, se := average(rows, func(y []float64) float64 {
						return math.Exp(-math.Pow(floats.Distance(x, y, 2)/tau, 2)/2) / math.Pow(2*math.Pi*tau*tau, float64(d)/2)
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
	circle := func(r float64) path {
		return func(t float64) (x, y float64) { return r * math.Cos(t), r * math.Sin(t) }
	}
	arm := func(turn float64) path {
		return func(v float64) (x, y float64) {
			phi := 3*math.Pi*v + turn
			return 3 * v * math.Cos(phi), 3 * v * math.Sin(phi)
		}
	}
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
		{"circles", data.Circles{}, 0.1, 0, 2 * math.Pi, []path{circle(2), circle(1)}},
		{"spirals", data.Spirals{}, 0.1, 0, 1, []path{arm(0), arm(math.Pi)}},
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
					v := float64(k) / steps
					px, py := path(c.from + (c.to-c.from)*v)
					kernel := math.Exp(-(math.Pow(x[0]-px, 2)+math.Pow(x[1]-py, 2))/(2*c.std*c.std)) / (2 * math.Pi * c.std * c.std)
					if k == 0 || k == steps {
						kernel /= 2
					}
					if c.name == "spirals" { // the density of √u
						kernel *= 2 * v
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
	for _, unlabelled := range []data.Toy{data.SwissRoll{}, data.Checkerboard{}} {
		if set, err := unlabelled.Sample(3, 1); err != nil || set.Labels != nil {
			t.Errorf("%T: labels %v, error %v", unlabelled, set.Labels, err)
		}
	}
}

// The labels of arms and of clusters name where a draw came from, and those of a grid and of circles are of what is
// nearest: a neighbour is 5 standard deviations beyond half-way.
func TestMoreLabels(t *testing.T) {
	for name, c := range map[string]struct {
		toy    data.Toy
		label  func(x []float64) int
		labels int
	}{
		"grid": {data.Grid{Side: 3, Spacing: 2, Std: 0.1}, func(x []float64) int {
			return int(math.Round(x[0]/2)+1)*3 + int(math.Round(x[1]/2)+1)
		}, 3 * 3},
		"circles": {data.Circles{}, func(x []float64) int {
			return map[bool]int{true: 0, false: 1}[math.Hypot(x[0], x[1]) > 1.5]
		}, 2},
		"spirals": {data.Spirals{Arms: 3, Turns: 1, Radius: 3, Noise: 1e-3}, func(x []float64) int {
			turn := math.Atan2(x[1], x[0])/(2*math.Pi) - math.Hypot(x[0], x[1])/3
			return (int(math.Round(3*turn)) + 9) % 3
		}, 3},
		"pinwheel": {data.Pinwheel{Noise: 1e-3}, func(x []float64) int {
			turn := (math.Atan2(x[1], x[0]) - 0.25*math.Exp(math.Hypot(x[0], x[1])/2)) / (2 * math.Pi)
			return (int(math.Round(5*turn)) + 50) % 5
		}, 5},
		"clusters": {data.Clusters{Dim: 3, Modes: 2, Radius: 2, Std: 0.4}, func(x []float64) int {
			return map[bool]int{true: 0, false: 1}[x[0] > 0]
		}, 2},
	} {
		set := must[data.Set](t)(c.toy.Sample(2000, 4))
		seen := map[int]bool{}
		for i, x := range set.Rows() {
			seen[set.Labels[i]] = true
			if near := math.Hypot(x[0], x[1]) < 0.45; !near && c.label(x) != set.Labels[i] {
				t.Errorf("%s: row %d, %v: label %d, want %d", name, i, x, set.Labels[i], c.label(x))
				break
			}
		}
		if len(seen) != c.labels {
			t.Errorf("%s: %d labels, want %d", name, len(seen), c.labels)
		}
	}
}

// The S is no mirrored one: E[x₁x₂] = (2/3π) ∫ sin t (cos t − 1) dt from 0 to 3π/2 = −1/(3π).
func TestSCurveIsAnS(t *testing.T) {
	cov := must[density.Product](t)(data.SCurve{}.Density()).Cov()
	for i, want := range []float64{-1 / (3 * math.Pi), 0, 0, 1.0/3 + 0.01} {
		if got := cov[i/2*2][1+i%2]; math.Abs(got-want) > 1e-11 {
			t.Errorf("covariance %d: %v, want %v", i, got, want)
		}
	}
}

// The corners of a simplex are R from the origin and √(2K/(K−1)) R from one another; random means are others for another
// seed, and the same for the same.
func TestClusterMeans(t *testing.T) {
	means := func(c data.Clusters) (means [][]float64) {
		for _, g := range must[density.Mixture](t)(c.Density()).Components() {
			means = append(means, g.Mean())
		}
		return means
	}
	for _, c := range []data.Clusters{{Dim: 4, Modes: 5, Radius: 3}, {Dim: 7, Modes: 3, Radius: 0.5}, {Dim: 1, Modes: 2}} {
		corners, r, k := means(c), cmp.Or(c.Radius, 4), float64(c.Modes)
		for i, m := range corners {
			if math.Abs(floats.Norm(m, 2)-r) > 1e-12 {
				t.Errorf("%+v: corner %v is not %v from the origin", c, m, r)
			}
			for _, other := range corners[:i] {
				if d := floats.Distance(m, other, 2); math.Abs(d-r*math.Sqrt(2*k/(k-1))) > 1e-12 {
					t.Errorf("%+v: corners %v apart", c, d)
				}
			}
		}
	}
	a, b := means(data.Clusters{Dim: 2, Modes: 50, Random: 1}), means(data.Clusters{Dim: 2, Modes: 50, Random: 2})
	square := 0.0
	for i := range a {
		if slices.Equal(a[i], b[i]) {
			t.Errorf("mean %d is the same for two seeds", i)
		}
		square += floats.Dot(a[i], a[i]) / 50
	}
	if math.Abs(square-16) > 5*16/math.Sqrt(50) { // |m|² is R²/2 times a χ² with 2 degrees of freedom
		t.Errorf("mean square %v, want 16", square)
	}
}

func TestToysByName(t *testing.T) {
	for name, toy := range data.Toys() {
		set, err := toy.Sample(10, 1)
		if err != nil || toy.Validate() != nil || !slices.Equal(set.X.Shape().Dimensions[1:], toy.Shape()) {
			t.Errorf("%s: %v, %v", name, err, toy.Validate())
		}
	}
	if len(data.Toys()) != 11 {
		t.Errorf("%d toy sets", len(data.Toys()))
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
			if n, d := sets[i].Dims(); n != 100 || d != len(c.mean) || sets[i].X.DType() != dtypes.Float32 {
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
				if other.toy == data.Toy(c.board) {
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
	sample := func(s data.Toy, n int) error { _, err := s.Sample(n, 1); return err }
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
		"Grid: side 1: must be from 2":                           sample(data.Grid{Side: 1}, 5),
		"Grid: spacing -1: must be positive":                     data.Grid{Spacing: -1}.Validate(),
		"Circles: inner 3: must be below outer, 2":               noDensity(data.Circles{Inner: 3}),
		"Spirals: arms -1: must be from 1":                       sample(data.Spirals{Arms: -1}, 5),
		"Spirals: turns -1: must be positive":                    noDensity(data.Spirals{Turns: -1}),
		"Spirals: noise 0.0001: too small for the exact density": noDensity(data.Spirals{Noise: 1e-4}),
		"Pinwheel: arms 1: must be from 2":                       noDensity(data.Pinwheel{Arms: 1}),
		"Pinwheel: length 0.6: must be at most 0.5":              sample(data.Pinwheel{Length: 0.6}, 5),
		"Pinwheel: bend 2: must be at most 1":                    sample(data.Pinwheel{Bend: 2}, 5),
		"SCurve: noise -1: must be positive":                     sample(data.SCurve{Noise: -1}, 5),
		"Correlated: correlation 1: must be above -1 and below":  sample(data.Correlated{Correlation: 1}, 5),
		"Correlated: dim -1: must be from 1 to 1000":             data.Correlated{Dim: -1}.Validate(),
		"Clusters: modes 4: must be at most 3, the corners":      sample(data.Clusters{Dim: 2, Modes: 4}, 5),
		"Clusters: radius NaN: must be positive":                 data.Clusters{Radius: math.NaN()}.Validate(),
		"Clusters: 0 draws":                                      sample(data.Clusters{}, 0),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "data: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one that says %q", err, want)
		}
	}
	// In a graph the same errors arrive through the executable.
	for want, bad := range map[string]data.Toy{
		"Ring: modes 1":            data.Ring{Modes: 1},
		"TwoMoons: noise -1":       data.TwoMoons{Noise: -1},
		"SwissRoll: noise -1":      data.SwissRoll{Noise: -1},
		"Checkerboard: squares -2": data.Checkerboard{Squares: -2},
		"Grid: side -1":            data.Grid{Side: -1},
		"Circles: outer -1":        data.Circles{Outer: -1},
		"Spirals: arms -1":         data.Spirals{Arms: -1},
		"Pinwheel: arms 1":         data.Pinwheel{Arms: 1},
		"SCurve: noise -1":         data.SCurve{Noise: -1},
		"Correlated: dim -1":       data.Correlated{Dim: -1},
		"Clusters: modes 1":        data.Clusters{Modes: 1},
	} {
		_, err := graph.ExecOnce(testbackend.Go(t), func(g *graph.Graph) *data.Node { return bad.Batch(nil, random.Listed(g), 3) })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one that says %q", err, want)
		}
	}
}
