package kde

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/internal/numbers"
	"github.com/scorekit/lab/scorekit"
)

// LogDensityAt returns log q at points held in memory, given as for [New]: one number for each, −Inf where no point of a
// compact kernel is near. It is computed in the precision of points, float64 for a [][]float64.
//
// Blocks of points are put against blocks of centres, so that neither all pairs nor a graph for all centres ever exists.
// progress, if given, is told how many points are done, a few times a second: points that have been put against a part of
// the centres count for that part.
//
// It returns an error for a nil ctx or backend, for points that are not finite or of another shape than the estimate's, for
// numbers beyond the range of float32 if that is their precision, and, naming how far it came, when ctx ends.
func (q Estimate) LogDensityAt(ctx context.Context, backend backends.Backend, points any, progress ...func(scorekit.Report)) ([]float64, error) {
	r, err := q.at(ctx, backend, points, false, progress)
	if err != nil {
		return nil, fmt.Errorf("kde: LogDensityAt: %w", err)
	}
	return r.values, nil
}

// ScoreAt returns ∇log q at points held in memory, given as for [New]: a tensor of their shape and precision, 0 where no point of
// a compact kernel is near. The work is cut, reported and stopped as that of [Estimate.LogDensityAt].
func (q Estimate) ScoreAt(ctx context.Context, backend backends.Backend, points any, progress ...func(scorekit.Report)) (*tensors.Tensor, error) {
	r, err := q.at(ctx, backend, points, true, progress)
	if err != nil {
		return nil, fmt.Errorf("kde: ScoreAt: %w", err)
	}
	return tensorOf(r.dtype, r.values, r.dims...), nil
}

// Blocks are small enough for the table of their pairs to stay in a cache. Where it has d numbers for each pair, as few
// centres as the cache asks for would be too many calls. Where blocks of centres that are far from a block of points are
// left out they are smaller.
const (
	blockPoints  = 1024
	blockCentres = 2048
	blockNear    = 1024
)

// sizeOf returns how many points a block has where there are n: of few sizes, as each is a graph of its own, that with the
// fewest points that only fill the last block.
func sizeOf(n int) int {
	if n <= blockPoints {
		return n
	}
	filled := func(size int) int { return (n + size - 1) / size * size }
	best := blockPoints
	for size := best - 128; size >= blockPoints/2; size -= 128 {
		if filled(size) < filled(best) {
			best = size
		}
	}
	return best
}

// results are the log-densities or scores at points, row after row.
type results struct {
	dtype  dtypes.DType
	dims   []int // of the scores of all points
	values []float64
}

// at evaluates the estimate block by block: first the fast way, which for points that may be near some centre asks for the order
// that makes blocks compact, then the points that it leaves.
func (q Estimate) at(ctx context.Context, backend backends.Backend, points any, pull bool, progress []func(scorekit.Report)) (r results, err error) {
	if q.Dim() == 0 {
		return r, errZero
	}
	if ctx == nil || backend == nil {
		return r, fmt.Errorf("ctx or backend nil: must be given")
	}
	rows, dims, dtype, err := read(points)
	if err != nil {
		return r, err
	}
	if !slices.Equal(dims, q.dims) {
		return r, fmt.Errorf("points of shape %v: must be %v, as the estimate's", dims, q.dims)
	}
	n, each := len(rows), 1
	if pull {
		each = q.Dim()
	}
	r = results{dtype: dtype, dims: append([]int{n}, dims...), values: make([]float64, n*each)}
	size := sizeOf(n)
	kind := kind{backend, dtype, size, pull}
	work, ok := q.kept.Take(kind)
	if !ok {
		if work, err = q.newBlocks(kind); err != nil {
			return r, err
		}
	}
	defer q.kept.Put(kind, work)
	tell := scorekit.Reporter("kernel density", "points", n, progress...)
	done, worth := 0, 0 // points that are done, and with their share those that are under way
	defer func() { tell(worth, true) }()
	through := func(by way, todo []int) (left []int, err error) {
		for part := range slices.Chunk(todo, work.size) {
			block := make([][]float64, len(part))
			for k, i := range part {
				block[k] = rows[i]
			}
			values, did, err := by(block, func(i, of int) error {
				if ctx.Err() != nil {
					return fmt.Errorf("stopped after %d of %d points: %w", done, n, context.Cause(ctx))
				}
				worth = max(worth, done+len(part)*i/of)
				tell(worth, false)
				return nil
			})
			if err != nil {
				return nil, err
			}
			for k, i := range part {
				if !did[k] {
					left = append(left, i)
					continue
				}
				copy(r.values[i*each:(i+1)*each], values[k*each:])
				done++
			}
			worth = max(worth, done)
		}
		return left, nil
	}
	todo := make([]int, n)
	for i := range todo {
		todo[i] = i
	}
	switch {
	case work.near != nil:
		inBlocks(rows, todo, work.size)
		todo, err = through(work.byNear, todo)
	case work.few != nil:
		// Where it leaves most points of the first block it is not tried at the others.
		first, rest := todo[:min(n, work.size)], todo[min(n, work.size):]
		if todo, err = through(work.few.run, first); err == nil && 2*len(todo) <= len(first) {
			first = todo
			rest, err = through(work.few.run, rest)
			todo = append(first, rest...)
		} else {
			todo = append(todo, rest...)
		}
		if err == nil && len(todo) <= work.size/pointShare { // not worth a block
			todo, err = through(work.few.onHost, todo)
		}
	}
	if err != nil {
		return r, err
	}
	_, err = through(work.bySums, todo)
	return r, err
}

