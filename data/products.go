package data

import (
	"iter"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// products are the moments of rows that go by once, with the sums of products of the columns' deviations from their
// means. They are taken a block of rows at a time, and blocks are put together by the update of T. F. Chan, G. H. Golub
// and R. J. LeVeque (1983, Algorithms for computing the sample variance).
type products struct {
	moments
	sum    *mat.SymDense // Σ (x − mean)(x − mean)ᵀ
	center []float64     // the mean, less the first row, of the rows in sum
	rows   int           // how many those are
	block  []float64     // rows, less the first of all, that are not in sum yet
}

// blockRows is large enough for the products to be a matter of matrices, and no burden on memory.
const blockRows = 128

func (p *products) measure(rows iter.Seq2[[]float64, error]) error {
	err := p.each(rows, func(row []float64) {
		d := len(row)
		if p.sum == nil {
			p.sum, p.center = mat.NewSymDense(d, nil), make([]float64, d)
		}
		for j, v := range row {
			p.block = append(p.block, v-p.first[j])
		}
		if len(p.block) == blockRows*d {
			p.merge()
		}
	})
	if err == nil {
		p.merge()
	}
	return err
}

// merge takes the block into the sum.
func (p *products) merge() {
	d := len(p.first)
	n := len(p.block) / d
	if n == 0 {
		return
	}
	mean := make([]float64, d)
	for i := range n {
		floats.AddScaled(mean, 1/float64(n), p.block[i*d:(i+1)*d])
	}
	for i := range n {
		floats.Sub(p.block[i*d:(i+1)*d], mean)
	}
	p.sum.SymRankK(p.sum, 1, mat.NewDense(n, d, p.block).T())
	// Both parts about their own means, and the rest for the distance of the means.
	all := float64(p.rows + n)
	floats.Sub(mean, p.center)
	p.sum.SymRankOne(p.sum, float64(p.rows)*float64(n)/all, mat.NewVecDense(d, mean))
	floats.AddScaled(p.center, float64(n)/all, mean)
	p.rows += n
	p.block = p.block[:0]
}
