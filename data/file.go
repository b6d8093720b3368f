package data

import (
	"context"
	"fmt"
	"iter"
	"math"
	"path/filepath"
	"slices"

	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/scorekit"
)

// File is a data set that [Open] has opened, or a part of one that [File.Split] dealt. It holds no file open between
// calls, and its methods may be called at the same time from several goroutines. Do not change its fields.
//
// It is a [scorekit.Source]: scorekit.Stream(file) trains from it piece by piece, with memory bounded by a batch and the
// shuffle buffer ([WithShuffle]), to which NPY, IDX and images add 8 bytes a row for the order. NPZ, IDX inside gzip
// and an NPY in Fortran order are read into memory (as stored: a pixel is a byte), up to 2 GiB.
type File struct {
	// Path is what was opened.
	Path string
	// Format is what it turned out to be.
	Format Format
	// Columns names the values of a row, or is nil where they have no names.
	Columns []string
	// Rows is the number of examples, or −1 where only reading to the end would tell.
	Rows int
	// Height, Width and Channels (1 grey, 3 colour) are those of the image that a row holds, line by line, channel
	// fastest, or 0 when rows are not images.
	Height, Width, Channels int
	// Levels are the only values there are: 0 to 255 for images and arrays of bytes, otherwise nothing is said.
	Levels Levels
	// ClassNames names the classes of the examples, which are numbered in this order, or is nil if they have none.
	ClassNames []string

	settings *openSettings
	width    int // values a row
	// Rows are read either one after another or by number: one of the two is set.
	sequence sequence
	table    table
	fileRows int     // rows of the whole file with those that are left out, or −1
	labels   []int32 // the class of each row of the file, where they do not come with the rows of a sequence
	kept     []int32 // the rows of a table in which nothing is missing, if others are to be left out; else nil
	parts    []part
	cache    *passCache
}

var _ scorekit.Source = (*File)(nil)

// sequence is a file whose rows are read from front to back.
type sequence interface {
	open() (cursor, error)
	labels() *classList
}

// cursor is a place in a sequence.
type cursor interface {
	// next reads the next row into x, or passes over its values if x is nil. A missing value is NaN, a missing class
	// NoClass. At the end the error is io.EOF.
	next(x []float64) (class int32, err error)
	// place names where the last row has its k-th value, or its label for k −1.
	place(k int) string
	close() error
}

// table is a file whose rows are read by number.
type table interface {
	// read reads the numbered rows into x, one after another. A missing value is NaN.
	read(ctx context.Context, rows []int32, x []float64) error
	// place names where a row has its k-th value.
	place(row int32, k int) string
	// mayMiss tells whether values can be missing at all.
	mayMiss() bool
	// scattered tells whether reading rows here and there costs no more than reading neighbours.
	scattered() bool
}

// record is an example as it is read. x is overwritten by the next.
type record struct {
	x     []float64
	class int32
	row   int32 // its number in a table
}

// Shape returns the dimensions of one example: [Height, Width, Channels] for images, otherwise [columns].
func (f *File) Shape() []int {
	if f.Height > 0 {
		return []int{f.Height, f.Width, f.Channels}
	}
	return []int{f.width}
}

// Classes returns how many classes the examples have, 0 if none.
func (f *File) Classes() int { return len(f.ClassNames) }

// Set reads all examples into memory: X is [rows, values], float32 unless [WithFloat64] was given. ctx stops it between rows.
func (f *File) Set(ctx context.Context) (Set, error) {
	set := Set{Name: filepath.Base(f.Path), Columns: slices.Clone(f.Columns), Levels: f.Levels, Height: f.Height, Width: f.Width, Channels: f.Channels}
	var err error
	if f.settings.float64 {
		set.X, set.Labels, err = collect[float64](ctx, f)
	} else {
		set.X, set.Labels, err = collect[float32](ctx, f)
	}
	if err != nil {
		return Set{}, err
	}
	return set, nil
}

func collect[T float32 | float64](ctx context.Context, f *File) (x *tensors.Tensor, labels []int, err error) {
	const sure = 1 << 24 // values reserved on the word of a file; more only as they come
	values := make([]T, 0, min(max(f.Rows, 0), sure/max(f.width, 1))*f.width)
	n := 0
	for r, err := range f.inFileOrder(ctx) {
		if err != nil {
			return nil, nil, f.failed(err)
		}
		for _, v := range r.x {
			values = append(values, T(v))
		}
		if f.ClassNames != nil {
			labels = append(labels, int(r.class))
		}
		n++
	}
	if n == 0 {
		return nil, nil, f.failed(errNoRows)
	}
	return tensors.FromFlatDataAndDimensions(values, n, f.width), labels, nil
}

