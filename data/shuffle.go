package data

import (
	"context"
	"iter"
	"math/rand/v2"
	"slices"
)

// The shuffle buffer unless WithShuffle is given: rows, and values of 8 bytes in them.
const (
	bufferRows   = 65_536
	bufferValues = 256 << 20 / 8
)

// inTrainingOrder gives the examples pass after pass, mixed, without the first skip.
func (f *File) inTrainingOrder(ctx context.Context, seed int64, skip int) iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		for pass := 0; ; pass++ {
			if rows := f.knownRows(); rows > 0 {
				pass += skip / rows
				skip %= rows
			}
			read := 0
			for r, err := range f.mixed(ctx, seed, pass, skip) {
				if err != nil {
					yield(record{}, err)
					return
				}
				read++
				if f.table == nil && read <= skip {
					continue
				}
				if !yield(r, nil) {
					return
				}
			}
			if f.table != nil {
				read += skip
			}
			if read == 0 {
				yield(record{}, errNoRows)
				return
			}
			skip = max(0, skip-read)
			f.noteRows(read)
		}
	}
}

// mixed gives one pass over the examples in an order that follows from the seed and the number of the pass. Only a table
// leaves out skip of them by itself.
func (f *File) mixed(ctx context.Context, seed int64, pass, skip int) iter.Seq2[record, error] {
	rng := rand.New(rand.NewPCG(uint64(seed), uint64(pass)))
	switch {
	case f.table != nil && f.settings.shuffle == 1:
		return f.byNumber(ctx, f.rows()[skip:])
	case f.table != nil && !f.table.scattered():
		return f.grouped(ctx, rng, skip)
	case f.table != nil:
		order := slices.Clone(f.rows())
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		return f.byNumber(ctx, order[skip:])
	case f.settings.shuffle == 1:
		return f.oneByOne(ctx)
	}
	return f.buffered(ctx, rng)
}

// buffered mixes a sequence: a buffer is filled, then each row that comes takes the place of one drawn from it.
func (f *File) buffered(ctx context.Context, rng *rand.Rand) iter.Seq2[record, error] {
	size := f.bufferSize()
	return func(yield func(record, error) bool) {
		var values []float64
		var classes []int32
		slot := func(i int) record {
			return record{x: values[i*f.width : (i+1)*f.width], class: classes[i]}
		}
		for r, err := range f.oneByOne(ctx) {
			if err != nil {
				yield(record{}, err)
				return
			}
			if len(classes) < size {
				values = append(values, r.x...)
				classes = append(classes, r.class)
				continue
			}
			i := rng.IntN(size)
			if !yield(slot(i), nil) {
				return
			}
			copy(slot(i).x, r.x)
			classes[i] = r.class
		}
		for left := len(classes); left > 0; left-- {
			i := rng.IntN(left)
			if !yield(slot(i), nil) {
				return
			}
			copy(slot(i).x, slot(left-1).x)
			classes[i] = classes[left-1]
		}
	}
}

// grouped mixes a table whose rows are better read in runs of neighbours: each group is of runs from all over the table,
// and its rows are given in random order. A table of one group is mixed wholly.
func (f *File) grouped(ctx context.Context, rng *rand.Rand, skip int) iter.Seq2[record, error] {
	const run = 256
	return func(yield func(record, error) bool) {
		var runs [][]int32
		for some := range slices.Chunk(f.rows(), run) {
			runs = append(runs, some)
		}
		rng.Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
		var values []float64
		var classes []int32
		for some := range slices.Chunk(runs, max(1, f.bufferSize()/run)) {
			group := slices.Concat(some...)
			order := rng.Perm(len(group))
			if skip >= len(group) {
				skip -= len(group)
				continue
			}
			values, classes = values[:0], classes[:0]
			for r, err := range f.byNumber(ctx, group) {
				if err != nil {
					yield(record{}, err)
					return
				}
				values = append(values, r.x...)
				classes = append(classes, r.class)
			}
			for _, i := range order[skip:] {
				if !yield(record{x: values[i*f.width : (i+1)*f.width], class: classes[i]}, nil) {
					return
				}
			}
			skip = 0
		}
	}
}

// bufferSize returns how many rows are held to be mixed.
func (f *File) bufferSize() int {
	if f.settings.shuffle > 0 {
		return f.settings.shuffle
	}
	return max(2, min(bufferRows, bufferValues/f.width))
}

// knownRows returns the number of examples in a pass, or 0 while it is not known.
func (f *File) knownRows() int {
	if f.Rows > 0 {
		return f.Rows
	}
	f.cache.Lock()
	defer f.cache.Unlock()
	return f.cache.rows
}

func (f *File) noteRows(n int) {
	f.cache.Lock()
	defer f.cache.Unlock()
	f.cache.rows = n
}
