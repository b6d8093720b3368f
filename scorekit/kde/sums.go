package kde

import (
	"math"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/scorekit/autodiff"
)

// form is one graph's way to evaluate an estimate: the points x, [batch, d], in the coordinates that the centres are
// stored in, and what the differences to them are measured in.
type form struct {
	kernel  Kernel
	inverse *Node // 1/(width·h), [1, d], or [batch, d] with noise levels
	x       *Node
	middle  *Node // the mean of the centres, [1, d]
	products
}

// products says what is taken by matrix products, which are faster but lose digits where centres are many bandwidths apart.
type products struct {
	squares bool // ‖x−c‖², as ‖x‖² − 2x·c + ‖c‖², instead of from differences
	means   bool // the mean of the Gaussian kernel's scores, as that of the centres less x
}

// sums are sums over some centres: log Σ w K of each point, [batch, 1], without the factors that all centres share;
// and pull, [batch, d], the mean of ∇log K(u), or, with means, of the centres less their middle, weighted by wK.
type sums struct{ log, pull *Node }

// A graph takes its centres in chunks, so that the table of all pairs of points and centres need not exist: of as many
// pairs as this, but not more than maxChunks, as each adds to what has to be compiled. From chunkPairs·maxChunks pairs on,
// chunks grow: the tables are 1/maxChunks of that of all pairs.
const (
	chunkPairs = 1 << 20
	maxChunks  = 64
)

// maxColumns is the largest d up to which differences are taken coordinate by coordinate, which XLA makes into one loop
// over the pairs without storing any of them. Beyond, the loops are over pairs and coordinates.
const maxColumns = 64

// minProducts is the least d for which squares of distances come from matrix products: about where they become faster
// than differences, which for a few coordinates take half their time, and for 64 ten times it.
const minProducts = 8

// products says which matrix products keep enough digits. The logarithm of a kernel is off by about the rounding of
// norm, which is to stay below 5e-4 in float32 and 1e-11 in float64; for less than minProducts coordinates differences
// are as fast, and they lose nothing. The score is off, in units of 1/h, by about the rounding of √norm, which is to
// stay below 6e-5 and 1e-12: no more than it is off by the rounding of points to that dtype.
func (q Estimate) products(dtype dtypes.DType) products {
	squares, means := 8192.0, 1e6
	if dtype == dtypes.Float64 {
		squares, means = 9e4, 1e8
	}
	if q.kernel != Gaussian {
		return products{}
	}
	return products{q.Dim() >= minProducts && q.norm <= squares, q.norm <= means}
}

// centres are those of a graph: their points, [n, d], with the logarithms of their weights, [1, n] or nil, or in their place
// the factors of two matrix products. With the features of the points, logs, [features, n], are the logarithms of the kernels
// times weights; the sums of these times ones, [n, 1], or times [1, centre less middle], [n, 1+d], are all that is wanted. So
// no row of the table of pairs is added up, which XLA does number by number, and nothing is added to it.
type centres struct{ points, logWeights, logs, means *Node }

// prepare makes the factors, where they are used.
func (f form) prepare(points, logWeights *Node) centres {
	c := centres{points: points, logWeights: logWeights}
	if f.means {
		c.means = graph.Concatenate([]*Node{graph.OnesLike(column(points, 0)), graph.Sub(points, f.middle)}, 1)
	}
	if !f.squares {
		return c
	}
	last := graph.ZerosLike(column(points, 0))
	if logWeights != nil {
		last = graph.Transpose(logWeights, 0, 1)
	}
	squares := graph.Square(f.inverse)
	factors := []*Node{points}
	if norms := graph.MulScalar(graph.Square(points), -0.5); squares.Shape().Dimensions[0] == 1 {
		last = graph.Add(last, graph.ReduceAndKeep(graph.Mul(norms, squares), graph.ReduceSum, 1))
	} else {
		factors = append(factors, norms)
	}
	c.logs = graph.Transpose(graph.Concatenate(append(factors, last), 1), 0, 1)
	return c
}

