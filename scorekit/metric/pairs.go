package metric

import (
	"context"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// kernel writes k(i, j) of the points i and j to out[j−from], for j from from to to−1. k is symmetric.
type kernel func(i, from, to int, out []float64)

// pairSums is what one visit to all pairs of different points yields.
type pairSums struct {
	first, second []float64 // for each i, Σ_{j≠i} k(i, j) over the j below split, and over the others
	forms         []float64 // for each column w of the weights, Σ_{i≠j} wᵢ wⱼ k(i, j)
}

const (
	side    = 128 // of the square blocks in which pairs are visited: such a block of numbers stays in a processor's cache
	stripes = 16  // number of parts that are summed apart from one another, whatever the number of processors
)

// sumPairs visits all pairs of n points, each pair once and none stored. weights has a row for each point, or is nil. The
// time is that of n²/2 values of k and n² additions for each column of weights; the memory grows with n only.
func sumPairs(ctx context.Context, n, split int, k kernel, weights [][]int8) (pairSums, error) {
	columns := 0
	if weights != nil {
		columns = len(weights[0])
	}
	parts := make([]pairSums, stripes)
	blocks := (n + side - 1) / side
	err := parallel(ctx, min(stripes, blocks), func(s int) {
		part := newPairSums(n, columns)
		scratch := newScratch(columns)
		for b := s; b < blocks; b += stripes {
			part.add(ctx, b*side, min((b+1)*side, n), n, split, k, weights, scratch)
		}
		parts[s] = part
	})
	if err != nil {
		return pairSums{}, err
	}
	sums := newPairSums(n, columns)
	for _, part := range parts {
		for i := range part.first {
			sums.first[i] += part.first[i]
			sums.second[i] += part.second[i]
		}
		for c := range part.forms {
			sums.forms[c] += part.forms[c]
		}
	}
	return sums, nil
}

func newPairSums(n, columns int) pairSums {
	return pairSums{make([]float64, n), make([]float64, n), make([]float64, columns)}
}

// scratch is the memory that one block after another is computed in.
type scratch struct {
	values   []float64      // [side, side]: k(i, j), 0 unless i < j
	weights  blas64.General // [side, columns]: the weights of the points j
	products blas64.General // [side, columns]: Σⱼ k(i, j) wⱼ
}

func newScratch(columns int) scratch {
	s := scratch{values: make([]float64, side*side)}
	if columns > 0 {
		s.weights = blas64.General{Rows: side, Cols: columns, Stride: columns, Data: make([]float64, side*columns)}
		s.products = blas64.General{Rows: side, Cols: columns, Stride: columns, Data: make([]float64, side*columns)}
	}
	return s
}

// add visits the pairs i < j with from ≤ i < to.
func (p pairSums) add(ctx context.Context, from, to, n, split int, k kernel, weights [][]int8, s scratch) {
	clear(s.products.Data)
	for left := from; left < n && ctx.Err() == nil; left += side {
		right := min(left+side, n)
		for i := from; i < to; i++ {
			row := s.values[(i-from)*side:][:right-left]
			first := max(left, i+1)
			if first > left {
				clear(row[:min(first, right)-left])
			}
			if first >= right {
				continue
			}
			k(i, first, right, row[first-left:])
			for j := first; j < right; j++ {
				v := row[j-left]
				if j < split {
					p.first[i] += v
				} else {
					p.second[i] += v
				}
				if i < split {
					p.first[j] += v
				} else {
					p.second[j] += v
				}
			}
		}
		if weights == nil {
			continue
		}
		for j := left; j < right; j++ {
			row := s.weights.Data[(j-left)*s.weights.Stride:]
			for c, w := range weights[j] {
				row[c] = float64(w)
			}
		}
		values := blas64.General{Rows: to - from, Cols: right - left, Stride: side, Data: s.values}
		own, products := s.weights, s.products
		own.Rows, products.Rows = right-left, to-from
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, values, own, 1, products)
	}
	for i := from; i < to && weights != nil; i++ {
		row := s.products.Data[(i-from)*s.products.Stride:]
		for c, w := range weights[i] {
			p.forms[c] += 2 * float64(w) * row[c]
		}
	}
}
