package random_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit/random"
)

// run executes a graph made from a source and returns its outputs as float64 and the state after it.
func run(t *testing.T, b backends.Backend, seed int64, steps int, f func(rng *random.Source) []*graph.Node) (values [][]float64, state *tensors.Tensor) {
	t.Helper()
	exec, err := graph.NewExec(b, func(state *graph.Node) []*graph.Node {
		rng := random.New(state, dtypes.Float32, steps)
		var out []*graph.Node
		for _, node := range f(rng) {
			out = append(out, graph.ConvertDType(node, dtypes.Float64))
		}
		return append(out, rng.State())
	})
	if err != nil {
		t.Fatal(err)
	}
	start, err := random.Seed(seed)
	if err != nil {
		t.Fatal(err)
	}
	got, err := exec.Exec(start)
	if err != nil {
		t.Fatal(err)
	}
	for _, tensor := range got[:len(got)-1] {
		values = append(values, tensors.MustCopyFlatData[float64](tensor))
	}
	return values, got[len(got)-1]
}

// TestMoments compares the first four moments of 300,000 draws with those of the distribution, to five standard errors:
// the mean of z^k has the standard error √((E z²ᵏ − (E zᵏ)²)/n). Neighbouring draws, and the two halves that Box–Muller
// makes from the same pair, must be uncorrelated: to five times 1/√n.
func TestMoments(t *testing.T) {
	const n = 300_000
	uniform := func(k int) float64 { // E (u − ½)^k
		if k%2 == 1 {
			return 0
		}
		return math.Pow(0.5, float64(k)) / float64(k+1)
	}
	normal := func(k int) float64 { // E z^k = (k−1)!!
		if k%2 == 1 {
			return 0
		}
		m := 1.0
		for i := 1; i < k; i += 2 {
			m *= float64(i)
		}
		return m
	}
	sign := func(k int) float64 { return float64(1 - k%2) }
	integer := func(k int) float64 { // E (i − 3)^k of 0…6
		m := 0.0
		for i := -3; i <= 3; i++ {
			m += math.Pow(float64(i), float64(k)) / 7
		}
		return m
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		values, _ := run(t, b, 11, 1, func(rng *random.Source) []*graph.Node {
			return []*graph.Node{rng.Uniform(n), rng.Normal(n/100, 100), rng.Rademacher(n), rng.Int(7, n)}
		})
		for i, c := range []struct {
			name   string
			centre float64
			moment func(k int) float64
		}{{"uniform", 0.5, uniform}, {"normal", 0, normal}, {"Rademacher", 0, sign}, {"integers", 3, integer}} {
			if len(values[i]) != n {
				t.Fatalf("%s: %d draws, want %d", c.name, len(values[i]), n)
			}
			for k := 1; k <= 4; k++ {
				mean := 0.0
				for _, v := range values[i] {
					mean += math.Pow(v-c.centre, float64(k)) / n
				}
				se := math.Sqrt((c.moment(2*k) - c.moment(k)*c.moment(k)) / n)
				// 10⁻⁶: float32 draws are rounded to about 6·10⁻⁸ of their size.
				if d := math.Abs(mean - c.moment(k)); !(d <= 5*se+1e-6) {
					t.Errorf("%s: moment %d is %g, want %g, standard error %g", c.name, k, mean, c.moment(k), se)
				}
			}
			for _, lag := range []int{1, n / 2} {
				product := 0.0
				for j := range n - lag {
					product += (values[i][j] - c.centre) * (values[i][j+lag] - c.centre) / c.moment(2)
				}
				if r := product / float64(n-lag); !(math.Abs(r) <= 5/math.Sqrt(float64(n-lag))) {
					t.Errorf("%s: correlation %g at distance %d", c.name, r, lag)
				}
			}
		}
		if low, high := slices.Min(values[0]), slices.Max(values[0]); low <= 0 || high >= 1 {
			t.Errorf("uniform draws from %g to %g, want inside (0, 1)", low, high)
		}
		for _, v := range values[2] {
			if v != 1 && v != -1 {
				t.Fatalf("Rademacher draw %g", v)
			}
		}
		if low, high := slices.Min(values[3]), slices.Max(values[3]); low != 0 || high != 6 {
			t.Errorf("integers from %g to %g, want 0 to 6", low, high)
		}
	})
}