// prepared is prepare on the host, for centres of which some do not count, and no noise levels: logs, [d+1, n], and means,
// [n, 1+d], row-major.
func (q Estimate) prepared(points, logWeights []float64) (logs, means []float64) {
	d, n := q.Dim(), len(logWeights)
	logs, means = make([]float64, (d+1)*n), make([]float64, 0, n*(1+d))
	for i, l := range logWeights {
		c := points[i*d : (i+1)*d]
		l = max(l, -1e30) // a factor of −Inf may make NaN
		for k, v := range c {
			u := v / (q.smoothing.h[k] * q.kernel.width())
			l -= 0.5 * u * u
			logs[k*n+i] = v
		}
		logs[d*n+i] = l
		means = append(append(means, 1), c...) // their middle is 0
	}
	return logs, means
}

// features are what the logs of centres are multiplied with, [batch, features].
func (f form) features() *Node {
	squares := graph.Square(f.inverse)
	all := []*Node{graph.Mul(f.x, squares)}
	if squares.Shape().Dimensions[0] != 1 {
		all = append(all, squares)
	}
	return graph.Concatenate(append(all, graph.OnesLike(column(f.x, 0))), 1)
}

func (c centres) len() int {
	if c.points != nil {
		return c.points.Shape().Dimensions[0]
	}
	return c.logs.Shape().Dimensions[1]
}

// part returns the centres with these numbers.
func (c centres) part(from, to int) centres {
	if from == 0 && to == c.len() {
		return c
	}
	rows := func(v *Node) *Node {
		if v == nil {
			return nil
		}
		return graph.Slice(v, graph.AxisRange(from, to))
	}
	columns := func(v *Node) *Node {
		if v == nil {
			return nil
		}
		return graph.Slice(v, graph.AxisRange(), graph.AxisRange(from, to))
	}
	return centres{rows(c.points), columns(c.logWeights), columns(c.logs), rows(c.means)}
}

// over adds up the centres chunk by chunk. Pulls are left out unless asked for.
func (f form) over(c centres, pull bool) sums {
	n := c.len()
	numbers := f.x.Shape().Dimensions[0]
	if d := f.x.Shape().Dimensions[1]; !f.squares && d > maxColumns {
		numbers *= d
	}
	length := max(1, chunkPairs/numbers, (n+maxChunks-1)/maxChunks)
	var all sums
	for from := 0; from < n; from += length {
		next := f.chunkSums(c.part(from, min(from+length, n)), pull)
		if from == 0 {
			all = next
		} else {
			all = merge(all, next)
		}
	}
	return all
}

// chunkSums is over for one chunk.
func (f form) chunkSums(c centres, pull bool) sums {
	var log *Node
	var pulls func(e *Node) *Node // Σ e·(what pull is the mean of)
	switch d := f.x.Shape().Dimensions[1]; {
	case f.squares:
		log = graph.Dot(f.features(), c.logs)
	case d <= maxColumns:
		rows := graph.Transpose(c.points, 0, 1)
		slopes := make([]*Node, d)
		for k := range d {
			away := graph.Sub(column(f.x, k), graph.Slice(rows, graph.AxisElem(k)))
			var logK *Node
			logK, slopes[k] = f.kernel.shape(graph.Mul(away, column(f.inverse, k)))
			if k == 0 {
				log = logK
			} else {
				log = graph.Add(log, logK)
			}
		}
		pulls = func(e *Node) *Node {
			columns := make([]*Node, d)
			for k, slope := range slopes {
				columns[k] = graph.ReduceAndKeep(graph.Mul(e, slope), graph.ReduceSum, 1)
			}
			if d == 1 {
				return columns[0]
			}
			return graph.Concatenate(columns, 1)
		}
	default:
		away := graph.Sub(graph.InsertAxes(f.x, 1), graph.InsertAxes(c.points, 0))
		logs, slopes := f.kernel.shape(graph.Mul(away, graph.InsertAxes(f.inverse, 1)))
		log = graph.ReduceSum(logs, 2)
		pulls = func(e *Node) *Node { return graph.ReduceSum(graph.Mul(graph.InsertAxes(e, -1), slopes), 1) }
	}
	if !f.squares && c.logWeights != nil {
		log = graph.Add(log, c.logWeights)
	}
	largest := autodiff.StableMax(log, 1)
	e := graph.Exp(graph.Sub(log, largest))
	var total, pulled *Node
	switch {
	case f.means && pull:
		all := graph.Dot(e, c.means)
		total = column(all, 0)
		pulled = graph.Slice(all, graph.AxisRange(), graph.AxisRangeToEnd(1))
	case f.means:
		total = graph.Dot(e, column(c.means, 0))
	default:
		total = graph.ReduceAndKeep(e, graph.ReduceSum, 1)
		if pull {
			pulled = pulls(e)
		}
	}
	s := sums{log: logOf(total, largest)}
	if pull {
		s.pull = graph.Div(pulled, orOne(total))
	}
	return s
}

