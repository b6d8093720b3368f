package data

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/scorekit/lab/scorekit"
)

var errNoRows = errors.New("no rows: must have at least one")

// passCache keeps what one pass over a file or a part of one has told about it.
type passCache struct {
	sync.Mutex
	rows   int     // of a sequence, 0 when not known yet
	chosen []int32 // of a table
}

// part is one side of a deal.
type part struct {
	seed     int64
	fraction float64
	first    bool
}

// has tells whether row i of the file belongs to the part that f is.
func (f *File) has(i int) bool {
	for depth, p := range f.parts {
		if (coin(p.seed, depth, i) < p.fraction) != p.first {
			return false
		}
	}
	return true
}

// coin returns a number in [0, 1) that follows from the three: the finalizer of SplitMix64 (Steele, Lea and Flood 2014),
// applied to each in turn.
func coin(seed int64, depth, i int) float64 {
	h := uint64(seed)
	for _, v := range [2]uint64{uint64(depth), uint64(i)} {
		h += 0x9e3779b97f4a7c15 * (v + 1)
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return float64(h>>11) / (1 << 53)
}

// candidates gives the rows of the file in which nothing is missing.
func (f *File) candidates() iter.Seq[int] {
	return func(yield func(int) bool) {
		if f.kept != nil {
			for _, i := range f.kept {
				if !yield(int(i)) {
					return
				}
			}
			return
		}
		for i := range f.fileRows {
			if !yield(i) {
				return
			}
		}
	}
}

// count returns the number of rows of the part, where that of the file is known.
func (f *File) count() (n int) {
	for i := range f.candidates() {
		if f.has(i) {
			n++
		}
	}
	return n
}

// rows returns the numbers of the rows of a table that belong to the part. Do not change them.
func (f *File) rows() []int32 {
	f.cache.Lock()
	defer f.cache.Unlock()
	if f.cache.chosen == nil {
		f.cache.chosen = make([]int32, 0, f.Rows)
		for i := range f.candidates() {
			if f.has(i) {
				f.cache.chosen = append(f.cache.chosen, int32(i))
			}
		}
	}
	return f.cache.chosen
}

// findMissing notes the rows of a table in which nothing is missing. How many there are in a sequence shows when it is
// read.
func (f *File) findMissing() error {
	if f.table == nil {
		f.Rows = -1
		return nil
	}
	if !f.table.mayMiss() && f.labels == nil {
		return nil
	}
	all := make([]int32, f.fileRows)
	for i := range all {
		all[i] = int32(i)
	}
	kept := make([]int32, 0)
	for r, err := range f.byNumber(context.Background(), all) {
		if err != nil {
			return err
		}
		kept = append(kept, r.row)
	}
	f.kept, f.Rows = kept, len(kept)
	return nil
}

// inFileOrder gives each example once.
func (f *File) inFileOrder(ctx context.Context) iter.Seq2[record, error] {
	if f.table != nil {
		return f.byNumber(ctx, f.rows())
	}
	return f.oneByOne(ctx)
}

// byNumber gives the numbered rows of a table.
func (f *File) byNumber(ctx context.Context, rows []int32) iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		const most, values = 1024, 1 << 19 // of rows and of values in a block
		block := max(min(most, values/max(f.width, 1)), runtime.GOMAXPROCS(0))
		x := make([]float64, min(block, len(rows))*f.width)
		for some := range slices.Chunk(rows, block) {
			err := context.Cause(ctx)
			if err == nil {
				err = f.table.read(ctx, some, x[:len(some)*f.width])
			}
			if err != nil {
				yield(record{}, err)
				return
			}
			for i, row := range some {
				r := record{x: x[i*f.width : (i+1)*f.width], class: scorekit.NoClass, row: row}
				if f.labels != nil {
					r.class = f.labels[row]
				}
				keep, err := f.check(r.x, r.class, func(k int) string { return f.table.place(row, k) })
				if err != nil {
					yield(record{}, err)
					return
				}
				if keep && !yield(r, nil) {
					return
				}
			}
		}
	}
}

// oneByOne gives the rows of a sequence.
func (f *File) oneByOne(ctx context.Context) iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		at, err := f.sequence.open()
		if err != nil {
			yield(record{}, err)
			return
		}
		defer at.close()
		x := make([]float64, f.width)
		for i := 0; ; i++ {
			if i%1024 == 0 && ctx.Err() != nil {
				yield(record{}, context.Cause(ctx))
				return
			}
			into, mine := x, f.has(i)
			if !mine {
				into = nil
			}
			class, err := at.next(into)
			if f.labels != nil && (err == nil && i >= len(f.labels) || err == io.EOF && i != len(f.labels)) {
				err = fmt.Errorf("%d labels in %s: must be as many as rows", len(f.labels), f.settings.labelFile)
			}
			if err == io.EOF {
				return
			}
			keep := false
			if err == nil && mine {
				if f.labels != nil {
					class = f.labels[i]
				}
				keep, err = f.check(x, class, at.place)
			}
			if err != nil {
				yield(record{}, err)
				return
			}
			if keep && !yield(record{x: x, class: class}, nil) {
				return
			}
		}
	}
}

// limitRows is an error when a table has more rows than can be numbered.
func limitRows(n int) error {
	if n > math.MaxInt32 {
		return fmt.Errorf("%d rows: must be at most %d", n, math.MaxInt32)
	}
	return nil
}
