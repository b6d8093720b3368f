package metric

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/gomlx/gomlx/backends"

	"github.com/scorekit/lab/scorekit"
)

// Kernel is a function of the distance r of two points, with a scale c.
type Kernel int

const (
	// IMQ is the inverse multiquadric, (c² + r²)^(−1/2). Its discrepancy tends to 0 only if the points tend to the
	// distribution, in every dimension (Gorham and Mackey 2017).
	IMQ Kernel = iota
	// RBF is the Gaussian kernel, exp(−r²/(2c²)). From 3 dimensions on its discrepancy can tend to 0 for points that
	// escape to infinity.
	RBF
)

// String returns the name of the kernel.
func (k Kernel) String() string {
	switch k {
	case IMQ:
		return "IMQ"
	case RBF:
		return "RBF"
	}
	return fmt.Sprintf("Kernel(%d)", int(k))
}

// of returns k at r² = ‖x−y‖² and the factor of x − y in ∇ₓk.
func (k Kernel) of(squared, c float64) (value, slope float64) {
	if k == RBF {
		value = math.Exp(-squared / (2 * c * c))
		return value, -value / (c * c)
	}
	q := c*c + squared
	value = 1 / math.Sqrt(q)
	return value, -value / q
}

// KernelStein holds the settings of the kernel Stein discrepancy.
type KernelStein struct {
	Kernel Kernel  // zero value: IMQ
	Scale  float64 // c, in the units of the data; 0 means the median distance of the points (see [MedianDistance])
	Draws  int     // bootstrap draws of [KernelStein.Test]; 0 means 499
	Seed   int64   // of the bootstrap
}

// Squared returns the squared kernel Stein discrepancy of points, a tensor [n, dims...] or rows as for
// [scorekit.Examples], from the distribution with the score s of model:
//
//	KSD² = E u(x, x′),  u(x, y) = s(x)·s(y) k + s(x)·∇_y k + s(y)·∇ₓ k + tr ∇ₓ∇_y k
//
// (Liu, Lee and Jordan 2016; Chwialkowski et al. 2016). It needs no draws from that distribution and no normalising
// constant. It has the unit of a squared score times that of k, 1 for RBF and 1/length for IMQ. The discrepancy itself is
// √V. Like every metric that sees a distribution through its score it hardly sees the masses of modes that are far apart.
//
// sigma is the noise level for the score: none, one, or one for each point. Every pair of points is visited once and no
// matrix is stored: time grows with n², memory with n. ctx stops it.
//
// It returns an error for an unknown kernel, a negative scale, fewer than 3 points, a score or a point that is not
// finite, and those of [scorekit.Evaluate].
func (k KernelStein) Squared(ctx context.Context, backend backends.Backend, model scorekit.Model, points any, sigma ...float64) (Statistic, error) {
	s, err := k.prepare(ctx, backend, model, points, sigma)
	if err != nil {
		return Statistic{}, fmt.Errorf("metric: kernel Stein discrepancy: %w", err)
	}
	sums, err := sumPairs(ctx, len(s.points), len(s.points), s.pairs, nil)
	if err != nil {
		return Statistic{}, fmt.Errorf("metric: kernel Stein discrepancy: %w", err)
	}
	out := s.of(sums)
	if err := out.check(); err != nil {
		return Statistic{}, fmt.Errorf("metric: kernel Stein discrepancy: %w", err)
	}
	return out, nil
}

