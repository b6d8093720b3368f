package metric

import (
	"fmt"
	"math"
	"slices"

	"github.com/scorekit/lab/scorekit"
)

// Trace returns one coordinate of the chains over the states that [scorekit.Sample] kept: [draws][chains], the form that
// [RHat] and [EffectiveSampleSize] take. coordinate counts within one point, [dims...], row by row.
//
// It returns an error for no states, for a coordinate that the points do not have, and for states of different shapes.
func Trace(kept []scorekit.Snapshot, coordinate int) ([][]float64, error) {
	if len(kept) == 0 {
		return nil, fmt.Errorf("metric: Trace: no states: must be at least one (see scorekit.WithTrajectory)")
	}
	trace := make([][]float64, len(kept))
	for t, s := range kept {
		rows, err := scorekit.Rows(s.X)
		if err != nil {
			return nil, fmt.Errorf("metric: Trace: draw %d: %w", t, err)
		}
		if coordinate < 0 || coordinate >= len(rows[0]) {
			return nil, fmt.Errorf("metric: Trace: coordinate %d of points with %d: must be from 0 to %d", coordinate, len(rows[0]), len(rows[0])-1)
		}
		trace[t] = make([]float64, len(rows))
		for c, r := range rows {
			trace[t][c] = r[coordinate]
		}
		if len(trace[t]) != len(trace[0]) {
			return nil, fmt.Errorf("metric: Trace: draw %d of %d chains, draw 0 of %d: must be equal", t, len(trace[t]), len(trace[0]))
		}
	}
	return trace, nil
}

// halves cuts every chain of draws, [draws][chains], into its first and its second half, [2·chains][draws/2]: a chain that
// drifts then disagrees with itself. The middle draw of an odd number is left out.
func halves(draws [][]float64) ([][]float64, error) {
	if len(draws) < 4 {
		return nil, fmt.Errorf("%d draws: must be at least 4", len(draws))
	}
	chains, half := len(draws[0]), len(draws)/2
	if chains == 0 {
		return nil, fmt.Errorf("0 chains: must be at least 1")
	}
	for t, row := range draws {
		if len(row) != chains {
			return nil, fmt.Errorf("draw %d has %d chains, draw 0 has %d: must be equal", t, len(row), chains)
		}
		for c, v := range row {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("draw %d of chain %d is %v: every value must be finite", t, c, v)
			}
		}
	}
	out := make([][]float64, 0, 2*chains)
	least, largest := math.Inf(1), math.Inf(-1)
	for c := range chains {
		for _, from := range []int{0, len(draws) - half} {
			values := make([]float64, half)
			for t := range values {
				values[t] = draws[from+t][c]
			}
			least, largest = min(least, slices.Min(values)), max(largest, slices.Max(values))
			out = append(out, values)
		}
	}
	if least == largest {
		return nil, fmt.Errorf("every value of the halves is %v: there must be different ones", least)
	}
	// The squares of differences, and their sum, must be numbers.
	if gap := largest - least; !(gap > 1e-150 && gap < 1e150/float64(len(draws)*chains)) {
		return nil, fmt.Errorf("values from %v to %v: their squared differences are beyond float64: must be scaled", least, largest)
	}
	return out, nil
}

// spread returns the means of the chains, W, the mean of their variances (divisor n−1), and var⁺ = (n−1)/n·W plus the
// variance of the means, which estimates the variance of the target from above while the chains have not met (Gelman and
// Rubin 1992).
func spread(chains [][]float64) (means []float64, within, total float64) {
	n, m := float64(len(chains[0])), float64(len(chains))
	grand := 0.0
	for _, chain := range chains {
		mean, squares := 0.0, 0.0
		for _, v := range chain {
			mean += v / n
		}
		for _, v := range chain {
			squares += (v - mean) * (v - mean)
		}
		means, within, grand = append(means, mean), within+squares/(n-1)/m, grand+mean/m
	}
	between := 0.0
	for _, mean := range means {
		between += (mean - grand) * (mean - grand) / (m - 1)
	}
	return means, within, (n-1)/n*within + between
}
