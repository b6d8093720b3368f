package metric

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit/density"
)

// world is a random pair of sets and a random change of all points: of their order, by a shift and to another scale.
type world struct {
	x, y  [][]float64
	scale float64
	shift []float64
	rng   *rand.Rand
}

func worlds(t *testing.T, check func(t *testing.T, w world)) {
	for seed := range uint64(25) {
		rng := rand.New(rand.NewPCG(seed, 77))
		d := 1 + rng.IntN(5)
		w := world{scale: math.Exp(3 * rng.NormFloat64()), shift: make([]float64, d), rng: rng}
		for i := range w.shift {
			w.shift[i] = 10 * rng.NormFloat64()
		}
		w.x = normal(2*seed, 4+rng.IntN(30), d)
		w.y = moved(normal(2*seed+1, 4+rng.IntN(30), d), 1+rng.Float64(), make([]float64, d))
		check(t, w)
		if t.Failed() {
			t.Fatalf("world %d, %d and %d points of dimension %d, scale %v", seed, len(w.x), len(w.y), d, w.scale)
		}
	}
}

func (w world) shuffled(rows [][]float64) [][]float64 {
	out := make([][]float64, len(rows))
	for i, j := range w.rng.Perm(len(rows)) {
		out[i] = rows[j]
	}
	return out
}

