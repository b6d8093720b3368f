package ebm

import (
	"context"
	"fmt"
	"math"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"gonum.org/v1/gonum/integrate/quad"

	"github.com/scorekit/lab/scorekit"
)

// Box is where [LogPartition] integrates, and how well.
type Box struct {
	Low, High []float64 // the corners: one number each on a line, two in the plane; Low < High

	// Tolerance is the largest change of log Z at the last halving of the cells. 0 means 10⁻⁸ in float64 and 10⁻⁵ in float32.
	Tolerance float64

	Sigma  float64               // noise level given to the energy; 0 gives none
	Report func(scorekit.Report) // told of progress, in points
}

// Partition is what [LogPartition] returns.
type Partition struct {
	LogZ   float64
	Change float64 // |change| of LogZ at the last halving of the cells: for a smooth energy far above its error
	Outer  float64 // share of the mass in the outer sixteenth of the box on any side: not near 0 for a box that is too small
	Points int     // evaluations of the energy
}

const (
	firstCells = 16 // along each axis; the outer sixteenth is the first of them
	order      = 8  // points in a cell along each axis
)

// mostCells is how far cells are halved, by dimension: 2²⁰ and 2²² points.
var mostCells = []int{1: 1 << 17, 2: 1 << 8}

// LogPartition returns the logarithm of the partition function,
//
//	log Z = log ∫ e^{−E(x)} dx,   log p(x) = −E(x) − log Z
//
// over a box of one or two dimensions: by Gauss and Legendre's rule with 8 points along each axis of a cell, in cells that
// are halved until log Z changes by less than the tolerance. It costs nᵈ points, which is why there is no third dimension:
// see [AnnealedImportance].
//
// Nothing is exponentiated but differences from the largest −E: e^{1000} overflows, and e^{−1000} is 0, whose logarithm
// would be −∞ where log Z is a plain −999. Energies may be as large as the dtype holds, and +∞ where p is 0.
//
// model is a [scorekit.Energy], a density, a model with a method Energy or a trained one; what is computed has the
// precision of its weights, or else float64. An energy that depends on a noise level has a log Z for each: see Box.Sigma. Beyond the box e^{−E} counts as 0: look at Partition.Outer. A
// mode narrower than about a hundredth of the box may be missed by the first cells.
//
// It returns an error for a model without an energy or whose weights are missing, for a box that is empty, infinite or of
// another dimension, for a negative noise level, for an energy that is NaN or −∞ or nowhere finite, where the tolerance is not reached with 2²⁰ points
// on a line or 2²² in the plane, and one that wraps ctx's cause when it was stopped.
func LogPartition(ctx context.Context, backend backends.Backend, model scorekit.Model, box Box) (*Partition, error) {
	var p *Partition
	err := guard("LogPartition", func() (err error) {
		p, err = logPartition(ctx, backend, model, box)
		return err
	})
	return p, err
}

func logPartition(ctx context.Context, backend backends.Backend, model scorekit.Model, box Box) (*Partition, error) {
	if ctx == nil || backend == nil {
		return nil, fmt.Errorf("ctx and backend: both must be given")
	}
	if err := box.check(); err != nil {
		return nil, err
	}
	middle := make([]float64, len(box.Low))
	for i := range middle {
		middle[i] = box.Low[i]/2 + box.High[i]/2
	}
	b, err := bind(model, [][]float64{middle}, box.Sigma)
	if err != nil {
		return nil, err
	}
	tolerance := box.Tolerance
	if tolerance == 0 {
		tolerance = 1e-8
		if b.Points.DType() == dtypes.Float32 {
			tolerance = 1e-5
		}
	}
	e, err := b.evaluator(backend)
	if err != nil {
		return nil, err
	}
	defer e.exec.Finalize()

	p := &Partition{}
	for cells := firstCells; ; cells *= 2 {
		logZ, outer, err := box.integrate(ctx, e, cells, p)
		if err != nil {
			return nil, err
		}
		p.Change, p.LogZ, p.Outer = math.Abs(logZ-p.LogZ), logZ, outer
		if cells > firstCells && p.Change <= tolerance {
			return p, nil
		}
		if 2*cells > mostCells[len(middle)] {
			return nil, fmt.Errorf("log Z = %v still changed by %.2g when %d cells along an axis were halved: must be at most %v (a smaller box or a larger tolerance may help)",
				logZ, p.Change, cells/2, tolerance)
		}
	}
}

func (b Box) check() error {
	if len(b.Low) != len(b.High) || len(b.Low) < 1 || len(b.Low) > 2 {
		return fmt.Errorf("box from %v to %v: must have one or two dimensions (beyond: AnnealedImportance)", b.Low, b.High)
	}
	for i, low := range b.Low {
		if width := b.High[i] - low; !(width > 0) || math.IsInf(width, 0) {
			return fmt.Errorf("box from %v to %v: every side must be positive and finite", b.Low, b.High)
		}
	}
	if !(b.Tolerance >= 0) || math.IsInf(b.Tolerance, 0) {
		return fmt.Errorf("tolerance %v: must be positive, or 0 for the default", b.Tolerance)
	}
	return nil
}

// integrate returns log Z and the share of the outer cells for so many cells along an axis.
func (b Box) integrate(ctx context.Context, e *evaluator, cells int, p *Partition) (logZ, outer float64, err error) {
	nodes, weights := rule(cells)
	along := len(nodes)
	total := along
	if len(b.Low) == 2 {
		total *= along
	}
	// The node along axis k of point i; both run fastest along the last axis.
	node := func(i, k int) int {
		if k == len(b.Low)-1 {
			return i % along
		}
		return i / along
	}
	volume := 1.0
	for k := range b.Low {
		volume *= b.High[k] - b.Low[k]
	}
	all, edge := newLogSum(), newLogSum()
	tell := scorekit.Reporter("log Z", "points", total, b.Report)
	err = e.each(ctx, total, func(i int, x []float64) {
		for k := range x {
			x[k] = b.Low[k] + (b.High[k]-b.Low[k])*nodes[node(i, k)]
		}
	}, func(first int, energies []float64) {
		for j, energy := range energies {
			weight, outside := 1.0, false
			for k := range b.Low {
				at := node(first+j, k)
				weight *= weights[at]
				outside = outside || nodes[at] < 1.0/firstCells || nodes[at] > 1-1.0/firstCells
			}
			all.add(-energy, weight)
			if outside {
				edge.add(-energy, weight)
			}
		}
		p.Points += len(energies)
		done := first + len(energies)
		tell(done, done == total)
	})
	if err != nil {
		return 0, 0, err
	}
	if math.IsInf(all.log(), -1) {
		return 0, 0, fmt.Errorf("the energy is +Inf at all %d points of the box: it has no mass there", total)
	}
	return all.log() + math.Log(volume), math.Exp(edge.log() - all.log()), nil
}

// rule returns the nodes and weights of the integral over [0, 1] in so many cells.
func rule(cells int) (nodes, weights []float64) {
	x, w := make([]float64, order), make([]float64, order)
	quad.Legendre{}.FixedLocations(x, w, 0, 1)
	for c := range cells {
		for i := range x {
			nodes = append(nodes, (float64(c)+x[i])/float64(cells))
			weights = append(weights, w[i]/float64(cells))
		}
	}
	return nodes, weights
}