// Values gives the values of each example once, in the order of the file: what fitting a transform to a file larger than
// memory takes. The slice is overwritten by the next. An error, a cancelled ctx included, is given as the last pair.
func (f *File) Values(ctx context.Context) iter.Seq2[[]float64, error] {
	return func(yield func([]float64, error) bool) {
		n := 0
		for r, err := range f.inFileOrder(ctx) {
			if err != nil {
				yield(nil, f.failed(err))
				return
			}
			if !yield(r.x, nil) {
				return
			}
			n++
		}
		if n == 0 {
			yield(nil, f.failed(errNoRows))
		}
	}
}

// Batches gives the examples in the order of training, as [scorekit.Source] says: each example once a pass, the passes
// in different orders. A batch may end one pass and begin the next. [WithShuffle] says how well they are mixed.
//
// The batches before from are passed over without reading them where rows are read by number. Other files are read
// again up to the place in its pass.
func (f *File) Batches(ctx context.Context, seed int64, n int, from int) iter.Seq2[scorekit.SourceBatch, error] {
	return func(yield func(scorekit.SourceBatch, error) bool) {
		if n < 1 || from < 0 || from > math.MaxInt/n {
			yield(scorekit.SourceBatch{}, f.failed(fmt.Errorf("batches of %d from %d: must be of at least 1, from at least 0 and not beyond %d examples", n, from, math.MaxInt)))
			return
		}
		if f.settings.float64 {
			pack[float64](ctx, f, seed, n, from, yield)
		} else {
			pack[float32](ctx, f, seed, n, from, yield)
		}
	}
}

// pack collects records into batches.
func pack[T float32 | float64](ctx context.Context, f *File, seed int64, n, from int, yield func(scorekit.SourceBatch, error) bool) {
	dims := append([]int{n}, f.Shape()...)
	var classes []int32
	values := make([]T, 0, n*f.width)
	for r, err := range f.inTrainingOrder(ctx, seed, n*from) {
		if err != nil {
			yield(scorekit.SourceBatch{}, f.failed(err))
			return
		}
		for _, v := range r.x {
			values = append(values, T(v))
		}
		if f.ClassNames != nil {
			classes = append(classes, r.class)
		}
		if len(values) < n*f.width {
			continue
		}
		if !yield(scorekit.SourceBatch{X: tensors.FromFlatDataAndDimensions(values, dims...), Classes: classes}, nil) {
			return
		}
		// FromFlatDataAndDimensions has copied the values; the classes were given away.
		values, classes = values[:0], nil
	}
}

// Split deals the examples at random into two parts, to be read as if each were a file. Each example falls into the
// first with the given probability, by a coin toss of its own that follows from the seed and its place in the file: no
// list is kept, so a file larger than memory can be dealt while it streams. The first part has fraction·n examples give
// or take √(n·fraction·(1−fraction)). To deal in three, split a part again. [Set.Split] deals exact numbers in memory.
//
// It returns an error when the fraction is not between 0 and 1, and when a part would be empty, if the number of rows
// is known.
func (f *File) Split(fraction float64, seed int64) (first, rest *File, err error) {
	if !(fraction > 0 && fraction < 1) {
		return nil, nil, f.failed(fmt.Errorf("Split: fraction %v: must be between 0 and 1", fraction))
	}
	if f.Rows == 1 {
		return nil, nil, f.failed(fmt.Errorf("Split: 1 row: must have at least 2"))
	}
	of := func(first bool) *File {
		p := *f
		p.parts = append(slices.Clone(f.parts), part{seed: seed, fraction: fraction, first: first})
		p.cache = &passCache{}
		return &p
	}
	first, rest = of(true), of(false)
	if f.Rows < 0 {
		return first, rest, nil
	}
	for _, p := range []*File{first, rest} {
		if p.Rows = p.count(); p.Rows == 0 {
			return nil, nil, f.failed(fmt.Errorf("Split: fraction %v of %d rows leaves a part empty: choose another fraction or seed", fraction, f.Rows))
		}
	}
	return first, rest, nil
}

// failed names the file in an error.
func (f *File) failed(err error) error { return fmt.Errorf("data: %s: %w", f.Path, err) }

// check tells whether to keep a row, or why it cannot be read.
func (f *File) check(x []float64, class int32, place func(k int) string) (keep bool, err error) {
	labelled := f.ClassNames != nil
	if labelled && class == scorekit.NoClass {
		if f.settings.drop {
			return false, nil
		}
		return false, fmt.Errorf("%s: the label is missing: fill it in, or leave such rows out with WithMissingDropped", place(-1))
	}
	for k, v := range x {
		if v-v == 0 && (f.settings.float64 || math.Abs(v) <= math.MaxFloat32) {
			continue
		}
		switch {
		case math.IsNaN(v) && f.settings.drop:
			return false, nil
		case math.IsNaN(v):
			return false, fmt.Errorf("%s: the value is missing (empty or NaN): fill it in, or leave such rows out with WithMissingDropped", place(k))
		case math.IsInf(v, 0):
			return false, fmt.Errorf("%s: value %v: must be finite: correct it or leave the column out with WithoutColumns", place(k), v)
		default:
			return false, fmt.Errorf("%s: value %v does not fit in float32: use WithFloat64", place(k), v)
		}
	}
	return true, nil
}