// way is one way to evaluate an estimate at the points of a block, which says of which it did. It tells before each part of the work
// how many of how many are done, and stops at an error.
type way func(points [][]float64, before func(done, of int) error) (values []float64, did []bool, err error)

// blocks evaluates an estimate at a block of points at a time, in one graph that adds up a block of centres and another
// that makes the sums into what is wanted.
type blocks struct {
	kind
	q       Estimate
	centres []block
	sums    *route
	near    *route // the fast one for points that are near some centre
	few     *few   // the fast one for points at which few centres count: of these two there is one at most
}

// block is a block of centres, [n, d], with the logarithms of their weights, [1, n], or in place of these their logs and means,
// see centres; and for the fast route what is in near.go.
type block struct {
	centres, logWeights, factors *tensors.Tensor
	box                          box
	weight                       float64 // the sum of those in factors
}

// route is one way to evaluate: add takes the points, a block of centres, what belongs to them and the state, and returns
// the state; last takes the points and the state, and returns the result first.
type route struct {
	add, last *graph.Exec
	begin     func() []*tensors.Tensor
	with      func(c block) *tensors.Tensor
}

func (q Estimate) newBlocks(kind kind) (*blocks, error) {
	if _, err := q.widths(kind.dtype); err != nil {
		return nil, err
	}
	b := &blocks{kind: kind, q: q}
	var err error
	if b.few, err = q.newFew(kind); err != nil {
		return nil, err
	}
	near := b.few == nil && q.canBeNear(b.dtype)
	if err = b.place(near); err != nil {
		return nil, err
	}
	if b.sums, err = b.newSums(); err == nil && near {
		b.near, err = b.newNear()
	}
	return b, err
}

// place makes the blocks of centres, compact ones for the route near.
func (b *blocks) place(near bool) error {
	q, d := b.q, b.q.Dim()
	placed, logs, middle := q.place(b.dtype), q.logWeights(), q.centre
	if q.isCentred(b.dtype) {
		middle = make([]float64, d)
	}
	most := blockCentres
	order := make([]int, q.Len())
	for i := range order {
		order[i] = i
	}
	switch {
	case near:
		most = blockNear
	case !q.products(b.dtype).squares && d > maxColumns:
		most = max(1, 8*blockCentres/d)
	}
	length := numbers.Evenly(q.Len(), most)
	if near {
		inBlocks(slices.Collect(slices.Chunk(q.points, d)), order, length)
	}
	for part := range slices.Chunk(order, length) {
		var centres, weights []float64
		for _, i := range part {
			centres, weights = append(centres, placed[i*d:(i+1)*d]...), append(weights, logs[i])
		}
		for range length - len(part) { // the last block is filled with centres that do not count
			centres, weights = append(centres, placed[part[0]*d:(part[0]+1)*d]...), append(weights, math.Inf(-1))
		}
		points, logWeights := []int{length, d}, []int{1, length}
		if q.products(b.dtype).squares {
			centres, weights = q.prepared(centres, weights)
			points, logWeights = []int{d + 1, length}, []int{length, 1 + d}
		}
		c := block{logWeights: tensorOf(b.dtype, weights, logWeights...)}
		var err error
		if c.centres, err = newTensor(b.dtype, centres, points...); err != nil {
			return err
		}
		if near {
			f := q.factors(centres, weights, middle, b.pull)
			c.factors = tensorOf(b.dtype, f, len(f)/length, length)
			for _, w := range f[:length] {
				c.weight += w
			}
			for _, i := range part {
				c.box.add(q.points[i*d : (i+1)*d])
			}
		}
		b.centres = append(b.centres, c)
	}
	return nil
}

