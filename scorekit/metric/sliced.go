package metric

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/scorekit"
)

// Sliced holds the settings of the sliced Wasserstein distance.
type Sliced struct {
	Projections int   // number of directions, 0 means 256
	Seed        int64 // of the directions
}

// Distance returns the sliced Wasserstein-2 distance between two sets of points of one dimension d, tensors
// [n, dims...] and [m, dims...] of any two sizes,
//
//	SW₂² = E_v ∫₀¹ (F⁻¹_{⟨v,a⟩}(u) − F⁻¹_{⟨v,b⟩}(u))² du,  v uniform on the unit sphere
//
// (Bonneel et al. 2015): the mean over directions of the squared distance in one dimension. F⁻¹ are the quantile
// functions of the finite sets, steps of height one point each, and the integral is taken exactly: for n = m it is the
// mean of the squared differences of the sorted values. The result has the units of the data. Sets that are a
// shift c apart have the distance ‖c‖/√d, up to the choice of directions, whose relative error falls as 1/√Projections.
//
// It returns an error for a negative number of projections, for an empty set, for sets of different dimensions, and
// for values that are not finite.
func (s Sliced) Distance(a, b *tensors.Tensor) (float64, error) {
	if s.Projections < 0 {
		return 0, fmt.Errorf("metric: sliced Wasserstein: %d projections: must be positive, or 0 for 256", s.Projections)
	}
	x, err := checkedRows(a)
	if err != nil {
		return 0, fmt.Errorf("metric: sliced Wasserstein: first set: %w", err)
	}
	y, err := checkedRows(b)
	if err != nil {
		return 0, fmt.Errorf("metric: sliced Wasserstein: second set: %w", err)
	}
	if len(x[0]) != len(y[0]) {
		return 0, fmt.Errorf("metric: sliced Wasserstein: points of dimension %d and %d: must be equal", len(x[0]), len(y[0]))
	}
	return sliced(x, y, s.directions(len(x[0]))), nil
}

// directions draws the unit vectors to project on.
func (s Sliced) directions(d int) [][]float64 {
	n := s.Projections
	if n == 0 {
		n = 256
	}
	rng := rand.New(rand.NewPCG(uint64(s.Seed), 0x5c0e))
	list := make([][]float64, n)
	for i := range list {
		list[i] = direction(rng, d)
	}
	return list
}

// direction is uniform on the unit sphere: a normal vector divided by its length.
func direction(rng *rand.Rand, d int) []float64 {
	v := make([]float64, d)
	for {
		length := 0.0
		for i := range v {
			v[i] = rng.NormFloat64()
			length += v[i] * v[i]
		}
		if length > 0 {
			for i := range v {
				v[i] /= math.Sqrt(length)
			}
			return v
		}
	}
}

// sliced is the root of the mean over directions of the squared distances of the projections.
func sliced(x, y, directions [][]float64) float64 {
	sum := 0.0
	for _, v := range directions {
		sum += wasserstein(project(x, v), project(y, v))
	}
	return math.Sqrt(sum / float64(len(directions)))
}

// wasserstein is ∫₀¹ (F⁻¹(u) − G⁻¹(u))² du of two sorted samples. Between two neighbours among the u = i/n and j/m
// both quantile functions are constant. u is counted in units of 1/(nm), so that every boundary is an integer.
func wasserstein(p, q []float64) float64 {
	n, m := int64(len(p)), int64(len(q))
	sum := 0.0
	for i, j, u := int64(0), int64(0), int64(0); i < n && j < m; {
		end := min((i+1)*m, (j+1)*n)
		gap := p[i] - q[j]
		sum += gap * gap * float64(end-u)
		u = end
		if end == (i+1)*m {
			i++
		}
		if end == (j+1)*n {
			j++
		}
	}
	return sum / float64(n) / float64(m)
}

// project returns ⟨v, x⟩ of every row, sorted.
func project(rows [][]float64, v []float64) []float64 {
	out := make([]float64, len(rows))
	for i, r := range rows {
		for j, c := range r {
			out[i] += c * v[j]
		}
	}
	slices.Sort(out)
	return out
}

func checkedRows(t *tensors.Tensor) ([][]float64, error) {
	rows, err := scorekit.Rows(t)
	if err != nil {
		return nil, err
	}
	if t.Size() == 0 {
		return nil, fmt.Errorf("points of shape %v: there must be at least one", t.Shape().Dimensions)
	}
	for i, r := range rows {
		for j, v := range r {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("row %d, column %d is %v: every value must be finite", i, j, v)
			}
		}
	}
	return rows, nil
}
