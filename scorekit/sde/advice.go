package sde

import (
	"fmt"
	"math"
)

// Advice is a set of noise levels and a Langevin step for a data set: what [Advise] says.
type Advice struct {
	// SigmaMax is the largest distance between two data points: noise of that size lets a chain go from any of them to any
	// other (Song and Ermon 2020, technique 1).
	SigmaMax float64
	// SigmaMaxBound is what the largest distance can be at most. It is SigmaMax where all distances were taken; for large
	// data SigmaMax is a distance between two of the points, found by sweeps, and at most √3 times too small.
	SigmaMaxBound float64
	// SigmaMin is the smallest useful noise level: the median over points of the distance to the nearest other one, over
	// √d, so that noise moves a point as far as its neighbour is. At lower levels the data are separate points, and a score
	// learned there is that of the points and not of what they were drawn from. It is a rule of this package, in the manner
	// of nearest-neighbour bandwidths; a known resolution of the data, such as 1/255, may ask for less. Equal points do not
	// count as neighbours.
	SigmaMin float64
	// Neighbours is the number of points whose nearest neighbours were looked for: all, or as many as time allows, drawn
	// with the seed. The median then lies, 19 times in 20, between the quantiles ½ ± 1/√Neighbours of all of them.
	Neighbours int
	// SigmaData is the root mean square of all coordinates, σ_data of Karras et al. (2022) and DataStd of net.NoiseMLP.
	SigmaData float64
	// Levels is the number of geometric levels from SigmaMax to SigmaMin: see [LevelCount].
	Levels int
	// StepSize is the step of sampler.AnnealedLangevin for those levels and 5 steps at each: see [LangevinStep].
	StepSize float64
}

// stepsPerLevel is that of Song and Ermon (2020, §4) for all of their data.
const stepsPerLevel = 5

// budget is how many coordinates of differences Advise takes for each of its two questions: about a second's work.
const budget = 1_000_000_000

// Advise suggests noise levels for data, one point a row, and a step for annealed Langevin dynamics. Distances are in the
// units of the data. All pairs are looked at where the squared number of points times dimensions is at most 10⁹; beyond
// that see SigmaMaxBound and Neighbours. The same data and seed give the same advice.
//
// It returns an error unless there are two different points, of one length and finite.
func Advise(data [][]float64, seed int64) (Advice, error) { return advise(data, seed, budget) }

func advise(data [][]float64, seed int64, budget int) (Advice, error) {
	if err := checkData(data); err != nil {
		return Advice{}, fmt.Errorf("sde: Advise: %w", err)
	}
	n, d := len(data), len(data[0])
	var a Advice
	squares := 0.0
	for _, row := range data {
		for _, v := range row {
			squares += v * v / float64(n*d)
		}
	}
	a.SigmaData = math.Sqrt(squares)
	queries := indexed(n)
	if budget/d/n < n { // n²d > budget, without overflow
		queries = drawn(n, min(n, max(100, budget/d/n)), seed)
		a.SigmaMax, a.SigmaMaxBound = sweep(data)
	} else {
		a.SigmaMax = diameter(data)
		a.SigmaMaxBound = a.SigmaMax
	}
	if !(a.SigmaMax > 0) {
		return Advice{}, fmt.Errorf("sde: Advise: all %d points are the same: two must differ", n)
	}
	a.Neighbours = len(queries)
	a.SigmaMin = medianNeighbour(data, queries) / math.Sqrt(float64(d))
	if math.IsInf(a.SigmaMax, 0) || math.IsInf(a.SigmaData, 0) {
		return Advice{}, fmt.Errorf("sde: Advise: distances of the points overflow: scale the data")
	}
	if a.SigmaMin >= a.SigmaMax { // two points in one dimension are their own neighbours
		a.SigmaMin = a.SigmaMax / 2
	}
	var err error
	if a.Levels, err = LevelCount(a.SigmaMax, a.SigmaMin, d); err != nil {
		return Advice{}, err
	}
	sigmas, err := GeometricSigmas(a.SigmaMax, a.SigmaMin, a.Levels)
	if err != nil {
		return Advice{}, err
	}
	a.StepSize, err = LangevinStep(sigmas, stepsPerLevel)
	return a, err
}

func checkData(data [][]float64) error {
	if len(data) < 2 || len(data[0]) == 0 {
		return fmt.Errorf("%d points: there must be at least 2, with at least one coordinate", len(data))
	}
	for i, row := range data {
		if len(row) != len(data[0]) {
			return fmt.Errorf("data[%d] has %d coordinates, data[0] has %d: must be as many", i, len(row), len(data[0]))
		}
		for j, v := range row {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("data[%d][%d] = %v: must be finite", i, j, v)
			}
		}
	}
	return nil
}

