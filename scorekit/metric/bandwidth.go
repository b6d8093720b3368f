package metric

import (
	"fmt"
	"math"
	"slices"
)

// MedianDistance returns the median of ‖x−x′‖ over the pairs of different points of all sets together: the usual
// bandwidth for kernels ("median heuristic", Gretton et al. 2012, section 8). Beyond 1000 points it is that of
// 1000 of them, every n/1000-th in lexical order, so that neither the order of the points nor the set that a point is in
// matters.
//
// Each set is a tensor [n, dims...] or rows as for [scorekit.Examples]. It returns an error for fewer than 2 points, for
// sets of different dimensions, for values that are not finite, and if the median is 0: half of the pairs are equal then.
func MedianDistance(sets ...any) (float64, error) {
	var all [][]float64
	for i, set := range sets {
		rows, err := rowsOf(set)
		if err != nil {
			return 0, fmt.Errorf("metric: median distance: set %d: %w", i, err)
		}
		if len(all) > 0 && len(rows[0]) != len(all[0]) {
			return 0, fmt.Errorf("metric: median distance: points of dimension %d and %d: must be equal", len(all[0]), len(rows[0]))
		}
		all = append(all, rows...)
	}
	if len(all) < 2 {
		return 0, fmt.Errorf("metric: median distance: %d points: must be at least 2", len(all))
	}
	h, err := medianDistance(all)
	if err != nil {
		return 0, fmt.Errorf("metric: median distance: %w", err)
	}
	return h, nil
}

func medianDistance(points [][]float64) (float64, error) {
	const most = 1000
	if n := len(points); n > most {
		sorted := slices.Clone(points)
		slices.SortFunc(sorted, slices.Compare)
		points = make([][]float64, most)
		for i := range points {
			points[i] = sorted[i*n/most]
		}
	}
	var distances []float64
	for i, x := range points {
		for _, y := range points[:i] {
			distances = append(distances, math.Sqrt(squaredDistance(x, y)))
		}
	}
	h := median(distances)
	if !usable(h) {
		return 0, fmt.Errorf("the median of the distances between points is %v: must be positive and its square finite; give a bandwidth", h)
	}
	return h, nil
}

// usable tells whether one can divide by h².
func usable(h float64) bool { return h > 0 && h*h > 0 && finite(h*h) && finite(1/(h*h)) }