// merge adds up two sums. The shares of the pulls are normalised by their own sum: a logarithm may be so large that its
// differences are all rounding.
func merge(a, b sums) sums {
	largest := autodiff.StableMax(graph.Concatenate([]*Node{a.log, b.log}, 1), 1)
	first, second := graph.Exp(graph.Sub(a.log, largest)), graph.Exp(graph.Sub(b.log, largest))
	total := graph.Add(first, second)
	s := sums{log: logOf(total, largest)}
	if a.pull != nil {
		s.pull = graph.Div(graph.Add(graph.Mul(first, a.pull), graph.Mul(second, b.pull)), orOne(total))
	}
	return s
}

// logOf is log total + largest, −Inf with gradient 0 where total is 0.
func logOf(total, largest *Node) *Node {
	never := graph.BroadcastToDims(graph.Infinity(total.Graph(), total.DType(), -1), total.Shape().Dimensions...)
	log := graph.Add(graph.Log(orOne(total)), largest)
	return graph.Where(graph.Equal(total, graph.ZerosLike(total)), never, log)
}

func orOne(total *Node) *Node {
	return graph.Where(graph.Equal(total, graph.ZerosLike(total)), graph.OnesLike(total), total)
}

// logDensity turns the sums over all centres into log q, [batch].
func (f form) logDensity(s sums) *Node {
	d := f.x.Shape().Dimensions[1]
	log := s.log
	if f.squares {
		squares := graph.Square(graph.Mul(f.x, f.inverse))
		log = graph.Sub(log, graph.MulScalar(graph.ReduceAndKeep(squares, graph.ReduceSum, 1), 0.5))
	}
	scale := graph.ReduceAndKeep(graph.Log(f.inverse), graph.ReduceSum, 1)
	log = graph.AddScalar(graph.Add(log, scale), float64(d)*f.kernel.logScale())
	return graph.Reshape(log, f.x.Shape().Dimensions[0])
}

// score turns the sums over all centres into ∇log q, [batch, d].
func (f form) score(s sums) *Node {
	pull := s.pull
	if f.means {
		pull = graph.Mul(graph.Sub(pull, graph.Sub(f.x, f.middle)), f.inverse)
	}
	return graph.Mul(pull, f.inverse)
}

// column is a column of a matrix, [rows, 1].
func column(m *Node, k int) *Node { return graph.Slice(m, graph.AxisRange(), graph.AxisElem(k)) }

// reach is how many bandwidths away from the middle a coordinate of a point may be: beyond, it is taken for that far, so
// that no square overflows.
func reach(dtype dtypes.DType, d int) float64 {
	largest := math.MaxFloat64
	if dtype != dtypes.Float64 {
		largest = math.MaxFloat32
	}
	return math.Sqrt(largest/float64(d)) / 4
}
