package metric

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scorekit/lab/internal/numbers"
)

// Wasserstein holds the settings of the Wasserstein distance.
type Wasserstein struct {
	Order float64 // p, at least 1; 0 means 2
}

// Distance returns the Wasserstein distance of two finite sets of points, tensors [n, dims...] and [m, dims...] of any
// two sizes or rows as for [scorekit.Examples],
//
//	Wₚᵖ = min over π of Σᵢⱼ πᵢⱼ ‖xᵢ − yⱼ‖ᵖ,  Σⱼ πᵢⱼ = 1/n, Σᵢ πᵢⱼ = 1/m
//
// (Villani 2003): the cheapest way to carry one set to the other. It has the units of the data.
//
// Points on a line are sorted (Villani 2003, theorem 2.18); time then grows with n log n. In more dimensions the linear
// program is solved exactly, by shortest augmenting paths: its time grows with about n³, about a second for a thousand
// points, and its memory with n. ctx stops it. Between finite sets of draws from one distribution the distance falls
// only as n^(−1/d): for many points, or many dimensions, take [Sliced], or [Gaussian.W2].
//
// It returns an error for an order below 1, for an empty set, for sets of different dimensions, for values that are not
// finite, and in more than one dimension for an order so large that the power of every distance on the way is beyond
// float64. The units of the data do not matter.
func (w Wasserstein) Distance(ctx context.Context, a, b any) (float64, error) {
	order, err := orderOf(w.Order)
	if err != nil {
		return 0, fmt.Errorf("metric: Wasserstein: %w", err)
	}
	x, y, err := twoSets(a, b, 1, "")
	if err != nil {
		return 0, fmt.Errorf("metric: Wasserstein: %w", err)
	}
	if ctx == nil {
		return 0, fmt.Errorf("metric: Wasserstein: %w", errNoContext)
	}
	if ctx.Err() != nil {
		return 0, fmt.Errorf("metric: Wasserstein: %w", context.Cause(ctx))
	}
	x, y, e := inUnits(x, y)
	var distance float64
	if line := []float64{1}; len(x[0]) == 1 {
		distance = onLine(project(x, line), project(y, line), order)
	} else if distance, err = inSpace(ctx, x, y, order); err != nil {
		return 0, fmt.Errorf("metric: Wasserstein: %w", err)
	}
	distance = math.Ldexp(distance, e)
	if err := results(distance); err != nil {
		return 0, fmt.Errorf("metric: Wasserstein: %w", err)
	}
	return distance, nil
}

// inSpace is the distance in more than one dimension.
func inSpace(ctx context.Context, x, y [][]float64, order float64) (float64, error) {
	widest := math.Sqrt(float64(len(x[0]))) // no two points are further apart, see inUnits
	plan, err := transport(ctx, len(x), len(y), func(i, j int) float64 {
		squared := squaredDistance(x[i], y[j])
		if order == 2 {
			return squared
		}
		return power(math.Sqrt(squared)/widest, order)
	})
	if err != nil {
		return 0, err
	}
	farthest := 0.0
	distance := meanOfOrder(order, func(add func(gap, share float64)) {
		plan.each(func(i, j int, share float64) {
			gap := floats.Distance(x[i], y[j], 2)
			farthest = max(farthest, gap)
			add(gap, share)
		})
	})
	if farthest > 0 && power(farthest/widest, order) < 1e-280 {
		return 0, fmt.Errorf("order %v: the points are carried at most %.3g of the way across all of them, whose power is beyond float64: must be smaller", order, farthest)
	}
	return distance, nil
}

// load is how much is carried from a point.
type load struct{ from, amount int }

// transport returns the plan π of the least Σ πᵢⱼ cost(i, j) that carries 1/n from each i to a 1/m at each j. It counts
// in units of 1/lcm(n, m) and sends what each i has along shortest paths of the reduced costs cost(i, j) − u(i) − v(j),
// which stay at least 0, and are 0 wherever something is carried.
func transport(ctx context.Context, n, m int, cost func(i, j int) float64) (plan, error) {
	g := numbers.Divisor(n, m)
	p := plan{cost: cost, u: make([]float64, n), v: make([]float64, m), room: make([]int, m), loads: make([][]load, m)}
	for j := range p.room {
		p.room[j] = n / g
	}
	path := newPaths(n, m)
	for start := range n {
		for left := m / g; left > 0; {
			if ctx.Err() != nil {
				return plan{}, context.Cause(ctx)
			}
			end := path.find(p, start)
			path.settle(p, end)
			left -= path.carry(p, end, left)
		}
	}
	return p, nil
}

