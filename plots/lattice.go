package plots

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/tensors"
)

// Window is a rectangle of the plane, in the units of the data.
type Window struct{ XMin, XMax, YMin, YMax float64 }

func (w Window) check() error {
	for _, v := range []float64{w.XMin, w.XMax, w.YMin, w.YMax} {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("window %v: must be finite", w)
		}
	}
	if w.XMin >= w.XMax || w.YMin >= w.YMax {
		return fmt.Errorf("window x %v to %v, y %v to %v: each lower end must be below the upper", w.XMin, w.XMax, w.YMin, w.YMax)
	}
	// Equal units both ways make a picture of the window's own proportions, and its numbers must differ visibly.
	if a := w.aspect(); a < 1.0/20 || a > 20 {
		return fmt.Errorf("window %.3g wide, %.3g high: must be at most 20 times longer one way than the other", w.XMax-w.XMin, w.YMax-w.YMin)
	}
	if tooNarrow(w.XMin, w.XMax) || tooNarrow(w.YMin, w.YMax) {
		return fmt.Errorf("window x %v to %v, y %v to %v: too narrow for its distance from 0, or too wide", w.XMin, w.XMax, w.YMin, w.YMax)
	}
	return nil
}

// tooNarrow holds for ranges whose ends differ by less than numbers on an axis can show, and for endless ones.
func tooNarrow(lo, hi float64) bool {
	return math.IsInf(hi-lo, 0) || hi-lo < 1e-9*max(math.Abs(lo), math.Abs(hi))
}

func (w Window) aspect() float64 { return (w.XMax - w.XMin) / (w.YMax - w.YMin) }

func (w Window) holds(x, y float64) bool {
	return x >= w.XMin && x <= w.XMax && y >= w.YMin && y <= w.YMax
}

// Lattice says where a function of the plane was evaluated: at the centres of NX × NY equal cells that tile a window.
// Point iy·NX + ix is the centre of column ix from the left and row iy from the bottom.
type Lattice struct {
	Window
	NX, NY int
}

// Grid returns the points of a lattice as a Float32 tensor, [nx·ny, 2], and the lattice itself, which the figures of
// functions need beside the values. The points are the centres of nx × ny cells that tile the window, x running
// fastest, y upwards: their mean of a function times the window's area is its integral by the midpoint rule. It
// returns an error for a window without area and for less than one cell.
func Grid(xmin, xmax, ymin, ymax float64, nx, ny int) (*tensors.Tensor, Lattice, error) {
	l := Lattice{Window{xmin, xmax, ymin, ymax}, nx, ny}
	points, err := l.Points(dtypes.Float32)
	return points, l, err
}

// Points returns the lattice's points, [NX·NY, 2], of the given dtype, Float32 or Float64.
func (l Lattice) Points(dtype dtypes.DType) (*tensors.Tensor, error) {
	if err := l.check(); err != nil {
		return nil, fmt.Errorf("plots: lattice: %w", err)
	}
	points := make([]float64, 0, 2*l.NX*l.NY)
	for iy := range l.NY {
		for ix := range l.NX {
			x, y := l.at(ix, iy)
			points = append(points, x, y)
		}
	}
	return pack(points, dtype, l.NX*l.NY, 2)
}

// Interval returns the centres of n equal cells that tile the interval from lo to hi, as a Float32 tensor [n, 1], for
// a density of one variable. It returns an error where lo is not below hi and for n below 2.
func Interval(lo, hi float64, n int) (*tensors.Tensor, error) {
	if !(lo < hi) || math.IsInf(lo, 0) || math.IsInf(hi, 0) {
		return nil, fmt.Errorf("plots: interval %v to %v: the ends must be finite and the lower below the upper", lo, hi)
	}
	if n < 2 {
		return nil, fmt.Errorf("plots: interval: %d points: must be at least 2", n)
	}
	points := make([]float64, n)
	for i := range points {
		points[i] = lo + (hi-lo)*(float64(i)+0.5)/float64(n)
	}
	return pack(points, dtypes.Float32, n, 1)
}

func (l Lattice) check() error {
	if err := l.Window.check(); err != nil {
		return err
	}
	if l.NX < 1 || l.NY < 1 {
		return fmt.Errorf("%d × %d cells: must be at least 1 × 1", l.NX, l.NY)
	}
	return nil
}

func (l Lattice) at(ix, iy int) (x, y float64) {
	dx, dy := l.step()
	return l.XMin + dx*(float64(ix)+0.5), l.YMin + dy*(float64(iy)+0.5)
}

func (l Lattice) step() (dx, dy float64) {
	return (l.XMax - l.XMin) / float64(l.NX), (l.YMax - l.YMin) / float64(l.NY)
}

func pack(values []float64, dtype dtypes.DType, dims ...int) (*tensors.Tensor, error) {
	switch dtype {
	case dtypes.Float64:
		return tensors.FromFlatDataAndDimensions(values, dims...), nil
	case dtypes.Float32:
		narrow := make([]float32, len(values))
		for i, v := range values {
			narrow[i] = float32(v)
		}
		return tensors.FromFlatDataAndDimensions(narrow, dims...), nil
	}
	return nil, fmt.Errorf("plots: dtype %s: must be Float32 or Float64", dtype)
}
