package kde

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

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
// progress, if given, is told how many points are done, a few times a second.
//
// It returns an error for points that are not finite or of another shape than the estimate's, and, naming how far it came,
// when ctx ends.
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
	blockPoints  = 64
	blockCentres = 4096
)

// at hands the log-densities or the scores to take, block by block.
func (q Estimate) at(ctx context.Context, backend backends.Backend, points any, pull bool, progress []func(scorekit.Report), take func(dtypes.DType, []int, []float64)) (err error) {
	if err := q.Validate(); err != nil {
		return err
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
	work, err := q.newBlocks(backend, dtype, min(len(rows), blockPoints), pull)
	if err != nil {
		return err
	}
	defer work.finalize()
	shape, tell := append([]int{len(rows)}, dims...), teller("kernel density", len(rows), progress)
	for from := 0; from < len(rows); from += work.size {
		if ctx.Err() != nil {
			return fmt.Errorf("stopped after %d of %d points: %w", from, len(rows), context.Cause(ctx))
		}
		to := min(from+work.size, len(rows))
		block, err := work.run(ctx, rows[from:to])
		if err != nil {
			return err
		}
		take(dtype, shape, block)
		tell(to)
	}
	return nil
}

// blocks evaluates an estimate at a block of points at a time, in one graph that adds up a block of centres and another
// that makes the sums into what is wanted.
type blocks struct {
	q         Estimate
	dtype     dtypes.DType
	size      int // points in a block
	pull      bool
	centres   [][2]*tensors.Tensor // with the logarithms of their weights
	add, last *graph.Exec
}

func (q Estimate) newBlocks(backend backends.Backend, dtype dtypes.DType, size int, pull bool) (b *blocks, err error) {
	defer func() { // tensorOf panics
		if e, ok := recover().(error); ok {
			err = e
		}
	}()
	b = &blocks{q: q, dtype: dtype, size: size, pull: pull}
	d, placed, logs := q.Dim(), q.place(dtype), q.logWeights()
	most := blockCentres
	if !q.products(dtype).squares && d > maxColumns {
		most = max(1, 16*blockCentres/d)
	}
	count := (q.Len() + most - 1) / most
	length := (q.Len() + count - 1) / count
	for from := 0; from < q.Len(); from += length {
		to := min(from+length, q.Len())
		centres, weights := slices.Clone(placed[from*d:to*d]), slices.Clone(logs[from:to])
		for range from + length - to { // the last block is filled with centres that do not count
			centres, weights = append(centres, placed[:d]...), append(weights, math.Inf(-1))
		}
		b.centres = append(b.centres, [2]*tensors.Tensor{tensorOf(dtype, centres, length, d), tensorOf(dtype, weights, 1, length)})
	}
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

// run returns the results for at most size rows.
func (b *blocks) run(ctx context.Context, rows [][]float64) ([]float64, error) {
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
	for _, c := range b.centres {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
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

// teller returns a function that passes on how many points are done, at most four times a second and at the end.
func teller(verb string, total int, progress []func(scorekit.Report)) func(done int) {
	start := time.Now()
	last := start
	return func(done int) {
		now := time.Now()
		if done < total && now.Sub(last) < 250*time.Millisecond {
			return
		}
		last = now
		r := scorekit.Report{Verb: verb, Step: done, Total: total, Elapsed: now.Sub(start), Loss: math.NaN(), Done: done == total}
		r.Rate = float64(done) / max(r.Elapsed.Seconds(), 1e-9)
		r.Left = time.Duration(float64(total-done) / r.Rate * float64(time.Second))
		for _, p := range progress {
			if p != nil {
				p(r)
			}
		}
	}
}
