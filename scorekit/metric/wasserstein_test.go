package metric

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/scorekit/lab/internal/numbers"
	"github.com/scorekit/lab/internal/testvalues"
)

// Sets on a line: closed forms, and the numbers of scipy (wasserstein_distance; energy_distance is √V) and POT
// (wasserstein_1d with p = 2, which takes no root). Laid out along a slanted line of the plane they need the linear
// program, which gives the same.
func TestWassersteinOnLine(t *testing.T) {
	var cases []struct {
		ID          string
		X, Y        [][]float64
		W1, Squared float64
		EnergyRoot  float64 `json:"energy_root"`
	}
	testvalues.Read(t, "line.json", &cases)
	slanted := func(rows [][]float64) [][]float64 {
		out := make([][]float64, len(rows))
		for i, r := range rows {
			out[i] = []float64{1 + 0.6*r[0], 2 - 0.8*r[0]}
		}
		return out
	}
	for _, c := range cases {
		testvalues.Case(t, c.ID, func(t *testing.T) {
			for _, form := range []struct{ order, want float64 }{{1, c.W1}, {2, math.Sqrt(c.Squared)}, {0, math.Sqrt(c.Squared)}} {
				got, err := Wasserstein{Order: form.order}.Distance(t.Context(), c.X, c.Y)
				if err != nil {
					t.Fatal(err)
				}
				testvalues.NearNumber(t, "distance", got, form.want, 1e-9)
				if got, err = (Wasserstein{Order: form.order}).Distance(t.Context(), slanted(c.X), slanted(c.Y)); err != nil {
					t.Fatal(err)
				}
				testvalues.NearNumber(t, "distance in the plane", got, form.want, 1e-9)
			}
			if c.EnergyRoot > 0 {
				got, err := Energy{}.Distance(t.Context(), c.X, c.Y)
				if err != nil {
					t.Fatal(err)
				}
				testvalues.NearNumber(t, "root of the energy distance", math.Sqrt(got.V), c.EnergyRoot, 1e-9)
			}
		})
	}
}

// Sets in three dimensions, of equal and unequal sizes: the optimal cost of POT's linear program (emd2, no root).
func TestWassersteinReference(t *testing.T) {
	var cases []struct {
		ID      string
		X, Y    [][]float64
		Squared float64
	}
	testvalues.Read(t, "transport.json", &cases)
	for _, c := range cases {
		testvalues.Case(t, c.ID, func(t *testing.T) {
			got, err := Wasserstein{}.Distance(t.Context(), c.X, c.Y)
			if err != nil {
				t.Fatal(err)
			}
			testvalues.NearNumber(t, "squared distance", got*got, c.Squared, 1e-9)
		})
	}
}

// For six points a side the cheapest of all 720 pairings is the distance. Points that are repeated change nothing.
func TestWassersteinByAllPairings(t *testing.T) {
	for seed := range uint64(20) {
		x, y := normal(2*seed, 6, 2), normal(2*seed+1, 6, 2)
		best := math.Inf(1)
		order := []int{0, 1, 2, 3, 4, 5}
		var try func(k int)
		try = func(k int) {
			if k == 6 {
				cost := 0.0
				for i, j := range order {
					cost += squaredDistance(x[i], y[j]) / 6
				}
				best = min(best, cost)
				return
			}
			for i := k; i < 6; i++ {
				order[k], order[i] = order[i], order[k]
				try(k + 1)
				order[k], order[i] = order[i], order[k]
			}
		}
		try(0)
		got, err := Wasserstein{}.Distance(t.Context(), x, y)
		if err != nil {
			t.Fatal(err)
		}
		testvalues.NearNumber(t, "squared distance", got*got, best, 1e-9)
		var twice [][]float64
		for range 2 {
			twice = append(twice, y...)
		}
		if got, err = (Wasserstein{}).Distance(t.Context(), x, twice); err != nil {
			t.Fatal(err)
		}
		testvalues.NearNumber(t, "squared distance from each point twice", got*got, best, 1e-9)
	}
}

// The cost of tables of whole numbers, of sets of equal and unequal sizes, is that found by another algorithm.
func TestTransportIsOptimal(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, size := range [][2]int{{1, 1}, {1, 7}, {7, 1}, {24, 36}, {19, 13}, {60, 60}} {
		n, m := size[0], size[1]
		costs := make([][]float64, n)
		for i := range costs {
			for range m {
				costs[i] = append(costs[i], float64(rng.IntN(1000)))
			}
		}
		plan, err := transport(t.Context(), n, m, func(i, j int) float64 { return costs[i][j] })
		if err != nil {
			t.Fatal(err)
		}
		got := 0.0
		plan.each(func(i, j int, share float64) { got += share * costs[i][j] })
		testvalues.NearNumber(t, "cost", got, auction(costs), 1e-9)
	}
}

// auction is the least cost by bidding, with ε-scaling, on the assignment of lcm(n, m) copies of both sets (Bertsekas
// 1988): it is exact for whole-number costs once ε < 1/size.
func auction(costs [][]float64) float64 {
	n, m := len(costs), len(costs[0])
	size := n / numbers.Divisor(n, m) * m
	at := func(i, j int) float64 { return costs[i*n/size][j*m/size] }
	price := make([]float64, size)
	owner := make([]int, size)
	for epsilon := 250.0; ; epsilon /= 5 {
		var waiting []int
		for i := range size {
			owner[i] = -1
			waiting = append(waiting, i)
		}
		for len(waiting) > 0 {
			i := waiting[len(waiting)-1]
			waiting = waiting[:len(waiting)-1]
			best, second, place := math.Inf(-1), math.Inf(-1), 0
			for j := range size {
				if gain := -at(i, j) - price[j]; gain > best {
					best, second, place = gain, best, j
				} else if gain > second {
					second = gain
				}
			}
			if size == 1 {
				second = best
			}
			price[place] += best - second + epsilon
			if owner[place] >= 0 {
				waiting = append(waiting, owner[place])
			}
			owner[place] = i
		}
		if epsilon < 1/float64(size+1) {
			break
		}
	}
	cost := 0.0
	for j, i := range owner {
		cost += at(i, j) / float64(size)
	}
	return cost
}
