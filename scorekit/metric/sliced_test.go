package metric

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/internal/testvalues"
)

// The costs on each listed direction, their mean and their maximum equal recorded ones: closed forms for sets of equal
// size, and the numbers of POT (ot.sliced_wasserstein_distance and ot.max_sliced_wasserstein_distance, p = 1 and 2) for
// equal and unequal ones. POT's definitions are the ones here, without any factor between.
func TestSlicedReference(t *testing.T) {
	var cases []struct {
		ID               string
		X, Y, Directions [][]float64
		Forms            []struct {
			Order, Sliced, Max float64
			Costs              []float64
		}
	}
	testvalues.Read(t, "sliced.json", &cases)
	for _, c := range cases {
		testvalues.Case(t, c.ID, func(t *testing.T) {
			for _, f := range c.Forms {
				for i, v := range c.Directions {
					testvalues.NearNumber(t, "cost", math.Pow(onLine(project(c.X, v), project(c.Y, v), f.Order), f.Order), f.Costs[i], 1e-9)
				}
				testvalues.NearNumber(t, "sliced distance", along(t, c.X, c.Y, c.Directions, f.Order), f.Sliced, 1e-9)
				testvalues.NearNumber(t, "sliced distance, the other way round", along(t, c.Y, c.X, c.Directions, f.Order), f.Sliced, 1e-9)
				if f.Max > 0 {
					best, _, err := largest(t.Context(), c.X, c.Y, c.Directions, f.Order)
					if err != nil {
						t.Fatal(err)
					}
					testvalues.NearNumber(t, "max-sliced distance", best, f.Max, 1e-9)
				}
			}
		})
	}
}

// along is the sliced distance on given directions.
func along(t *testing.T, x, y, directions [][]float64, order float64) float64 {
	t.Helper()
	each, err := distances(t.Context(), x, y, directions, order)
	if err != nil {
		t.Fatal(err)
	}
	return alongAll(each, order)
}

// normal returns n draws from N(0, I) in d dimensions.
func normal(seed uint64, n, d int) [][]float64 {
	rng := rand.New(rand.NewPCG(seed, 0))
	rows := make([][]float64, n)
	for i := range rows {
		for range d {
			rows[i] = append(rows[i], rng.NormFloat64())
		}
	}
	return rows
}

