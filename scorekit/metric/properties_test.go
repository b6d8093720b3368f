package metric

import (
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
		p, err := GaussianOf(a)
		if err != nil {
			t.Fatal(err)
		}
		q, err := GaussianOf(b)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.W2(q)
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
		"sliced":      {func(a, b [][]float64) float64 { return number(Sliced{Projections: 20}.Distance(a, b)) }, 1, 1e-12, nil},
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
		sw = at(Sliced{Projections: 30}.Distance(w.x, w.y))
		mw, v, e := Sliced{Projections: 30}.Max(w.x, w.y)
		at(mw, e)
		// The moments of the sets as they are, with the divisor n.
		moments := func(rows [][]float64) Gaussian {
			p, e := GaussianOf(rows)
			at(0, e)
			for _, row := range p.Cov {
				for j := range row {
					row[j] *= float64(len(rows)-1) / float64(len(rows))
				}
			}
			return p
		}
		p, q := moments(w.x), moments(w.y)
		g = at(p.W2(q))
		if err != nil {
			t.Fatal(err)
		}
		apart := math.Sqrt(squaredDistance(p.Mean, q.Mean))
		for _, pair := range [][2]float64{{w1, w2}, {apart, g}, {g, w2}, {sw, mw}, {mw, w2}} {
			if pair[0] > pair[1]*(1+1e-9) {
				t.Errorf("W1 %v, W2 %v, sliced %v, max-sliced %v, of the moments %v, of the means %v", w1, w2, sw, mw, g, apart)
			}
		}
		testvalues.NearNumber(t, "max-sliced on its direction", math.Sqrt(wasserstein(project(w.x, v), project(w.y, v), 2)), mw, 1e-12)
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
			f, err := FisherDivergence(b, p, q, points)
			if err != nil {
				t.Fatal(err)
			}
			j, _, err := ImplicitFisher{}.Estimate(b, q, points)
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