// plan is what is carried so far, and the prices that show it to be the cheapest.
type plan struct {
	cost  func(i, j int) float64
	u, v  []float64
	room  []int    // what still fits at each j
	loads [][]load // what is carried to each j
}

// each calls f with the shares πᵢⱼ that are not 0.
func (p plan) each(f func(i, j int, share float64)) {
	all := 0
	for _, loads := range p.loads {
		for _, l := range loads {
			all += l.amount
		}
	}
	for j, loads := range p.loads {
		for _, l := range loads {
			f(l.from, j, float64(l.amount)/float64(all))
		}
	}
}

func (p plan) at(i, j int) int {
	for _, l := range p.loads[j] {
		if l.from == i {
			return l.amount
		}
	}
	return 0
}

func (p plan) change(i, j, amount int) {
	for k, l := range p.loads[j] {
		if l.from == i {
			if p.loads[j][k].amount += amount; p.loads[j][k].amount == 0 {
				p.loads[j] = slices.Delete(p.loads[j], k, k+1)
			}
			return
		}
	}
	p.loads[j] = append(p.loads[j], load{i, amount})
}

// paths are the shortest paths from one i, by Dijkstra's algorithm. A path goes from an i to any j, and from a j back to
// an i that has something carried there.
type paths struct {
	near     []float64 // distance of each j
	from     []int     // the i before each j
	done     []bool    // whether near is final
	distance []float64 // of each i
	before   []int     // the j before each i, −1 at the start
	reached  []bool    // whether an i has a distance
}

func newPaths(n, m int) paths {
	return paths{make([]float64, m), make([]int, m), make([]bool, m), make([]float64, n), make([]int, n), make([]bool, n)}
}

// find returns the nearest j with room.
func (t paths) find(p plan, start int) (end int) {
	for j := range t.near {
		t.near[j] = math.Inf(1)
	}
	clear(t.done)
	clear(t.reached)
	t.visit(p, start, -1, 0)
	for {
		next := -1
		for j, near := range t.near {
			if !t.done[j] && (next < 0 || near < t.near[next]) {
				next = j
			}
		}
		t.done[next] = true
		if p.room[next] > 0 {
			return next
		}
		for _, l := range p.loads[next] {
			if !t.reached[l.from] {
				t.visit(p, l.from, next, t.near[next])
			}
		}
	}
}

func (t paths) visit(p plan, i, before int, distance float64) {
	t.reached[i], t.before[i], t.distance[i] = true, before, distance
	for j := range t.near {
		if !t.done[j] {
			if d := distance + max(0, p.cost(i, j)-p.u[i]-p.v[j]); d < t.near[j] { // below 0 by rounding only
				t.near[j], t.from[j] = d, i
			}
		}
	}
}

// settle changes the prices so that all reduced costs stay at least 0, and are 0 on the path to end.
func (t paths) settle(p plan, end int) {
	for i, reached := range t.reached {
		if reached {
			p.u[i] += t.near[end] - t.distance[i]
		}
	}
	for j, done := range t.done {
		if done {
			p.v[j] -= t.near[end] - t.near[j]
		}
	}
}

// carry sends as much as fits, at most left, along the path to end.
func (t paths) carry(p plan, end, left int) (amount int) {
	amount = min(left, p.room[end])
	for i := t.from[end]; t.before[i] >= 0; i = t.from[t.before[i]] {
		amount = min(amount, p.at(i, t.before[i]))
	}
	p.room[end] -= amount
	for j := end; j >= 0; {
		i := t.from[j]
		p.change(i, j, amount)
		if j = t.before[i]; j >= 0 {
			p.change(i, j, -amount)
		}
	}
	return amount
}