func distance(t *testing.T, s Sliced, a, b [][]float64) float64 {
	t.Helper()
	got, err := s.Distance(t.Context(), tensors.FromValue(a), tensors.FromValue(b))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// Sets of 12 and 20 points are compared with both brought to 60 points by repeating each 5 and 3 times, which changes
// neither distribution, and on which the sorted values pair up.
func TestUnequalSizes(t *testing.T) {
	repeat := func(rows [][]float64, times int) [][]float64 {
		var out [][]float64
		for _, r := range rows {
			for range times {
				out = append(out, r)
			}
		}
		return out
	}
	a, b := normal(1, 12, 3), normal(2, 20, 3)
	for _, v := range (Sliced{Projections: 5}).directions(3) {
		p, q := project(repeat(a, 5), v), project(repeat(b, 3), v)
		want := 0.0
		for i := range p {
			want += (p[i] - q[i]) * (p[i] - q[i]) / 60
		}
		testvalues.NearNumber(t, "squared distance", math.Pow(onLine(project(a, v), project(b, v), 2), 2), want, 1e-12)
	}
	one := [][]float64{{1, 0, 0}}
	testvalues.NearNumber(t, "distance of two points", along(t, one, [][]float64{{4, 0, 0}}, [][]float64{{1, 0, 0}}, 2), 3, 1e-15)
}

func TestSlicedIsADistance(t *testing.T) {
	a, b := normal(3, 40, 2), normal(4, 70, 2)
	s := Sliced{Seed: 9}
	if got := distance(t, s, a, a); got != 0 {
		t.Errorf("a set is %v from itself", got)
	}
	shuffled := slices.Clone(a)
	slices.Reverse(shuffled)
	if got := distance(t, s, a, shuffled); got != 0 {
		t.Errorf("a set is %v from itself in another order", got)
	}
	testvalues.NearNumber(t, "the other way round", distance(t, s, b, a), distance(t, s, a, b), 1e-12)
	if one, other := distance(t, s, a, b), distance(t, Sliced{Seed: 10}, a, b); one == other || one != distance(t, s, a, b) {
		t.Errorf("distance %v with seed 9, %v with seed 10: the seed must choose the directions", one, other)
	}
	// An image is the same point as its flattened self.
	images := func(rows [][]float64) *tensors.Tensor {
		return tensors.FromFlatDataAndDimensions(slices.Concat(rows...), len(rows)/2, 2, 2, 1)
	}
	var wideA, wideB [][]float64
	for i := 0; i < len(a); i += 2 {
		wideA = append(wideA, slices.Concat(a[i], a[i+1]))
	}
	for i := 0; i < len(b); i += 2 {
		wideB = append(wideB, slices.Concat(b[i], b[i+1]))
	}
	got, err := s.Distance(t.Context(), images(a), images(b))
	if err != nil || got != distance(t, s, wideA, wideB) {
		t.Errorf("images: distance %v, error %v, want %v", got, err, distance(t, s, wideA, wideB))
	}
}

// A shift by c moves every projection by ⟨v, c⟩, with E⟨v, c⟩² = ‖c‖²/d and, over the sphere, the variance
// ‖c‖⁴ (3/(d(d+2)) − 1/d²). In one dimension there is nothing to average over. 5 standard errors are allowed.
func TestShift(t *testing.T) {
	const projections = 4000
	for _, d := range []int{1, 2, 5} {
		a := normal(5, 30, d)
		b := make([][]float64, len(a))
		length := 0.0
		for j := range d {
			c := 1.5 - float64(j)
			length += c * c
			for i := range a {
				b[i] = append(b[i], a[i][j]+c)
			}
		}
		n := float64(d)
		squared := math.Pow(distance(t, Sliced{Projections: projections, Seed: 1}, a, b), 2)
		se := length * math.Sqrt((3/(n*(n+2))-1/(n*n))/projections)
		if gap := math.Abs(squared - length/n); !(gap <= 5*se+1e-12) {
			t.Errorf("d = %d: squared distance %v ± %v, want %v", d, squared, se, length/n)
		}
	}
}

// Over 400 choices of 40 directions the distance scatters as its standard error says, for every order: the variance of
// 400 near-normal numbers is known to √(2/400) = 7 %, and 3 of these are allowed.
func TestStandardErrorOfSliced(t *testing.T) {
	const sets = 400
	a, b := normal(1, 20, 3), moved(normal(2, 30, 3), 1, []float64{1, 0, 0})
	for _, order := range []float64{1, 2, 3} {
		var values, claimed []float64
		for seed := range int64(sets) {
			distance, se, err := Sliced{Projections: 40, Order: order, Seed: seed}.Estimate(t.Context(), a, b)
			if err != nil {
				t.Fatal(err)
			}
			values, claimed = append(values, distance), append(claimed, se*se)
		}
		_, se := meanAndError(values)
		testvalues.NearNumber(t, "mean square of the standard error", mean(claimed), se*se*sets, 0.21)
	}
}

// Directions v have length 1 and E vvᵀ = I/d; each entry of the mean over n of them has the variance of vᵢvⱼ,
// 1/(d(d+2)) off the diagonal and 3/(d(d+2)) − 1/d² on it, over n. 5 standard errors are allowed.
func TestDirections(t *testing.T) {
	const n, d = 20000, 3
	var mean [d][d]float64
	for _, v := range (Sliced{Projections: n}).directions(d) {
		length := 0.0
		for i := range d {
			length += v[i] * v[i]
			for j := range d {
				mean[i][j] += v[i] * v[j] / n
			}
		}
		testvalues.NearNumber(t, "length of a direction", length, 1, 1e-12)
	}
	for i := range d {
		for j := range d {
			want, variance := 0.0, 1.0/(d*(d+2))
			if i == j {
				want, variance = 1.0/d, 3.0/(d*(d+2))-1.0/(d*d)
			}
			if gap := math.Abs(mean[i][j] - want); !(gap <= 5*math.Sqrt(variance/n)) {
				t.Errorf("mean of v%dv%d = %v, want %v", i, j, mean[i][j], want)
			}
		}
	}
	if got := len(Sliced{}.directions(2)); got != 256 {
		t.Errorf("%d directions by default, want 256", got)
	}
}

func TestSlicedErrors(t *testing.T) {
	good := tensors.FromValue([][]float64{{1, 2}, {3, 4}})
	for _, test := range []struct {
		s    Sliced
		a, b *tensors.Tensor
		want string
	}{
		{Sliced{Projections: -1}, good, good, "metric: sliced Wasserstein: -1 projections: must be positive, or 0 for 256"},
		{Sliced{}, good, tensors.FromValue([][]float64{{1}}), "metric: sliced Wasserstein: points of dimension 2 and 1: must be equal"},
		{Sliced{}, good, tensors.FromValue([][]float64{{1, 2}, {math.NaN(), 4}}), "metric: sliced Wasserstein: second set: points: row 1, column 0 is NaN: every value must be finite (rows and columns count from 0)"},
		{Sliced{}, tensors.FromValue([][]float64{{1, math.Inf(-1)}}), good, "metric: sliced Wasserstein: first set: points: row 0, column 1 is -Inf: every value must be finite (rows and columns count from 0)"},
		{Sliced{}, nil, good, "metric: sliced Wasserstein: first set: points: the tensor is nil or was finalized"},
		{Sliced{}, good, tensors.FromValue([]float64{1, 2}), "metric: sliced Wasserstein: second set: points of shape [2]: must be [examples, dims...]"},
	} {
		if _, err := test.s.Distance(t.Context(), test.a, test.b); err == nil || err.Error() != test.want {
			t.Errorf("error %v, want %s", err, test.want)
		}
	}
}