// Test tests whether points are independent draws from the distribution with the score of model, by the wild bootstrap:
// U is compared with
//
//	1/(n(n−1)) Σ_{i≠j} wᵢ wⱼ u(xᵢ, xⱼ),  w independent ±1
//
// (Chwialkowski et al. 2016; with V in place of U the p-value is the same, since wᵢ² = 1). For many points from the
// distribution the p-value is below α with probability α. Thin a chain until its points are independent; those of one
// that moves slowly are rejected too often.
//
// Time grows with n²·Draws, memory with n·Draws bytes. Arguments and errors are those of [KernelStein.Squared], with an
// error for a negative number of draws.
func (k KernelStein) Test(ctx context.Context, backend backends.Backend, model scorekit.Model, points any, sigma ...float64) (TestResult, error) {
	s, err := k.prepare(ctx, backend, model, points, sigma)
	if err != nil {
		return TestResult{}, fmt.Errorf("metric: kernel Stein test: %w", err)
	}
	out, err := s.test(ctx, k.Draws, k.Seed)
	if err != nil {
		return TestResult{}, fmt.Errorf("metric: kernel Stein test: %w", err)
	}
	return out, nil
}

func (k KernelStein) prepare(ctx context.Context, backend backends.Backend, model scorekit.Model, points any, sigma []float64) (stein, error) {
	if k.Kernel != IMQ && k.Kernel != RBF {
		return stein{}, fmt.Errorf("kernel %d: must be IMQ or RBF", int(k.Kernel))
	}
	if k.Scale != 0 && !usable(k.Scale) {
		return stein{}, fmt.Errorf("scale %v: must be positive and its square finite, or 0 for the median distance", k.Scale)
	}
	x, err := rowsOf(points)
	if err != nil {
		return stein{}, err
	}
	if len(x) < 3 {
		return stein{}, fmt.Errorf("%d points: must be at least 3, for the standard error", len(x))
	}
	c := k.Scale
	if c == 0 {
		if c, err = medianDistance(x); err != nil {
			return stein{}, err
		}
	}
	s, err := scoreRows(ctx, backend, model, points, sigma)
	if err != nil {
		return stein{}, err
	}
	return stein{k.Kernel, c, x, s}, nil
}

// stein is the Stein kernel u of points with their scores.
type stein struct {
	kernel         Kernel
	scale          float64
	points, scores [][]float64
}

// at returns u(xᵢ, xⱼ).
func (s stein) at(i, j int) float64 {
	x, y, a, b := s.points[i], s.points[j], s.scores[i], s.scores[j]
	y, a, b = y[:len(x)], a[:len(x)], b[:len(x)]
	var squared, product, slope float64 // ‖x−y‖², s(x)·s(y), (s(x)−s(y))·(x−y)
	for l := range x {
		r := x[l] - y[l]
		squared += r * r
		product += a[l] * b[l]
		slope += (a[l] - b[l]) * r
	}
	d, c2 := float64(len(x)), s.scale*s.scale
	if s.kernel == RBF {
		return math.Exp(-squared/(2*c2)) * (product + (slope+d-squared/c2)/c2)
	}
	q := c2 + squared
	return (product + (slope+d-3*squared/q)/q) / math.Sqrt(q)
}

func (s stein) pairs(i, from, to int, out []float64) {
	for j := from; j < to; j++ {
		out[j-from] = s.at(i, j)
	}
}

func (s stein) of(sums pairSums) Statistic {
	diagonal := 0.0
	for i := range s.points {
		diagonal += s.at(i, i)
	}
	return ofPairs(sums.first, diagonal)
}

func (s stein) test(ctx context.Context, count int, seed int64) (TestResult, error) {
	count, err := draws("draws", count)
	if err != nil {
		return TestResult{}, err
	}
	n := len(s.points)
	signs := make([][]int8, n) // column 0 is the statistic as it is
	rng := rand.New(rand.NewPCG(uint64(seed), 0x57e1))
	for i := range signs {
		signs[i] = make([]int8, 1+count)
		signs[i][0] = 1
		for c := range count {
			signs[i][1+c] = int8(2*rng.IntN(2) - 1)
		}
	}
	sums, err := sumPairs(ctx, n, n, s.pairs, signs)
	if err != nil {
		return TestResult{}, err
	}
	values := make([]float64, 1+count)
	for c, form := range sums.forms {
		values[c] = form / (float64(n) * float64(n-1))
	}
	out := s.of(sums)
	return newTestResult(out, values[0], values[1:], 1e-12*out.V), out.check()
}