// A change of order changes no metric between two sets, nor does a shift of both, nor changing the sets over. A scale
// changes it as its unit says, by scale^power. Every metric is 0 between a set and itself, and positive between two.
func TestSetsProperties(t *testing.T) {
	w2 := func(a, b [][]float64) float64 {
		p, err := GaussianOf(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		q, err := GaussianOf(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.W2(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	number := func(v float64, err error) float64 {
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	statistic := func(s Statistic, err error) float64 { return number(s.V, err) }
	type measure = func(a, b [][]float64) float64
	for name, m := range map[string]struct {
		of    measure
		power float64
		self  float64 // what rounding makes of the distance from itself, relative to that between the two
		root  measure // for which the triangle inequality holds; nil for the measure itself
	}{
		"MMD²": {
			func(a, b [][]float64) float64 { return statistic(MMD{}.Squared(t.Context(), a, b)) }, 0, 1e-12,
			func(a, b [][]float64) float64 {
				return math.Sqrt(statistic(MMD{Bandwidths: []float64{1}}.Squared(t.Context(), a, b)))
			},
		},
		"energy distance": {
			func(a, b [][]float64) float64 { return statistic(Energy{}.Distance(t.Context(), a, b)) }, 1, 1e-12,
			func(a, b [][]float64) float64 { return math.Sqrt(statistic(Energy{}.Distance(t.Context(), a, b))) },
		},
		"Wasserstein": {func(a, b [][]float64) float64 { return number(Wasserstein{}.Distance(t.Context(), a, b)) }, 1, 1e-12, nil},
		"W1":          {func(a, b [][]float64) float64 { return number(Wasserstein{Order: 1}.Distance(t.Context(), a, b)) }, 1, 1e-12, nil},
		"sliced":      {func(a, b [][]float64) float64 { return number(Sliced{Projections: 20}.Distance(t.Context(), a, b)) }, 1, 1e-12, nil},
		"Gaussian W2": {w2, 1, 1e-6, nil},
	} {
		t.Run(name, func(t *testing.T) {
			worlds(t, func(t *testing.T, w world) {
				got, zero := m.of(w.x, w.y), make([]float64, len(w.shift))
				if !(got > 0) {
					t.Errorf("distance %v", got)
				}
				if self := m.of(w.x, w.shuffled(w.x)); !(self >= 0 && self <= m.self*got) {
					t.Errorf("distance from itself %v, between the sets %v", self, got)
				}
				testvalues.NearNumber(t, "the other way round", m.of(w.y, w.x), got, 1e-9)
				testvalues.NearNumber(t, "in another order", m.of(w.shuffled(w.x), w.shuffled(w.y)), got, 1e-9)
				testvalues.NearNumber(t, "shifted", m.of(moved(w.x, 1, w.shift), moved(w.y, 1, w.shift)), got, 1e-9)
				testvalues.NearNumber(t, "scaled", m.of(moved(w.x, w.scale, zero), moved(w.y, w.scale, zero)), got*math.Pow(w.scale, m.power), 1e-9)
				root, third := m.root, moved(w.shuffled(w.x), 1.5, w.shift)
				if root == nil {
					root = m.of
				}
				if ab, bc, ac := root(w.x, w.y), root(w.y, third), root(w.x, third); ac > (ab+bc)*(1+1e-12) {
					t.Errorf("triangle: %v > %v + %v", ac, ab, bc)
				}
			})
		})
	}
}

// In other units, from 10^−300 to 10^300 of the data's, distances are as many times as large, to the digits that
// multiplying the points leaves them; so are the errors. The far coordinate, the same for all points, takes no part.
func TestUnits(t *testing.T) {
	x, y := normal(1, 12, 3), moved(normal(2, 9, 3), 1.5, []float64{1, 0, -1})
	measure := func(factor float64, axes int) map[string]float64 {
		in := func(rows [][]float64) [][]float64 {
			out := make([][]float64, len(rows))
			for i, r := range rows {
				for _, v := range r[:axes] {
					out[i] = append(out[i], factor*v)
				}
				if axes > 1 {
					out[i] = append(out[i], 1e300)
				}
			}
			return out
		}
		a, b, all := in(x), in(y), map[string]float64{}
		keep := func(name string, v float64, err error) {
			if err != nil {
				t.Fatalf("%s, times %v: %v", name, factor, err)
			}
			all[name] = v / factor
		}
		for _, order := range []float64{1, 2, 3, 40} {
			w, err := Wasserstein{Order: order}.Distance(t.Context(), a, b)
			keep(fmt.Sprintf("W%v", order), w, err)
			s, se, err := Sliced{Order: order, Projections: 15}.Estimate(t.Context(), a, b)
			keep(fmt.Sprintf("sliced W%v", order), s, err)
			if axes > 1 { // else all directions see the same, and only rounding is left
				keep(fmt.Sprintf("error of sliced W%v", order), se, err)
			}
			m, _, err := Sliced{Order: order, Projections: 15}.Max(t.Context(), a, b)
			keep(fmt.Sprintf("max-sliced W%v", order), m, err)
		}
		e, err := Energy{}.Distance(t.Context(), a, b)
		keep("energy distance", e.U, err)
		keep("error of the energy distance", e.StandardError, err)
		test, err := Energy{Permutations: 19}.Test(t.Context(), a, b)
		keep("energy test", test.V, err)
		keep("first split", test.Null[0], err)
		return all
	}
	for _, axes := range []int{1, 3} {
		want := measure(1, axes)
		for _, factor := range []float64{1e-300, 1e-200, 1e-80, 7, 1e80, 1e200, 1e300} {
			for name, got := range measure(factor, axes) {
				testvalues.NearNumber(t, fmt.Sprintf("%s on %d axes, times %v", name, axes, factor), got, want[name], 1e-9)
			}
		}
	}
	// A classifier does not care for units either.
	c, err := ClassifierTest{}.Test(t.Context(), moved(x, 1e-200, []float64{0, 0, 0}), moved(y, 1e-200, []float64{0, 0, 0}))
	if want, e := (ClassifierTest{}).Test(t.Context(), x, y); err != nil || e != nil || c != want {
		t.Errorf("classifier %+v, errors %v and %v, want %+v", c, err, e, want)
	}
	// The smallest numbers there are.
	tiny := math.SmallestNonzeroFloat64
	if got, err := (Wasserstein{}).Distance(t.Context(), [][]float64{{tiny}}, [][]float64{{3 * tiny}}); err != nil || got != 2*tiny {
		t.Errorf("distance %v, error %v, want %v", got, err, 2*tiny)
	}
	// And the largest, whose difference is none.
	if got, err := (Wasserstein{}).Distance(t.Context(), [][]float64{{-1.5e308}}, [][]float64{{1.5e308}}); err == nil {
		t.Errorf("distance %v, want an error", got)
	}
}

// With the order the distance tends to the widest gap: that of the sorted points on a line, and of the best plan in the
// plane, as long as its power is a number; then there is an error. The widest gap here is 0.3 of a side of 1.
func TestLargeOrders(t *testing.T) {
	a, b := [][]float64{{0}, {1}, {0.5}}, [][]float64{{0.1}, {0.7}, {0.6}}
	for _, order := range []float64{50, 1e3, 1e300} {
		got, err := Wasserstein{Order: order}.Distance(t.Context(), a, b)
		if err != nil {
			t.Fatal(err)
		}
		testvalues.NearNumber(t, "widest gap", got, 0.3*math.Pow(1.0/3, 1/order), 1e-9)
		if got, _, err = (Sliced{Order: order, Projections: 3}).Estimate(t.Context(), a, b); err != nil {
			t.Fatal(err)
		}
		testvalues.NearNumber(t, "widest gap, sliced", got, 0.3*math.Pow(1.0/3, 1/order), 1e-9)
	}
	plane := func(rows [][]float64) (out [][]float64) {
		for _, r := range rows {
			out = append(out, []float64{0.6 * r[0], 0.8 * r[0]})
		}
		return out
	}
	got, err := Wasserstein{Order: 100}.Distance(t.Context(), plane(a), plane(b))
	if err != nil {
		t.Fatal(err)
	}
	testvalues.NearNumber(t, "widest gap in the plane", got, 0.3*math.Pow(1.0/3, 0.01), 1e-9)
	const want = "metric: Wasserstein: order 1000: the points are carried at most 0.3 of the way across all of them, whose power is beyond float64: must be smaller"
	if got, err := (Wasserstein{Order: 1000}).Distance(t.Context(), plane(a), plane(b)); err == nil || err.Error() != want {
		t.Errorf("distance %v, error %v, want %s", got, err, want)
	}
}

// Between the distances there are inequalities: W1 ≤ W2; that of the means, then that of the moments (Gelbrich 1990) ≤
// W2; sliced ≤ max-sliced ≤ W2; and no direction that was tried is better than the maximum.
func TestOrderOfDistances(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		var w1, w2, sw, mw, g float64
		var err error
		at := func(v float64, e error) float64 {
			if e != nil {
				err = e
			}
			return v
		}
		w1 = at(Wasserstein{Order: 1}.Distance(t.Context(), w.x, w.y))
		w2 = at(Wasserstein{}.Distance(t.Context(), w.x, w.y))
		sw = at(Sliced{Projections: 30}.Distance(t.Context(), w.x, w.y))
		mw, v, e := Sliced{Projections: 30}.Max(t.Context(), w.x, w.y)
		at(mw, e)
		// The moments of the sets as they are, with the divisor n.
		moments := func(rows [][]float64) Gaussian {
			p, e := GaussianOf(t.Context(), rows)
			at(0, e)
			for _, row := range p.Cov {
				for j := range row {
					row[j] *= float64(len(rows)-1) / float64(len(rows))
				}
			}
			return p
		}
		p, q := moments(w.x), moments(w.y)
		g = at(p.W2(t.Context(), q))
		if err != nil {
			t.Fatal(err)
		}
		apart := math.Sqrt(squaredDistance(p.Mean, q.Mean))
		for _, pair := range [][2]float64{{w1, w2}, {apart, g}, {g, w2}, {sw, mw}, {mw, w2}} {
			if pair[0] > pair[1]*(1+1e-9) {
				t.Errorf("W1 %v, W2 %v, sliced %v, max-sliced %v, of the moments %v, of the means %v", w1, w2, sw, mw, g, apart)
			}
		}
		testvalues.NearNumber(t, "max-sliced on its direction", onLine(project(w.x, v), project(w.y, v), 2), mw, 1e-12)
	})
}

// The kernel Stein discrepancy, the Fisher divergence and its implicit form in other units, points and density alike:
// scores change by 1/scale, so that the squared ones change by scale^−2, and with IMQ by scale^−3. A shift of both and
// the order change nothing. The relative Fisher divergence has no unit.
func TestScoresProperties(t *testing.T) {
	b := testbackend.Go(t)
	worlds(t, func(t *testing.T, w world) {
		d := len(w.shift)
		zero := make([]float64, d)
		measure := func(points [][]float64, scale float64, shift []float64) []float64 {
			p, err := density.Isotropic(shift, scale)
			if err != nil {
				t.Fatal(err)
			}
			q, err := density.Isotropic(shift, 2*scale)
			if err != nil {
				t.Fatal(err)
			}
			var out []float64
			for _, kernel := range []Kernel{IMQ, RBF} {
				s, err := KernelStein{Kernel: kernel}.Squared(t.Context(), b, q, points)
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, s.U, s.V, s.StandardError)
			}
			f, err := FisherDivergence(t.Context(), b, p, q, points)
			if err != nil {
				t.Fatal(err)
			}
			j, _, err := ImplicitFisher{}.Estimate(t.Context(), b, q, points)
			if err != nil {
				t.Fatal(err)
			}
			return append(out, f.Divergence, j, f.Relative)
		}
		got := measure(w.x, 1, zero)
		testvalues.Near(t, "in another order", measure(w.shuffled(w.x), 1, zero), got, 1e-9)
		testvalues.Near(t, "shifted", measure(moved(w.x, 1, w.shift), 1, w.shift), got, 1e-9)
		scaled := measure(moved(w.x, w.scale, zero), w.scale, zero)
		for i, power := range []float64{-3, -3, -3, -2, -2, -2, -2, -2, 0} {
			testvalues.NearNumber(t, "scaled", scaled[i], got[i]*math.Pow(w.scale, power), 1e-9)
		}
	})
}