// LevelRatio returns the ratio γ of neighbouring noise levels in d dimensions at which half of the noise of one level lies
// where the other, too, is found,
//
//	Φ(√(2d)(γ−1) + 3γ) − Φ(√(2d)(γ−1) − 3γ) = ½
//
// (Song and Ermon 2020, technique 2). The rule is derived for many dimensions, where noise lies on a thin shell: below 5
// it has no solution, as any two levels overlap, and below 18 it allows more than 2. The ratio returned is at most 2. It
// returns an error unless d ≥ 1.
func LevelRatio(d int) (float64, error) {
	if d < 1 {
		return 0, fmt.Errorf("sde: LevelRatio: %d dimensions: must be at least 1", d)
	}
	root := math.Sqrt(2 * float64(d))
	overlap := func(excess float64) float64 { // excess is γ − 1
		centre, width := root*excess, 3*(1+excess)
		return (math.Erf((centre+width)/math.Sqrt2) - math.Erf((centre-width)/math.Sqrt2)) / 2
	}
	low, high := 0.0, 1.0
	if overlap(high) >= 0.5 {
		return 2, nil
	}
	for range 60 {
		if mid := (low + high) / 2; overlap(mid) > 0.5 {
			low = mid
		} else {
			high = mid
		}
	}
	return 1 + high, nil
}

// LevelCount returns the number of geometric levels from high to low, both included, whose ratio is closest to but at most
// [LevelRatio] for d dimensions: at least 2. It returns an error unless high > low > 0 and d ≥ 1.
func LevelCount(high, low float64, d int) (int, error) {
	if err := checkSigmas("LevelCount", high, low, 1, 1); err != nil {
		return 0, err
	}
	gamma, err := LevelRatio(d)
	if err != nil {
		return 0, err
	}
	return 1 + max(1, int(math.Ceil(math.Log(high/low)/math.Log(gamma)*(1-1e-12)))), nil
}

// LangevinStep returns the StepSize of sampler.AnnealedLangevin for geometric levels, falling, with the given number of
// steps at each. With e = StepSize/(2σ_L²), which is the same at every level, T steps at a level take the variance of
// chains on noise of that level from γ² times its own, γ the ratio of levels, to
//
//	(1−e)^{2T} (γ² − c) + c,  c = 2e/(1 − (1−e)²) = 1/(1 − e/2)
//
// times its own, and e is chosen to bring that closest to 1 (Song and Ermon 2020, technique 4; their ε is half of
// StepSize). It returns an error unless there are two levels at least, falling by the same ratio to 1 part in 10³,
// positive, and steps ≥ 1.
func LangevinStep(sigmas []float64, steps int) (float64, error) {
	if len(sigmas) < 2 {
		return 0, fmt.Errorf("sde: LangevinStep: %d levels: must be at least 2", len(sigmas))
	}
	if steps < 1 {
		return 0, fmt.Errorf("sde: LangevinStep: %d steps at each level: must be at least 1", steps)
	}
	gamma := sigmas[0] / sigmas[1]
	for i, s := range sigmas {
		if !(s > 0) || math.IsInf(s, 0) || i > 0 && !(sigmas[i-1] > s) {
			return 0, fmt.Errorf("sde: LangevinStep: sigmas[%d] = %v: must be positive, finite and below the one before it", i, s)
		}
		if i > 0 && math.Abs(sigmas[i-1]/s-gamma) > 1e-3*gamma {
			return 0, fmt.Errorf("sde: LangevinStep: sigmas[%d] = %v: the ratio to the one before it, %v, must be that of the first two, %v", i, s, sigmas[i-1]/s, gamma)
		}
	}
	// The variance is above 1 for every e. Its least value is looked for on a fine grid of ln e first, and then by golden
	// section between the neighbours of the best point.
	excess := func(logE float64) float64 {
		e := math.Exp(logE)
		c := 1 / (1 - e/2)
		return math.Pow(1-e, 2*float64(steps))*(gamma*gamma-c) + c
	}
	const points, least = 2000, -25.0
	best := 1
	for i := 1; i < points; i++ {
		if excess(least*float64(i)/points) < excess(least*float64(best)/points) {
			best = i
		}
	}
	low, high := least*float64(best+1)/points, least*float64(best-1)/points
	golden := (math.Sqrt(5) - 1) / 2
	for range 80 {
		left, right := high-golden*(high-low), low+golden*(high-low)
		if excess(left) < excess(right) {
			high = right
		} else {
			low = left
		}
	}
	last := sigmas[len(sigmas)-1]
	return 2 * math.Exp((low+high)/2) * last * last, nil
}
