package kde

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/gomlx/pkg/core/dtypes"

	"github.com/scorekit/lab/scorekit"
)

// Estimate is the kernel density estimate of M points xₘ with weights wₘ that sum to 1,
//
//	q(x) = Σₘ wₘ Πₖ 1/hₖ K((xₖ − xₘₖ)/hₖ),  with equal weights and one h: 1/(M hᵈ) Σₘ K((x − xₘ)/h)
//	∇ log q(x) = Σₘ rₘ(x) ∇ log K((x − xₘ)/h),  rₘ(x) = wₘ K((x − xₘ)/h) / Σⱼ wⱼ K((x − xⱼ)/h)
//
// (Parzen 1962; Silverman 1986, sec. 4.2). Texts for one dimension have 1/h and, in ∇q, 1/h²; in d dimensions they are
// 1/hᵈ and 1/hᵈ⁺¹. In the score 1/hᵈ cancels and one 1/h is left, that of ∇ log K((x − xₘ)/h) = (1/h)(∇ log K)((x − xₘ)/h).
//
// Where no point of a compact kernel is near, log q is −Inf and the score, which does not exist, is given as 0.
//
// Make one with [New] or [NewWeighted]. It is immutable and may be used from several goroutines.
type Estimate struct {
	kernel    Kernel
	dims      []int // of a point
	points    []float64
	weights   []float64 // they sum to 1
	equal     bool      // all weights are
	bandwidth string    // the rule's name
	smoothing smoothing
	centre    []float64 // the mean of the points
	norm      float64   // the largest ‖(x − centre)/h‖² of a point x
	id        string
	kept      *kept
}

var (
	_ scorekit.Model     = Estimate{}
	_ scorekit.Data      = Estimate{}
	_ scorekit.Validator = Estimate{}
)

// New returns the estimate of points that count alike: a tensor [M, dims...] of float32 or float64, or a [][]float64 or
// [][]float32 with rows of one length. Points of several axes count as rows of all their numbers.
//
// It returns an error for no points, for rows of different lengths, for a value that is NaN or Inf, named by row and
// column, and for an unknown kernel or impossible bandwidth.
func New(points any, kernel Kernel, bandwidth Bandwidth) (Estimate, error) {
	return newEstimate(points, nil, kernel, bandwidth)
}

// NewWeighted is [New] with a weight for each point: as many as points, finite, not negative, not all 0. They are
// divided by their sum. A point of weight 0 is left out.
func NewWeighted(points any, weights []float64, kernel Kernel, bandwidth Bandwidth) (Estimate, error) {
	if weights == nil {
		weights = []float64{}
	}
	return newEstimate(points, weights, kernel, bandwidth)
}

func newEstimate(points any, weights []float64, kernel Kernel, bandwidth Bandwidth) (Estimate, error) {
	fail := func(err error) (Estimate, error) { return Estimate{}, fmt.Errorf("kde: %w", err) }
	if !kernel.known() {
		return fail(fmt.Errorf("kernel %d: must be Gaussian, Logistic, Sech2, Biweight or Triweight", int(kernel)))
	}
	rows, dims, _, err := read(points)
	if err != nil {
		return fail(err)
	}
	q := Estimate{kernel: kernel, dims: dims, bandwidth: bandwidth.name, equal: true}
	if weights == nil {
		weights = slices.Repeat([]float64{1}, len(rows))
	}
	largest, err := largestOf(weights, len(rows))
	if err != nil {
		return fail(err)
	}
	for i, w := range weights {
		// Dividing by the largest first keeps the sum of huge weights finite.
		if w /= largest; w > 0 {
			q.points, q.weights = append(q.points, rows[i]...), append(q.weights, w)
			q.equal = q.equal && w == q.weights[0]
		}
	}
	sum := 0.0
	for _, w := range q.weights {
		sum += w
	}
	for i := range q.weights {
		q.weights[i] /= sum
	}
	s := q.sample()
	if q.smoothing, err = bandwidth.of(s); err != nil {
		return fail(err)
	}
	q.centre = s.mean()
	away := make([]float64, s.d)
	for i := range q.weights {
		norm := 0.0
		q.smoothing.along(q.points[i*s.d:(i+1)*s.d], q.centre, away)
		for k, a := range away {
			norm += a * a / (q.smoothing.h[k] * q.smoothing.h[k])
		}
		q.norm = max(q.norm, norm)
	}
	q.id, q.kept = q.digest(), newKept()
	return q, nil
}

// read checks points and returns them as rows, with the dimensions of one and their precision.
func read(points any) (rows [][]float64, dims []int, dtype dtypes.DType, err error) {
	t, err := scorekit.Points(points)
	if err != nil {
		return nil, nil, 0, err
	}
	rows, err = scorekit.Rows(t)
	return rows, slices.Clone(t.Shape().Dimensions[1:]), t.DType(), err
}

