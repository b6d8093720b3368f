package kde

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"

	"github.com/scorekit/lab/scorekit"
)

// LeaveOneOut returns the leave-one-out log-likelihood of the estimate's own points, see the function [LeaveOneOut]:
//
//	L = Σᵢ log q₋ᵢ(xᵢ),  q₋ᵢ the estimate without the point i
//
// With weights it is n Σᵢ wᵢ log q₋ᵢ(xᵢ). It is −Inf where a compact kernel leaves a point alone. It is computed on
// the host, in float64, on all cores, in one pass over all n² pairs. It returns an error for a single point, a bandwidth
// that is not one h for all coordinates, a nil ctx, and when ctx ends, with its cause.
func (q Estimate) LeaveOneOut(ctx context.Context) (float64, error) {
	if err := q.Validate(); err != nil {
		return 0, err
	}
	if ctx == nil {
		return 0, fmt.Errorf("kde: LeaveOneOut: %w", errNoCtx)
	}
	if len(q.weights) < 2 {
		return 0, fmt.Errorf("kde: LeaveOneOut: one point: must be at least 2")
	}
	for _, h := range q.smoothing.h {
		if h != q.smoothing.h[0] || q.smoothing.axes != nil {
			return 0, fmt.Errorf("kde: LeaveOneOut: a bandwidth that differs between coordinates: must be one for all")
		}
	}
	likelihood, _, err := q.sample().likelihood(ctx, q.smoothing.h[0])
	if err != nil {
		return 0, fmt.Errorf("kde: LeaveOneOut: %w", err)
	}
	return likelihood, nil
}

var errNoCtx = errors.New("ctx nil: must be given")

// likelihood returns L(h) and dL/d log h = n Σᵢ wᵢ [Σⱼ rᵢⱼ φ(uᵢⱼ) − d], rᵢⱼ the share of j at i and
// φ(u) = −Σₖ uₖ (log K)'(uₖ), which grows with every |uₖ|.
func (s sample) likelihood(ctx context.Context, h float64) (likelihood, slope float64, err error) {
	width := h * s.kernel.width()
	constant := float64(s.d) * (s.kernel.logScale() - math.Log(width))
	logWeights := make([]float64, s.n)
	for j, w := range s.weights {
		logWeights[j] = math.Log(w)
	}
	logs, slopes := make([]float64, s.n), make([]float64, s.n)
	err = s.eachRow(ctx, func() func(i int, row []float64) {
		terms, phi := make([]float64, s.n), make([]float64, s.n)
		return func(i int, row []float64) {
			largest := math.Inf(-1)
			for j := range s.n {
				terms[j], phi[j] = math.Inf(-1), 0
				if j == i {
					continue
				}
				sum, other := logWeights[j], s.points[j*s.d:(j+1)*s.d]
				for k, x := range row {
					u := (x - other[k]) / width
					log, slope := s.kernel.shapeAt(u)
					sum += log
					phi[j] -= u * slope
				}
				terms[j] = sum
				largest = max(largest, sum)
			}
			if math.IsInf(largest, -1) {
				logs[i] = largest
				return
			}
			total, pull := 0.0, 0.0
			for j, term := range terms {
				if term > largest-50 { // the rest is below rounding
					e := math.Exp(term - largest)
					total += e
					pull += e * phi[j]
				}
			}
			logs[i] = largest + math.Log(total) + constant - math.Log1p(-s.weights[i])
			slopes[i] = pull/total - float64(s.d)
		}
	})
	for i, w := range s.weights {
		likelihood += float64(s.n) * w * logs[i]
		slope += float64(s.n) * w * slopes[i]
	}
	return likelihood, slope, err
}

// eachRow calls a function for every point, from several goroutines, each of which makes one of its own.
func (s sample) eachRow(ctx context.Context, make func() func(i int, row []float64)) error {
	inParallel(s.n, func() func(i int) {
		f := make()
		return func(i int) {
			if ctx.Err() == nil {
				f(i, s.points[i*s.d:(i+1)*s.d])
			}
		}
	})
	return context.Cause(ctx)
}

// inParallel calls a function for 0 … n−1, from several goroutines, each of which makes one of its own.
func inParallel(n int, make func() func(i int)) {
	workers := min(runtime.GOMAXPROCS(0), n)
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			f := make()
			for i := worker * n / workers; i < (worker+1)*n/workers; i++ {
				f(i)
			}
		})
	}
	group.Wait()
}

// trial is one bandwidth, by its logarithm, with its likelihood and derivative.
type trial struct{ logH, likelihood, slope float64 }

