package likelihood

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/scorekit"
)

// BitsPerDim returns −log p/(d ln 2), the log-density of a point of d numbers, in nats, as bits per number. It depends on
// the scale of the data: of c·x it is log₂ c more. d must be at least 1; for any other the result is NaN or Inf. For data of
// integers see [Bins].
func BitsPerDim(logDensity float64, d int) float64 {
	return -logDensity / (float64(d) * math.Ln2)
}

// Bins is data of integers k = 0 … Count−1, such as 256 levels of grey, that a model sees as numbers from Low to High: each
// k is a cell of that range, from Low + k·w to Low + (k+1)·w with w = (High−Low)/Count.
//
// A density says how probable a cell is once the integers are spread evenly over their cells, x = Low + (k+u)·w with u
// uniform on [0, 1), for training and for the log-density alike. Then log P(k) ≥ E_u log p(x) + d ln w, by Jensen's
// inequality (Theis, van den Oord and Bethge 2016), and in bits per dimension
//
//	bits = −log p(x)/(d ln 2) + Offset,  Offset = −log₂ w = log₂(Count/(High−Low))
//
// which is on average an upper bound for the integers themselves: 8 for 256 bins on [0, 1], 7 on [−1, 1], 0 on
// [0, 256], and log₂ 255 for (k+u)/255, which is 256 bins on [0, 256/255]. It does not depend on the range that was chosen: a
// uniform density on any has log₂ Count bits.
type Bins struct {
	Count     int     // at least 2
	Low, High float64 // the range, High above Low
}

// Validate returns an error unless Count is at least 2 and the range finite and not empty.
func (b Bins) Validate() error {
	if b.Count < 2 {
		return fmt.Errorf("likelihood: Bins: count %d: must be at least 2", b.Count)
	}
	if w := b.High - b.Low; !(w > 0) || math.IsInf(w, 0) {
		return fmt.Errorf("likelihood: Bins: range from %v to %v: must be finite and rising", b.Low, b.High)
	}
	return nil
}

// Offset returns log₂(Count/(High−Low)); it is no finite number for bins that Validate refuses.
func (b Bins) Offset() float64 { return math.Log2(float64(b.Count) / (b.High - b.Low)) }

// BitsPerDim returns the bits per dimension of a point of d integers from the log-density of it dequantised, in nats.
func (b Bins) BitsPerDim(logDensity float64, d int) float64 {
	return BitsPerDim(logDensity, d) + b.Offset()
}

// Dequantize returns x = Low + (k+u)·w for integers k, with u drawn for each from the uniform distribution on [0, 1): float64,
// of the shape of points, a tensor [n, dims...] or rows. The same seed gives the same draws. It returns an error for
// impossible bins and for a number that is not one of 0 … Count−1.
func (b Bins) Dequantize(points any, seed int64) (*tensors.Tensor, error) {
	if err := b.Validate(); err != nil {
		return nil, err
	}
	t, err := scorekit.Points(points)
	if err != nil {
		return nil, fmt.Errorf("likelihood: Dequantize: %w", err)
	}
	rows, err := scorekit.Rows(t)
	if err != nil {
		return nil, fmt.Errorf("likelihood: Dequantize: %w", err)
	}
	rng := rand.New(rand.NewPCG(uint64(seed), 0))
	w := (b.High - b.Low) / float64(b.Count)
	flat := make([]float64, 0, t.Size())
	for i, row := range rows {
		for j, k := range row {
			if k != math.Trunc(k) || k < 0 || k >= float64(b.Count) {
				return nil, fmt.Errorf("likelihood: Dequantize: point %d, number %d: %v: must be an integer from 0 to %d", i, j, k, b.Count-1)
			}
			flat = append(flat, b.Low+(k+rng.Float64())*w)
		}
	}
	return tensors.FromFlatDataAndDimensions(flat, t.Shape().Dimensions...), nil
}
