package kde

import (
	"math"
	"runtime"
	"slices"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/internal/numbers"
)

// Where bandwidths are small beside distances, the logarithms of the kernels at a point differ by so much that a few centres
// have all the weight, in however many dimensions. Then only one of the two matrix products is taken of all pairs, that of
// the logarithms, in float32, and of each group of centres the greatest is kept. The groups that may count are added up on the
// host, in float64; what the others may be together is bounded, see place. Points with more than a few such groups are left to sums.

// A group has groupCentres: with more of them the host has more to add up, with fewer more to look through. Of a point's
// groups the host adds up at most one in groupShare, which takes it about as long as the device takes for the sums over all.
// Points that are left are taken by the host over all centres where they are at most one in pointShare of a block, which
// they would cost the device.
const (
	groupCentres = 8
	groupShare   = 16
	pointShare   = 32
)

// few evaluates an estimate at blocks of points at which few centres count.
type few struct {
	kind
	q                   Estimate
	most                int       // groups of a point
	centres, logWeights []float64 // [M, d], along the axes, and [M]
	middle              []float64 // of the centres
	inverse             []float64 // 1/h
	added               float64   // at least |log w − ‖v‖²/2|, which is added to the product with a centre v
	greatest            *graph.Exec
	blocks              []*tensors.Tensor // of centres, see logs
	length              int               // centres in a block
	features            []float32         // of a block of points, [size, d+1]
	chosen              []groups          // of these
}

// newFew returns nil where it would not pay: for few coordinates or centres, on devices with memory of their own, which leave
// the host behind, and for estimates of whose points most have too many others that count.
func (q Estimate) newFew(kind kind) (f *few, err error) {
	d, n := q.Dim(), q.Len()
	f = &few{kind: kind, q: q, most: n / groupCentres / groupShare, centres: q.points, logWeights: q.logWeights(), middle: q.centre}
	if q.kernel != Gaussian || d < minProducts || f.most == 0 || !kind.backend.HasSharedBuffers() {
		return nil, nil
	}
	if q.smoothing.axes != nil {
		f.centres, f.middle = q.place(kind.dtype), make([]float64, d)
	}
	for _, h := range q.smoothing.h {
		f.inverse = append(f.inverse, 1/h)
	}
	for _, l := range f.logWeights {
		f.added = max(f.added, q.norm/2-l)
	}
	if !f.pays() {
		return nil, nil
	}
	f.features, f.chosen = make([]float32, f.size*(d+1)), make([]groups, f.size)
	for i := range f.chosen {
		f.chosen[i].point = make([]float64, d)
	}
	f.length = groupCentres * numbers.Evenly((n+groupCentres-1)/groupCentres, blockCentres/groupCentres)
	for from := 0; from < n; from += f.length {
		f.blocks = append(f.blocks, f.logs(from))
	}
	f.greatest, err = graph.NewExec(f.backend, func(in []*Node) *Node {
		logs := graph.Dot(in[0], in[1])
		return graph.ReduceMax(graph.Reshape(logs, f.size, groupCentres, f.length/groupCentres), 1)
	})
	return f, err
}

// logs is a block of centres, from the given one on, [d+1, length]. Its product with [u, 1], u a point in bandwidths from the
// middle, is log wK + ‖u‖²/2. The k-th centres of all groups follow one another: maxima over an axis that is not the last are fast.
func (f *few) logs(from int) *tensors.Tensor {
	d, groups := len(f.middle), f.length/groupCentres
	logs := make([]float64, (d+1)*f.length)
	for i := range f.length {
		column, l := i%groupCentres*groups+i/groupCentres, -1e30 // the last block is filled with centres that do not count
		if from+i < len(f.logWeights) {
			l = f.logWeights[from+i]
			for k, c := range f.centre(from + i) {
				v := (c - f.middle[k]) * f.inverse[k]
				logs[k*f.length+column] = v
				l -= 0.5 * v * v
			}
		}
		logs[d*f.length+column] = l
	}
	return numbers.Tensor(logs, dtypes.Float32, d+1, f.length)
}

func (f *few) centre(i int) []float64 {
	d := len(f.middle)
	return f.centres[i*d : (i+1)*d]
}