func largestOf(weights []float64, n int) (float64, error) {
	if len(weights) != n {
		return 0, fmt.Errorf("%d weights for %d points: must be as many", len(weights), n)
	}
	largest := 0.0
	for i, w := range weights {
		if !(w >= 0) || math.IsInf(w, 0) {
			return 0, fmt.Errorf("weights[%d] = %v: must be finite and not negative", i, w)
		}
		largest = max(largest, w)
	}
	if largest == 0 {
		return 0, fmt.Errorf("weights are all 0: must have a positive sum")
	}
	return largest, nil
}

// along sets away to x − centre, along the axes.
func (s smoothing) along(x, centre, away []float64) {
	if s.axes == nil {
		for k := range away {
			away[k] = x[k] - centre[k]
		}
		return
	}
	d := len(away)
	for k := range away {
		away[k] = 0
		for j := range d {
			away[k] += (x[j] - centre[j]) * s.axes[j*d+k]
		}
	}
}

// back sets out to a vector along the axes, in coordinates.
func (s smoothing) back(v, out []float64) {
	if s.axes == nil {
		copy(out, v)
		return
	}
	for j := range out {
		out[j] = 0
		for k, c := range v {
			out[j] += s.axes[j*len(v)+k] * c
		}
	}
}

func (q Estimate) sample() sample {
	return sample{q.points, q.weights, len(q.weights), len(q.points) / len(q.weights), q.equal, q.kernel}
}

// digest tells estimates apart, in every process alike: what is stored on a device is named by it.
func (q Estimate) digest() string {
	hash := sha256.New()
	for _, part := range [][]float64{{float64(q.kernel)}, q.points, q.weights, q.smoothing.h, q.smoothing.axes} {
		bytes := binary.LittleEndian.AppendUint64(nil, uint64(len(part)))
		for _, v := range part {
			bytes = binary.LittleEndian.AppendUint64(bytes, math.Float64bits(v))
		}
		hash.Write(bytes)
	}
	return fmt.Sprintf("%x", hash.Sum(nil)[:8])
}

// Dim returns d, how many numbers a point has.
func (q Estimate) Dim() int { return len(q.centre) }

// Len returns M, how many points the estimate is made of, without those of weight 0.
func (q Estimate) Len() int { return len(q.weights) }

// Kernel returns the kernel.
func (q Estimate) Kernel() Kernel { return q.kernel }

// Bandwidth returns h for each coordinate, or nil where the kernels are not aligned with the coordinates: see
// [Estimate.BandwidthMatrix].
func (q Estimate) Bandwidth() []float64 {
	if q.smoothing.axes != nil {
		return nil
	}
	return slices.Clone(q.smoothing.h)
}

// BandwidthMatrix returns H, [d][d]: h² on the diagonal, or factor²·C. It is the covariance of a Gaussian kernel.
func (q Estimate) BandwidthMatrix() [][]float64 {
	d, axes := q.Dim(), q.smoothing.axes
	matrix := make([][]float64, d)
	for i := range matrix {
		matrix[i] = make([]float64, d)
		if axes == nil {
			matrix[i][i] = q.smoothing.h[i] * q.smoothing.h[i]
			continue
		}
		for j := range d {
			for k, h := range q.smoothing.h {
				matrix[i][j] += axes[i*d+k] * h * h * axes[j*d+k]
			}
		}
	}
	return matrix
}

// Validate returns an error for a zero value, which is not an estimate.
func (q Estimate) Validate() error {
	if q.Dim() == 0 {
		return fmt.Errorf("kde: %w", errZero)
	}
	return nil
}

var errZero = errors.New("zero value: must be made by New or NewWeighted")

// Noised returns the density of x + σz with x from q and z standard normal: the estimate with H + σ²I in place of H. It
// returns an error for another kernel than the Gaussian and for sigma that is negative or not finite.
func (q Estimate) Noised(sigma float64) (Estimate, error) {
	if err := q.Validate(); err != nil {
		return Estimate{}, err
	}
	if err := q.canNoise(); err != nil {
		return Estimate{}, err
	}
	if !(sigma >= 0) || math.IsInf(sigma*sigma, 0) {
		return Estimate{}, fmt.Errorf("kde: Noised: sigma %v: must be not negative and its square finite", sigma)
	}
	q.smoothing.h = slices.Clone(q.smoothing.h)
	for k, h := range q.smoothing.h {
		q.smoothing.h[k] = math.Hypot(h, sigma)
	}
	q.id, q.kept = q.digest(), newKept() // norm stays: it is a bound
	return q, nil
}

func (q Estimate) canNoise() error {
	if q.kernel != Gaussian {
		return fmt.Errorf("kde: noise level for the %s kernel: its convolution with a normal density has no closed form; must be the Gaussian kernel", q.kernel)
	}
	return nil
}

// String tells the estimate in one line, with a number that differs between different ones.
func (q Estimate) String() string {
	if q.Validate() != nil {
		return "kde: zero value"
	}
	return fmt.Sprintf("kde of %d points %v, %s kernel, bandwidth %s, %s", q.Len(), q.dims, q.kernel, q.bandwidth, q.id)
}
