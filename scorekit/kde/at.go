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
	logs := []float64{}
	err := q.at(ctx, backend, points, false, progress, func(_ dtypes.DType, _ []int, block []float64) { logs = append(logs, block...) })
	if err != nil {
		return nil, fmt.Errorf("kde: LogDensityAt: %w", err)
	}
	return logs, nil
}

// ScoreAt returns ∇log q at points held in memory, given as for [New]: a tensor of their shape and precision, 0 where no point of
// a compact kernel is near. The work is cut, reported and stopped as that of [Estimate.LogDensityAt].
func (q Estimate) ScoreAt(ctx context.Context, backend backends.Backend, points any, progress ...func(scorekit.Report)) (*tensors.Tensor, error) {
	var scores []float64
	var dims []int
	var dtype dtypes.DType
	err := q.at(ctx, backend, points, true, progress, func(t dtypes.DType, shape []int, block []float64) {
		dtype, dims, scores = t, shape, append(scores, block...)
	})
	if err != nil {
		return nil, fmt.Errorf("kde: ScoreAt: %w", err)
	}
	return tensorOf(dtype, scores, dims...), nil
}

// Blocks are small enough for the table of their pairs to stay in a cache. Where it has d numbers for each pair, as few
// centres as the cache asks for would be too many calls.
const (
	blockPoints  = 256
	blockCentres = 4096
)

// at hands the log-densities or the scores to take, block by block.
func (q Estimate) at(ctx context.Context, backend backends.Backend, points any, pull bool, progress []func(scorekit.Report), take func(dtypes.DType, []int, []float64)) (err error) {
	if q.Dim() == 0 {
		return errZero
	}
	if ctx == nil || backend == nil {
		return fmt.Errorf("ctx or backend nil: must be given")
	}
	rows, dims, dtype, err := read(points)
	if err != nil {
		return err
	}
	if !slices.Equal(dims, q.dims) {
		return fmt.Errorf("points of shape %v: must be %v, as the estimate's", dims, q.dims)
	}
	n := len(rows)
	size := min(n, blockPoints)
	work := q.kept.take(backend, dtype, size, pull)
	if work == nil {
		if work, err = q.newBlocks(backend, dtype, size, pull); err != nil {
			return err
		}
	}
	defer q.kept.put(work)
	shape, tell := append([]int{n}, dims...), scorekit.Reporter("kernel density", "points", n, progress...)
	done, worth := 0, 0 // points that are done, and with their share those that are under way
	defer func() { tell(worth, true) }()
	for done < n {
		to := min(done+work.size, n)
		block, err := work.run(rows[done:to], func(centres int) error {
			if ctx.Err() != nil {
				return fmt.Errorf("stopped after %d of %d points: %w", done, n, context.Cause(ctx))
			}
			worth = done + (to-done)*centres/len(work.centres)
			tell(worth, false)
			return nil
		})
		if err != nil {
			return err
		}
		take(dtype, shape, block)
		done, worth = to, to
	}
	return nil
}

// evenly returns the size of the fewest equal blocks of at most limit, so that the last is about as full as the others.
func evenly(n, limit int) int {
	count := (n + limit - 1) / limit
	return (n + count - 1) / count
}

// blocks evaluates an estimate at a block of points at a time, in one graph that adds up a block of centres and another
// that makes the sums into what is wanted.
type blocks struct {
	q         Estimate
	backend   backends.Backend
	dtype     dtypes.DType
	size      int // points in a block
	pull      bool
	centres   [][2]*tensors.Tensor // with the logarithms of their weights
	add, last *graph.Exec
}

func (q Estimate) newBlocks(backend backends.Backend, dtype dtypes.DType, size int, pull bool) (*blocks, error) {
	if _, err := q.widths(dtype); err != nil {
		return nil, err
	}
	b := &blocks{q: q, backend: backend, dtype: dtype, size: size, pull: pull}
	d, placed, logs := q.Dim(), q.place(dtype), q.logWeights()
	most := blockCentres
	if !q.products(dtype).squares && d > maxColumns {
		most = max(1, 16*blockCentres/d)
	}
	length := evenly(q.Len(), most)
	for from := 0; from < q.Len(); from += length {
		to := min(from+length, q.Len())
		centres, weights := slices.Clone(placed[from*d:to*d]), slices.Clone(logs[from:to])
		for range from + length - to { // the last block is filled with centres that do not count
			centres, weights = append(centres, placed[:d]...), append(weights, math.Inf(-1))
		}
		c, err := newTensor(dtype, centres, length, d)
		if err != nil {
			return nil, err
		}
		b.centres = append(b.centres, [2]*tensors.Tensor{c, tensorOf(dtype, weights, 1, length)})
	}
	var err error
	b.add, err = graph.NewExec(backend, func(in []*Node) []*Node {
		f := q.form(in[0], nil)
		if pull {
			s := merge(sums{in[3], in[4]}, f.over(in[1], in[2], true))
			return []*Node{s.log, s.pull}
		}
		return []*Node{merge(sums{log: in[3]}, f.over(in[1], in[2], false)).log}
	})
	if err != nil {
		return nil, err
	}
	b.last, err = graph.NewExec(backend, func(in []*Node) *Node {
		f, s := q.form(in[0], nil), sums{log: in[1]}
		if !pull {
			return f.logDensity(s)
		}
		s.pull = in[2]
		return q.turnBack(f.score(s), in[0].Shape().Dimensions)
	})
	return b, err
}

func (b *blocks) finalize() {
	b.add.Finalize()
	b.last.Finalize()
}

// run returns the results for at most size rows. Before each block of centres it calls before with how many blocks are
// done, and stops at its error.
func (b *blocks) run(rows [][]float64, before func(done int) error) ([]float64, error) {
	d := b.q.Dim()
	flat := slices.Concat(rows...)
	for range b.size - len(rows) {
		flat = append(flat, rows[0]...)
	}
	x := tensorOf(b.dtype, flat, append([]int{b.size}, b.q.dims...)...)
	state := []*tensors.Tensor{tensorOf(b.dtype, slices.Repeat([]float64{math.Inf(-1)}, b.size), b.size, 1)}
	if b.pull {
		state = append(state, tensorOf(b.dtype, make([]float64, b.size*d), b.size, d))
	}
	for i, c := range b.centres {
		if err := before(i); err != nil {
			return nil, err
		}
		in := []any{x, c[0], c[1]}
		for _, s := range state {
			in = append(in, s)
		}
		next, err := b.add.Exec(in...)
		if err != nil {
			return nil, err
		}
		for _, s := range state {
			if err := s.FinalizeAll(); err != nil {
				return nil, err
			}
		}
		state = next
	}
	in := []any{x}
	for _, s := range state {
		in = append(in, s)
	}
	out, err := b.last.Exec1(in...)
	if err != nil {
		return nil, err
	}
	values := make([]float64, out.Size())
	err = out.ConstFlatData(func(flat any) {
		switch f := flat.(type) {
		case []float64:
			copy(values, f)
		case []float32:
			for i, v := range f {
				values[i] = float64(v)
			}
		}
	})
	for _, t := range append(state, out, x) {
		if e := t.FinalizeAll(); err == nil {
			err = e
		}
	}
	if b.pull {
		return values[:len(rows)*d], err
	}
	return values[:len(rows)], err
}
