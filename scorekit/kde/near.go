package kde

import (
	"cmp"
	"math"
	"slices"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/internal/numbers"
)

// Points near some centre need no largest logarithm: the sums of the kernels themselves, which are one matrix product, do
// not underflow. And they need not look at centres far from them. Blocks of points and of centres are made compact, and
// pairs of blocks that are too far apart to count are left out. The few points that turn out to be far from all centres are
// done again by sums.

// canBeNear says whether points are first tried so: where differences are taken of each coordinate. Of many coordinates
// hardly any points would be near.
func (q Estimate) canBeNear(dtype dtypes.DType) bool {
	p := q.products(dtype)
	return q.kernel == Gaussian && p.means && !p.squares && q.Dim() <= maxColumns
}

// around returns the blocks of centres that may count for a block of points, and the least sum of kernels, times weights of
// which the largest is 1, that is right without the others and without what each exponential loses by underflow.
func (b *blocks) around(points [][]float64) (centres []block, least float64) {
	underflow, rounding, away := 1e-20, 0x1p-26, 50.0
	if b.dtype == dtypes.Float64 {
		underflow, rounding, away = 1e-200, 0x1p-56, 80
	}
	var all box
	for _, x := range points {
		all.add(x)
	}
	lost := 0.0
	for _, c := range b.centres {
		// Along axes of their own, a distance is at least that over the widest of the kernels.
		h := b.q.smoothing.h
		if b.q.smoothing.axes != nil {
			h = slices.Repeat([]float64{slices.Max(h)}, len(h))
		}
		if half := all.squaredDistance(c.box, h) / 2; half > away {
			lost += c.weight * math.Exp(-half)
		} else {
			centres = append(centres, c)
		}
	}
	return centres, max(underflow, lost/rounding)
}

// box is the least box around points, with its sides along the coordinates.
type box struct{ low, high []float64 }

func (b *box) add(x []float64) {
	if b.low == nil {
		b.low, b.high = slices.Clone(x), slices.Clone(x)
	}
	for k, v := range x {
		b.low[k], b.high[k] = min(b.low[k], v), max(b.high[k], v)
	}
}

// squaredDistance is ‖(x−y)/h‖² of the nearest two points x and y of the boxes.
func (b *box) squaredDistance(other box, h []float64) float64 {
	sum := 0.0
	for k := range h {
		gap := max(0, b.low[k]-other.high[k], other.low[k]-b.high[k]) / h[k]
		sum += gap * gap
	}
	return sum
}

// inBlocks puts the numbers of rows in an order in which each size of them are near one another: those of one side of the
// widest coordinate before those of the other, at a whole number of blocks, and so on in each half.
func inBlocks(rows [][]float64, order []int, size int) {
	if len(order) <= size {
		return
	}
	var all box
	for _, i := range order {
		all.add(rows[i])
	}
	widest := 0
	for k := range all.low {
		if all.high[k]-all.low[k] > all.high[widest]-all.low[widest] {
			widest = k
		}
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(rows[i][widest], rows[j][widest]) })
	half := ((len(order)+size-1)/size + 1) / 2 * size
	inBlocks(rows, order[:half], size)
	inBlocks(rows, order[half:], size)
}

// factors are what the kernels are multiplied with, [1+d, n] row-major: the weights of the centres, of which the largest in
// all the estimate is 1, and with pull the centres, less their middle, times these.
func (q Estimate) factors(centres, logWeights []float64, middle []float64, pull bool) []float64 {
	d, n, largest := q.Dim(), len(logWeights), math.Log(slices.Max(q.weights))
	rows := 1
	if pull {
		rows += d
	}
	f := make([]float64, rows*n)
	for i, l := range logWeights {
		f[i] = math.Exp(l - largest)
		for k := 1; k < rows; k++ {
			f[k*n+i] = f[i] * (centres[i*d+k-1] - middle[k-1])
		}
	}
	return f
}

// kernels is Σ f K of some centres for each point, [1+d, batch] or [1, batch]: centres are [n, d] and factors f [1+d, n].
func (f form) kernels(centres, factors *Node) *Node {
	n, d := centres.Shape().Dimensions[0], f.x.Shape().Dimensions[1]
	x := graph.Transpose(f.x, 0, 1)
	inverse := graph.MulScalar(f.inverse, math.Sqrt2/2)
	length := numbers.Evenly(n, max(1, chunkPairs/x.Shape().Dimensions[1]))
	var all *Node
	for from := 0; from < n; from += length {
		part := graph.AxisRange(from, min(from+length, n))
		c := graph.Slice(centres, part)
		var squares *Node // [n, batch]: products with it are faster, and the numbers of a centre are read once for all points
		for k := range d {
			u := graph.Mul(graph.Sub(graph.Slice(x, graph.AxisElem(k)), column(c, k)), column(inverse, k))
			if squares == nil {
				squares = graph.Square(u)
			} else {
				squares = graph.Add(squares, graph.Square(u))
			}
		}
		sum := graph.Dot(graph.Slice(factors, graph.AxisRange(), part), graph.Exp(graph.Neg(squares)))
		if all == nil {
			all = sum
		} else {
			all = graph.Add(all, sum)
		}
	}
	return all
}

// sumsOf makes the sums of a point's kernels into what sums are, and the kernels' own sum, [batch].
func (q Estimate) sumsOf(kernels *Node) (s sums, total *Node) {
	columns := graph.Transpose(kernels, 0, 1)
	weight := column(columns, 0)
	s.log = logOf(weight, graph.Scalar(kernels.Graph(), kernels.DType(), math.Log(slices.Max(q.weights))))
	if d := columns.Shape().Dimensions[1] - 1; d > 0 {
		s.pull = graph.Div(graph.Slice(columns, graph.AxisRange(), graph.AxisRange(1, d+1)), orOne(weight))
	}
	return s, graph.Reshape(weight, columns.Shape().Dimensions[0])
}

// floats copies the numbers of a tensor.
func floats(t *tensors.Tensor) ([]float64, error) {
	values := make([]float64, t.Size())
	err := t.ConstFlatData(func(flat any) {
		switch f := flat.(type) {
		case []float64:
			copy(values, f)
		case []float32:
			for i, v := range f {
				values[i] = float64(v)
			}
		}
	})
	return values, err
}
