package data

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/scorekit/random"
)

// Dequantizer spreads discrete data over the line, as a density needs, by noise that is drawn afresh each time. Of d
// numbers that are levels x a distance w apart it makes y = x + w u. The probability of x then has a bound that follows
// from the density of y alone, for any distribution q of y around x (Theis, van den Oord and Bethge 2016, A note on the
// evaluation of generative models, §3.1; Ho et al. 2019, Flow++, §3.1; Kingma et al. 2021, Variational diffusion
// models):
//
//	log P(x) ≥ E_q[log p(y) − log q(y|x) + log P(x|y)]
//
// There are two:
//
//   - Uniform noise, u ~ U[0, 1) for each number: y says which level it came from, and
//     log P(x) ≥ E log p(y) + d log w. Nothing is lost if p is even within each cell.
//   - Gaussian noise, u ~ N(0, s²) with s = Gaussian: the levels overlap, the density is smooth, and
//     log P(x) ≥ E[log p(y) + Σ log P(x|y)] + (d/2) log 2πe s²w², with P(x_k|y) ∝ N(y; x_k, s²w²) among the levels.
//
// On the way back a number becomes the level whose cell it lies in: the one at or below it for uniform noise, the
// nearest for Gaussian noise.
type Dequantizer struct {
	Levels
	Gaussian float64 `json:"gaussian,omitempty"` // s, in steps: 0 means uniform noise
}

// Validate returns an error for impossible levels, or a deviation that is negative or not finite.
func (q Dequantizer) Validate() error {
	if err := q.Levels.Validate(); err != nil {
		return err
	}
	if !(q.Gaussian >= 0) || math.IsInf(q.Gaussian, 0) {
		return fmt.Errorf("data: Dequantizer: gaussian %v: must be finite and not negative", q.Gaussian)
	}
	return nil
}

// Apply returns y = x + w u for levels x, [n, dims...], of x's dtype, with noise that follows from seed, and the offset
// of each row: log P(x) is, on the average over the noise, at least log p(y) + offset. It returns an error for a value
// that is not a level (to a hundredth of a step), named by row and column, and for impossible settings.
func (q Dequantizer) Apply(x *tensors.Tensor, seed int64) (y *tensors.Tensor, offsets []float64, err error) {
	rows, err := finiteRows(x)
	if err == nil {
		err = q.Validate()
	}
	if err == nil {
		offsets, err = q.spread(rows, generator(seed))
	}
	if err == nil {
		y, err = like(x, rows)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("data: Dequantizer: %w", err)
	}
	return y, offsets, nil
}

// spread dequantises rows in place and returns their offsets.
func (q Dequantizer) spread(rows [][]float64, rng *rand.Rand) ([]float64, error) {
	offsets := make([]float64, len(rows))
	for i, row := range rows {
		var err error
		if offsets[i], err = q.spreadRow(row, rng); err != nil {
			return nil, fmt.Errorf("row %d, %w", i, err)
		}
	}
	return offsets, nil
}

func (q Dequantizer) spreadRow(row []float64, rng *rand.Rand) (offset float64, err error) {
	w := q.Step()
	for j, v := range row {
		k, ok := q.index(v)
		if !ok {
			return 0, fmt.Errorf("column %d: value %v: must be one of the %d levels from %v to %v", j, v, q.Count, q.Low, q.High)
		}
		if q.Gaussian == 0 {
			row[j] = q.at(k + rng.Float64())
			offset += math.Log(w)
			continue
		}
		u := q.Gaussian * rng.NormFloat64()
		row[j] = q.at(k + u)
		offset += 0.5*math.Log(2*math.Pi*math.E) + math.Log(q.Gaussian) + math.Log(w) + q.logPosterior(k, k+u)
	}
	return offset, nil
}

// logPosterior returns log P(level k | y) for a y in steps from the first level: −½(y−k)²/s² less the logarithm of its
// sum over all levels. Beyond 40 s from the nearest one the terms vanish.
func (q Dequantizer) logPosterior(k, y float64) float64 {
	term := func(k float64) float64 { return -0.5 * (y - k) * (y - k) / q.Gaussian / q.Gaussian }
	nearest := min(max(math.Round(y), 0), float64(q.Count-1))
	largest, sum := term(nearest), 0.0
	from, to := max(0, math.Floor(nearest-40*q.Gaussian)), min(float64(q.Count-1), math.Ceil(nearest+40*q.Gaussian))
	for other := from; other <= to; other++ {
		sum += math.Exp(term(other) - largest)
	}
	return term(k) - largest - math.Log(sum)
}

// ApplyGraph adds y = x + w u to the graph of the levels x, with noise from rng. It panics, as graph functions do, when a
// setting is impossible.
func (q Dequantizer) ApplyGraph(rng *random.Source, x *Node) *Node {
	if err := q.Validate(); err != nil {
		panic(err)
	}
	if q.Gaussian == 0 {
		return graph.Add(x, graph.MulScalar(rng.Uniform(x.Shape().Dimensions...), q.Step()))
	}
	return graph.Add(x, graph.MulScalar(rng.Normal(x.Shape().Dimensions...), q.Gaussian*q.Step()))
}

// Invert returns the level of each number of y: [n, dims...], of y's dtype.
func (q Dequantizer) Invert(y *tensors.Tensor) (*tensors.Tensor, error) {
	rows, err := finiteRows(y)
	if err == nil {
		err = q.Validate()
	}
	if err != nil {
		return nil, fmt.Errorf("data: Dequantizer: Invert: %w", err)
	}
	for _, row := range rows {
		q.round(row)
	}
	return like(y, rows)
}

func (q Dequantizer) round(row []float64) {
	for j, v := range row {
		k := (v - q.Low) / q.Step()
		if q.Gaussian > 0 {
			k += 0.5
		}
		row[j] = q.at(min(max(math.Floor(k), 0), float64(q.Count-1)))
	}
}
