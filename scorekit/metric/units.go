package metric

import "math"

// inUnits returns both sets with all coordinates divided by 2ᵉ, e chosen so that the longest side of the box around all
// points is at least ½ and below 1, and e: squares and powers of distances are then far from the ends of float64, whatever
// the units of the data. Distances of the given sets are those of the returned ones times 2ᵉ, exactly. A coordinate that
// is the same for all points takes no part in any distance, and is 0: it may be beyond float64 in such units.
func inUnits(x, y [][]float64) (a, b [][]float64, e int) {
	d := len(x[0])
	low, high := make([]float64, d), make([]float64, d)
	for l := range d {
		low[l], high[l] = math.Inf(1), math.Inf(-1)
	}
	for _, rows := range [][][]float64{x, y} {
		for _, r := range rows {
			for l, v := range r {
				low[l], high[l] = min(low[l], v), max(high[l], v)
			}
		}
	}
	// Halves, as the difference of two numbers may be too large.
	halfSide := 0.0
	for l := range d {
		halfSide = max(halfSide, high[l]/2-low[l]/2)
	}
	if halfSide == 0 { // also the side of a box that is the smallest number there is
		for l := range d {
			halfSide = max(halfSide, high[l]-low[l])
		}
		_, e = math.Frexp(halfSide)
	} else {
		_, e = math.Frexp(halfSide)
		e++
	}
	scaled := func(rows [][]float64) [][]float64 {
		out := make([][]float64, len(rows))
		for i, r := range rows {
			out[i] = make([]float64, d)
			for l, v := range r {
				if low[l] < high[l] {
					out[i][l] = math.Ldexp(v, -e)
				}
			}
		}
		return out
	}
	return scaled(x), scaled(y), e
}

// power is gapᵖ of a gap that is not negative.
func power(gap, p float64) float64 {
	switch p {
	case 1:
		return gap
	case 2:
		return gap * gap
	}
	return math.Pow(gap, p)
}

func root(v, p float64) float64 {
	if p == 2 {
		return math.Sqrt(v)
	}
	return math.Pow(v, 1/p)
}

// meanOfOrder is (Σ share·gapᵖ)^{1/p} of gaps that are not negative, whose shares add up to 1. The powers are those of the
// gaps over the largest: that one always counts, however large p is.
func meanOfOrder(p float64, each func(add func(gap, share float64))) float64 {
	largest, sum := 0.0, 0.0
	each(func(gap, _ float64) { largest = max(largest, gap) })
	if largest == 0 {
		return 0
	}
	each(func(gap, share float64) { sum += share * power(gap/largest, p) })
	return largest * root(sum, p)
}
