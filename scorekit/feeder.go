package scorekit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/shapes"
	"github.com/gomlx/gomlx/pkg/core/tensors"
)

// feeder reads the blocks of a run ahead, in a goroutine of its own.
type feeder struct {
	blocks chan blockOrError // holds one; another is being put together meanwhile
	cancel context.CancelFunc
	done   chan struct{} // closed when the goroutine has ended
}

type blockOrError struct {
	parts []*tensors.Tensor
	err   error
}

// order is what a feeder reads.
type order struct {
	source  Source
	shape   []int // of an example
	dtype   dtypes.DType
	seed    int64
	batch   int
	classes int           // the most that there may be; 0: they are not asked for
	first   int           // the number of the first batch
	end     func(int) int // the end of the block that starts at a batch
	last    int           // the batch at which reading ends
	at      int           // the batch that comes next, once it is read
}

// patience is how long a run that ends waits for a source that was told to stop: beyond that it goes on by itself, and
// its goroutine ends when the source returns.
const patience = time.Second

func startFeeder(ctx context.Context, o order) *feeder {
	ctx, cancel := context.WithCancel(ctx)
	o.at = o.first
	f := &feeder{blocks: make(chan blockOrError, 1), cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(f.done)
		var err error
		returned := false
		defer func() {
			// A panic here would end the program, and with it the run whose weights the caller is to have: nobody else can
			// recover from it.
			if !returned {
				err = o.failed(panicked(recover()))
			}
			if err != nil {
				f.send(ctx, blockOrError{err: err})
			}
		}()
		err = o.read(ctx, func(parts []*tensors.Tensor) bool { return f.send(ctx, blockOrError{parts: parts}) })
		returned = true
	}()
	return f
}

// failed names the source, and the batch that it was to give.
func (o *order) failed(err error) error {
	return fmt.Errorf("source %T: batch %d: %w", o.source, o.at, err)
}

// panicked says what a panic was and where it began, in the code that Go's runtime was called from. Without a value the
// goroutine was ended by runtime.Goexit, as a test's FailNow does.
func panicked(value any) error {
	if value == nil {
		return errors.New("it ended its goroutine")
	}
	where := "an unknown place"
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	for panicking, more := false, true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		if panicking && !strings.HasPrefix(f.Function, "runtime.") {
			where = fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
			break
		}
		panicking = panicking || f.Function == "runtime.gopanic"
	}
	if err, ok := value.(error); ok {
		return fmt.Errorf("panic at %s: %w", where, err)
	}
	return fmt.Errorf("panic at %s: %v", where, value)
}

func (f *feeder) send(ctx context.Context, b blockOrError) bool {
	select {
	case f.blocks <- b:
		return true
	case <-ctx.Done():
		return false
	}
}

// next returns the next block, or ctx's cause as soon as it is cancelled.
func (f *feeder) next(ctx context.Context) ([]*tensors.Tensor, error) {
	select {
	case b := <-f.blocks:
		if b.err != nil && ctx.Err() != nil {
			return nil, context.Cause(ctx) // what the source says then is no news
		}
		return b.parts, b.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// close stops the source and waits for it, but not for ever.
func (f *feeder) close() {
	f.cancel()
	select {
	case <-f.done:
	case <-time.After(patience):
	}
}

// read gives the blocks to each, until it returns false or all are read.
func (o *order) read(ctx context.Context, each func([]*tensors.Tensor) bool) error {
	if o.at >= o.last {
		return nil
	}
	var b *hostBlock
	for batch, err := range o.source.Batches(ctx, o.seed, o.batch, o.at) {
		if err != nil {
			return o.failed(err)
		}
		if b == nil {
			b = o.newBlock(o.end(o.at) - o.at)
		}
		if err := b.add(*o, batch); err != nil {
			return o.failed(err)
		}
		o.at++
		if b.filled == b.steps {
			if !each(b.parts()) || o.at >= o.last {
				return nil
			}
			b = nil
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return fmt.Errorf("source %T: it ended before batch %d: must go on for ever, pass after pass", o.source, o.at)
}

// hostBlock is a block while it is put together: [steps·batch, dims...].
type hostBlock struct {
	x             *tensors.Tensor
	classes       []int32
	steps, filled int
}

func (o order) newBlock(steps int) *hostBlock {
	dims := append([]int{steps * o.batch}, o.shape...)
	return &hostBlock{x: tensors.FromShape(shapes.Make(o.dtype, dims...)), steps: steps}
}

func (b *hostBlock) parts() []*tensors.Tensor {
	if b.classes == nil {
		return []*tensors.Tensor{b.x}
	}
	return []*tensors.Tensor{b.x, tensors.FromFlatDataAndDimensions(b.classes, len(b.classes))}
}

// add checks a batch and copies it to its place.
func (b *hostBlock) add(o order, batch SourceBatch) error {
	x := batch.X
	if x == nil || x.CheckValid() != nil {
		return errors.New("its tensor is nil or was finalized")
	}
	if d := x.DType(); d != dtypes.Float32 && d != dtypes.Float64 {
		return fmt.Errorf("examples of dtype %s: must be Float32 or Float64", d)
	}
	if want := append([]int{o.batch}, o.shape...); !slices.Equal(x.Shape().Dimensions, want) {
		return fmt.Errorf("examples of shape %v: must be %v", x.Shape().Dimensions, want)
	}
	var bad error
	err := x.ConstFlatData(func(from any) {
		accessErr := b.x.MutableFlatData(func(to any) { bad = copyExamples(to, from, b.filled*x.Size(), x.Size()/o.batch) })
		bad = errors.Join(accessErr, bad)
	})
	if err = errors.Join(err, bad, x.FinalizeAll()); err != nil {
		return err
	}
	b.filled++
	if o.classes == 0 {
		return nil
	}
	if len(batch.Classes) != o.batch {
		return fmt.Errorf("%d classes for %d examples: must be one for each, as the model has classes", len(batch.Classes), o.batch)
	}
	for row, class := range batch.Classes {
		if err := checkClass(int(class), o.classes); err != nil {
			return fmt.Errorf("row %d: %w", row, err)
		}
	}
	b.classes = append(b.classes, batch.Classes...)
	return nil
}

// copyExamples copies rows of so many columns to to[start:] and checks each value.
func copyExamples(to, from any, start, columns int) error {
	switch from := from.(type) {
	case []float32:
		if to, ok := to.([]float32); ok {
			return copyChecked(to[start:], from, columns)
		}
		return copyChecked(to.([]float64)[start:], from, columns)
	case []float64:
		if to, ok := to.([]float32); ok {
			return copyChecked(to[start:], from, columns)
		}
		return copyChecked(to.([]float64)[start:], from, columns)
	}
	return fmt.Errorf("examples of type %T: must be float32 or float64", from)
}

func copyChecked[T, F float32 | float64](to []T, from []F, columns int) error {
	for i, v := range from {
		to[i] = T(v)
		if wide := float64(to[i]); math.IsNaN(wide) || math.IsInf(wide, 0) {
			where := fmt.Sprintf("row %d, column %d", i/columns, i%columns)
			if finite(float64(v)) {
				return fmt.Errorf("%s: value %v does not fit in float32: use WithDType(dtypes.Float64)", where, v)
			}
			return fmt.Errorf("%s is %v: every value must be finite (batches, rows and columns count from 0)", where, v)
		}
	}
	return nil
}