// mostLikely finds the greatest maximum of the likelihood. Above three times the widest range of a coordinate every
// φ is below d, so that L falls; below least every φ that matters is above it, so that L rises. Between them it goes down in
// steps of √2, until even the bound L(h') ≤ L(h) + n d log(h/h') for h' < h, which holds as K falls with |u|, leaves
// no place for a greater maximum; each interval with a maximum in it is then closed in on.
func (s sample) mostLikely(ctx context.Context, progress []func(scorekit.Report)) (float64, error) {
	if ctx == nil {
		return 0, errNoCtx
	}
	if s.n < 2 {
		return 0, fmt.Errorf("one point: must be at least 2")
	}
	widest, least, err := s.ends(ctx)
	if err != nil {
		return 0, err
	}
	const step = math.Ln2 / 2
	nd, top, bottom := float64(s.n*s.d), math.Log(3*widest), math.Log(least)
	tried := 0
	tell := scorekit.Reporter("leave-one-out", "bandwidths", 1+max(0, int(math.Ceil((top-bottom)/step))), progress...)
	defer func() { tell(tried, true) }()
	pass := func(logH float64, counts int) (trial, error) {
		l, slope, err := s.likelihood(ctx, math.Exp(logH))
		if err == nil {
			tried += counts
			tell(tried, false)
		}
		return trial{logH, l, slope}, err
	}
	at := func(logH float64) (trial, error) { return pass(logH, 0) }
	best := trial{likelihood: math.Inf(-1)}
	above, err := pass(top, 1)
	for err == nil && above.logH > bottom && !math.IsInf(above.likelihood, -1) &&
		above.likelihood+nd*(above.logH-bottom) >= best.likelihood {
		var below trial
		if below, err = pass(above.logH-step, 1); err != nil {
			break
		}
		if above.slope <= 0 && (below.slope > 0 || math.IsInf(below.likelihood, -1)) {
			var found trial
			if found, err = peak(at, below, above); err == nil && found.likelihood > best.likelihood {
				best = found
			}
		}
		above = below
	}
	if err != nil {
		return 0, err
	}
	if math.IsInf(best.likelihood, -1) {
		return 0, fmt.Errorf("the likelihood of these %d points has no maximum", s.n)
	}
	return math.Exp(best.logH), nil
}

// peak closes in on a root of the derivative between below, where L rises (or is −Inf), and above, where it falls: by
// regula falsi with the Illinois correction, and by halving as long as an end has no likelihood.
func peak(at func(float64) (trial, error), below, above trial) (trial, error) {
	const digits = 1e-13
	low, high, side := below.slope, above.slope, 0
	var middle trial
	for last := math.Inf(1); ; last = middle.logH {
		next := (below.logH + above.logH) / 2
		if !math.IsInf(below.likelihood, -1) {
			next = below.logH + (above.logH-below.logH)*low/(low-high)
		}
		var err error
		if middle, err = at(next); err != nil {
			return trial{}, err
		}
		if math.IsInf(middle.likelihood, -1) || middle.slope > 0 {
			if below, low = middle, middle.slope; side < 0 {
				high /= 2
			}
			side = -1
		} else {
			if above, high = middle, middle.slope; side > 0 {
				low /= 2
			}
			side = 1
		}
		if math.Abs(next-last) < digits || above.logH-below.logH < digits || middle.slope == 0 {
			return middle, nil
		}
	}
}

// ends returns the widest range of a coordinate and a bandwidth below which the likelihood rises.
func (s sample) ends(ctx context.Context) (widest, least float64, err error) {
	low, high := make([]float64, s.d), make([]float64, s.d)
	copy(low, s.points)
	copy(high, s.points)
	for i, x := range s.points {
		k := i % s.d
		low[k], high[k] = min(low[k], x), max(high[k], x)
		widest = max(widest, high[k]-low[k])
	}
	nearest := make([]float64, s.n) // the largest coordinate of the difference to the nearest other point
	apart := make([]float64, s.n)   // the same to the nearest point that is elsewhere
	err = s.eachRow(ctx, func() func(i int, row []float64) {
		return func(i int, row []float64) {
			nearest[i], apart[i] = math.Inf(1), math.Inf(1)
			for j := range s.n {
				distance := 0.0
				for k, x := range row {
					distance = max(distance, math.Abs(x-s.points[j*s.d+k]))
				}
				if j != i {
					nearest[i] = min(nearest[i], distance)
				}
				if distance > 0 {
					apart[i] = min(apart[i], distance)
				}
			}
		}
	})
	least = math.Inf(1)
	for i, distance := range nearest {
		if distance > 0 {
			least = min(least, apart[i]*s.weights[i]/float64(2*s.d))
		}
	}
	if err == nil && math.IsInf(least, 1) {
		err = fmt.Errorf("every point occurs more than once: the likelihood grows without end as the bandwidth goes to 0; leave out duplicates or set a number")
	}
	return widest, least, err
}