// place puts x along the axes, at most reach bandwidths from the middle, into y, and returns the margin: centres whose logarithms
// are that far below the greatest, as they come from the product, are left out. They are M at most, and together at most 2⁻³⁰ of
// the sum, 2⁻⁶⁰ in float64, if each logarithm is off, as is the greatest, by the bound on the rounding of d products and their sum,
// from rounded numbers. The margin is infinite where the product may overflow.
func (f *few) place(x, y []float64) (margin float64) {
	if f.q.smoothing.axes != nil {
		f.q.smoothing.along(x, f.q.centre, y)
		x = y
	}
	far, squares := reach(f.dtype, len(y)), 0.0
	for k, m := range f.middle {
		u := (x[k] - m) * f.inverse[k]
		if y[k] = x[k]; math.Abs(u) > far {
			u = math.Copysign(far, u)
			y[k] = m + u/f.inverse[k]
		}
		squares += u * u
	}
	rounding := float64(len(y)+5) * 0x1p-24 * (math.Sqrt(squares)*math.Sqrt(f.q.norm) + f.added)
	if !(rounding < 1e20) {
		return math.Inf(1)
	}
	digits := 30.0
	if f.dtype == dtypes.Float64 {
		digits = 60
	}
	return math.Log(float64(len(f.logWeights))) + digits*math.Ln2 + 2*rounding
}

// run is the way that does at points at which few centres count.
func (f *few) run(points [][]float64, before func(done, of int) error) (values []float64, did []bool, err error) {
	d, n, each := len(f.middle), len(points), f.each()
	for i, x := range points {
		c, u := &f.chosen[i], f.features[i*(d+1):(i+1)*(d+1)]
		c.begin(f.place(x, c.point))
		for k, m := range f.middle {
			u[k] = float32((c.point[k] - m) * f.inverse[k])
		}
		u[d] = 1
	}
	in := tensors.FromFlatDataAndDimensions(f.features, f.size, d+1)
	defer func() {
		if e := in.FinalizeAll(); err == nil {
			err = e
		}
	}()
	for i, block := range f.blocks {
		if err := before(i, len(f.blocks)); err != nil {
			return nil, nil, err
		}
		if err := f.choose(in, block, n, i*f.length/groupCentres); err != nil {
			return nil, nil, err
		}
	}
	values, did = make([]float64, n*each), make([]bool, n)
	inParallel(n, func() func(i int) {
		s := f.newSum()
		return func(i int) {
			if did[i] = f.chosen[i].areFew(f.most); did[i] {
				s.at(&f.chosen[i], values[i*each:(i+1)*each])
			}
		}
	})
	return values, did, nil
}

// onHost is the way that does at all points, over all centres, without the device.
func (f *few) onHost(points [][]float64, before func(done, of int) error) (values []float64, did []bool, err error) {
	n, each := len(points), f.each()
	values = make([]float64, n*each)
	step := runtime.GOMAXPROCS(0)
	for from := 0; from < n; from += step {
		if err := before(from, n); err != nil {
			return nil, nil, err
		}
		inParallel(min(step, n-from), func() func(i int) {
			s, y := f.newSum(), make([]float64, len(f.middle))
			return func(i int) {
				i += from
				margin := f.place(points[i], y)
				s.relativeTo(y, 0)
				for j := range f.logWeights {
					s.add(j)
				}
				s.result(margin, values[i*each:(i+1)*each])
			}
		})
	}
	return values, slices.Repeat([]bool{true}, n), nil
}

// each is how many numbers are wanted of a point.
func (f *few) each() int {
	if f.pull {
		return len(f.middle)
	}
	return 1
}

// choose takes groups of a block of centres, which are numbered from the given number on, for n points.
func (f *few) choose(in, block *tensors.Tensor, n, from int) error {
	out, err := f.greatest.Exec1(in, block)
	if err != nil {
		return err
	}
	groups := f.length / groupCentres
	err = tensors.ConstFlatData(out, func(greatest []float32) {
		inParallel(n, func() func(i int) {
			return func(i int) { f.chosen[i].take(greatest[i*groups:(i+1)*groups], from, f.most) }
		})
	})
	if e := out.FinalizeAll(); err == nil {
		err = e
	}
	return err
}

// pays says whether the host would need less than half of the time that the device needs for the sums, for some of the
// estimate's points, of which others count that are among some. What points will be asked for is not known: where they are
// of another kind, time is lost, and nothing else.
func (f *few) pays() bool {
	const points, others = 32, 4096
	d, n := len(f.middle), len(f.logWeights)
	s, y := f.newSum(), make([]float64, d)
	step := (n + others - 1) / others
	tried, share := 0.0, 0.0
	for p := 0; p < n; p += (n + points - 1) / points {
		margin := f.place(f.q.points[p*d:(p+1)*d], y)
		s.relativeTo(y, (p+1)%n)
		for i := p % step; i < n; i += step {
			if i != p {
				s.add(i)
			}
		}
		count := 0
		for _, l := range s.logs {
			if l >= s.largest-margin {
				count += step
			}
		}
		tried++
		share += min(1, float64(count)/float64(f.most))
	}
	return share < tried/2
}