// newSums is the route for all points.
func (b *blocks) newSums() (r *route, err error) {
	q := b.q
	r = &route{with: func(c block) *tensors.Tensor { return c.logWeights }}
	squares := q.products(b.dtype).squares
	r.begin = func() []*tensors.Tensor {
		state := []*tensors.Tensor{tensorOf(b.dtype, slices.Repeat([]float64{math.Inf(-1)}, b.size), b.size, 1)}
		if b.pull {
			state = append(state, tensorOf(b.dtype, make([]float64, b.size*q.Dim()), b.size, q.Dim()))
		}
		return state
	}
	if r.add, err = graph.NewExec(b.backend, func(in []*Node) []*Node {
		f := q.form(in[0], nil)
		c := centres{logs: in[1], means: in[2]}
		if !squares {
			c = f.prepare(in[1], in[2])
		}
		if b.pull {
			s := merge(sums{in[3], in[4]}, f.over(c, true))
			return []*Node{s.log, s.pull}
		}
		return []*Node{merge(sums{log: in[3]}, f.over(c, false)).log}
	}); err != nil {
		return nil, err
	}
	r.last, err = graph.NewExec(b.backend, func(in []*Node) []*Node {
		s := sums{log: in[1]}
		if b.pull {
			s.pull = in[2]
		}
		return []*Node{q.finish(in[0], s, b.pull)}
	})
	return r, err
}

// newNear is the route for points near some centre. Its second result says which were, see around.
func (b *blocks) newNear() (r *route, err error) {
	q, rows := b.q, 1
	if b.pull {
		rows += q.Dim()
	}
	r = &route{with: func(c block) *tensors.Tensor { return c.factors }}
	r.begin = func() []*tensors.Tensor {
		return []*tensors.Tensor{tensorOf(b.dtype, make([]float64, rows*b.size), rows, b.size)}
	}
	if r.add, err = graph.NewExec(b.backend, func(in []*Node) []*Node {
		return []*Node{graph.Add(in[3], q.form(in[0], nil).kernels(in[1], in[2]))}
	}); err != nil {
		return nil, err
	}
	r.last, err = graph.NewExec(b.backend, func(in []*Node) []*Node {
		s, total := q.sumsOf(in[1])
		return []*Node{q.finish(in[0], s, b.pull), total}
	})
	return r, err
}

// finish turns the sums over all centres into log q, [batch], or with pull into ∇log q.
func (q Estimate) finish(x *Node, s sums, pull bool) *Node {
	f := q.form(x, nil)
	if !pull {
		return f.logDensity(s)
	}
	return q.turnBack(f.score(s), x.Shape().Dimensions)
}

// Finalize gives back the graphs.
func (b *blocks) Finalize() {
	for _, r := range []*route{b.sums, b.near} {
		if r != nil {
			r.add.Finalize()
			r.last.Finalize()
		}
	}
	if b.few != nil {
		b.few.greatest.Finalize()
	}
}

// bySums is the way that does at all points.
func (b *blocks) bySums(points [][]float64, before func(done, of int) error) (values []float64, did []bool, err error) {
	values, _, err = b.run(b.sums, b.centres, points, before)
	return values, slices.Repeat([]bool{true}, len(points)), err
}

// byNear is the way that does at points near some centre.
func (b *blocks) byNear(points [][]float64, before func(done, of int) error) (values []float64, did []bool, err error) {
	centres, least := b.around(points)
	values, totals, err := b.run(b.near, centres, points, before)
	if err != nil {
		return nil, nil, err
	}
	for k := range points {
		did = append(did, totals[k] >= least)
	}
	return values, did, nil
}

// run returns the results of one route for at most size rows, from the given centres, and what else the route returns.
// Before each block of centres it calls before with how many of how many blocks are done, and stops at its error.
func (b *blocks) run(r *route, centres []block, rows [][]float64, before func(done, of int) error) (values, more []float64, err error) {
	flat := slices.Concat(rows...)
	for range b.size - len(rows) {
		flat = append(flat, rows[0]...)
	}
	x := tensorOf(b.dtype, flat, append([]int{b.size}, b.q.dims...)...)
	state := r.begin()
	free := func(all []*tensors.Tensor) {
		for _, t := range all {
			if e := t.FinalizeAll(); err == nil {
				err = e
			}
		}
	}
	defer func() { free(append(state, x)) }()
	for i, c := range centres {
		if err := before(i, len(centres)); err != nil {
			return nil, nil, err
		}
		in := []any{x, c.centres, r.with(c)}
		for _, s := range state {
			in = append(in, s)
		}
		next, err := r.add.Exec(in...)
		if err != nil {
			return nil, nil, err
		}
		free(state)
		state = next
	}
	in := []any{x}
	for _, s := range state {
		in = append(in, s)
	}
	out, err := r.last.Exec(in...)
	if err != nil {
		return nil, nil, err
	}
	defer free(out)
	if values, err = floats(out[0]); err == nil && len(out) > 1 {
		more, err = floats(out[1])
	}
	return values[:len(values)/b.size*len(rows)], more, err
}