// TestSteps checks that a source for three repetitions hands out different draws in each, the shapes asked for, and that
// the same seed repeats them while another seed, or the state after the run, does not.
func TestSteps(t *testing.T) {
	three := func(rng *random.Source) []*graph.Node {
		var out []*graph.Node
		for step := range 3 {
			if step > 0 {
				rng.Next()
			}
			out = append(out, rng.Normal(2, 5), rng.Uniform(3), rng.Rademacher(4, 1), rng.Int(1000, 6))
			if step == 2 {
				out = append(out, rng.Normal(7)) // not asked for before: drawn on its own
			}
		}
		return out
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		first, state := run(t, b, 5, 3, three)
		again, _ := run(t, b, 5, 3, three)
		other, _ := run(t, b, 6, 3, three)
		for i, size := range []int{10, 3, 4, 6, 10, 3, 4, 6, 10, 3, 4, 6, 7} {
			if len(first[i]) != size {
				t.Errorf("output %d holds %d numbers, want %d", i, len(first[i]), size)
			}
			if !slices.Equal(first[i], again[i]) {
				t.Errorf("output %d differs between runs of one seed", i)
			}
		}
		for _, i := range []int{0, 1, 3} { // four signs may agree by chance
			if slices.Equal(first[i], first[i+4]) || slices.Equal(first[i+4], first[i+8]) {
				t.Errorf("output %d is the same in two repetitions", i)
			}
			if slices.Equal(first[i], other[i]) {
				t.Errorf("output %d is the same for two seeds", i)
			}
		}
		start, err := random.Seed(5)
		if err != nil {
			t.Fatal(err)
		}
		if state.Equal(start) {
			t.Error("the state has not moved")
		}
	})
}

// TestListed checks that given values come out in order and in the shapes asked for.
func TestListed(t *testing.T) {
	b := testbackend.Go(t)
	exec, err := graph.NewExec(b, func(x, y *graph.Node) []*graph.Node {
		rng := random.Listed(x.Graph(), x, y)
		first := rng.Normal(2, 1)
		rng.Next()
		return []*graph.Node{first, rng.Uniform(3)}
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := exec.Exec([]float64{1, 2}, []float64{3, 4, 5})
	if err != nil {
		t.Fatal(err)
	}
	if !got[0].Equal(tensors.FromValue([][]float64{{1}, {2}})) || !got[1].Equal(tensors.FromValue([]float64{3, 4, 5})) {
		t.Errorf("got %v and %v", got[0], got[1])
	}
}

// TestErrors checks the errors for impossible requests.
func TestErrors(t *testing.T) {
	b := testbackend.Go(t)
	for want, f := range map[string]func(state *graph.Node){
		"steps 0: must be at least 1":          func(s *graph.Node) { random.New(s, dtypes.Float32, 0) },
		"dtype Int32: must be a float":         func(s *graph.Node) { random.New(s, dtypes.Int32, 1) },
		"n 0: must be from 1 to 2147483647":    func(s *graph.Node) { random.New(s, dtypes.Float32, 1).Int(0, 2) },
		"repetition 2 of a source made for 1":  func(s *graph.Node) { random.New(s, dtypes.Float32, 1).Next() },
		"after the listed values were used up": func(s *graph.Node) { random.Listed(s.Graph()).Normal(2) },
		"next listed value has shape [3]":      func(s *graph.Node) { random.Listed(s.Graph(), s).Normal(2) },
	} {
		exec, err := graph.NewExec(b, func(s *graph.Node) *graph.Node { f(s); return s })
		if err != nil {
			t.Fatal(err)
		}
		state, err := random.Seed(1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := exec.Exec(state); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v: must hold %q", err, want)
		}
	}
}
