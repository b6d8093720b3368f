package sde

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// MatrixOrnsteinUhlenbeck is the process that is pulled to μ in d dimensions that act on one another,
//
//	dx = −A(x − μ) dt + σ dW
//	mean μ + e^{−At}(x₀ − μ),  covariance σ²(2A)⁻¹(I − e^{−2At}),  at rest N(μ, σ²(2A)⁻¹)
//
// with A symmetric and positive definite (Gardiner 2009, §4.5.6). It is worked out along the eigenvectors of A, on the host.
// Make one with [NewMatrixOrnsteinUhlenbeck].
type MatrixOrnsteinUhlenbeck struct {
	rates []float64  // eigenvalues of A
	axes  *mat.Dense // eigenvectors, as columns
	mu    []float64
	sigma float64
}

// NewMatrixOrnsteinUhlenbeck returns the process of A, μ and σ. It returns an error unless A is d×d, symmetric and positive
// definite for the d of mu, and sigma is positive and finite.
func NewMatrixOrnsteinUhlenbeck(a [][]float64, mu []float64, sigma float64) (MatrixOrnsteinUhlenbeck, error) {
	fail := func(format string, args ...any) (MatrixOrnsteinUhlenbeck, error) {
		return MatrixOrnsteinUhlenbeck{}, fmt.Errorf("sde: NewMatrixOrnsteinUhlenbeck: "+format, args...)
	}
	if err := positive("NewMatrixOrnsteinUhlenbeck", "sigma", sigma); err != nil {
		return MatrixOrnsteinUhlenbeck{}, err
	}
	d := len(mu)
	if d == 0 || len(a) != d {
		return fail("A with %d rows for a mu of %d: must be as many, and at least 1", len(a), d)
	}
	sym := mat.NewSymDense(d, nil)
	for i, row := range a {
		if len(row) != d {
			return fail("row %d of A has %d numbers: must have %d", i, len(row), d)
		}
		if math.IsNaN(mu[i]) || math.IsInf(mu[i], 0) {
			return fail("mu[%d] = %v: must be finite", i, mu[i])
		}
		for j, v := range row {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fail("A[%d][%d] = %v: must be finite", i, j, v)
			}
			if j < i && v != a[j][i] {
				return fail("A[%d][%d] = %v but A[%d][%d] = %v: must be symmetric", i, j, v, j, i, a[j][i])
			}
			if j >= i {
				sym.SetSym(i, j, v)
			}
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(sym, true) {
		return fail("the eigenvalues of A could not be computed")
	}
	o := MatrixOrnsteinUhlenbeck{rates: eigen.Values(nil), axes: &mat.Dense{}, mu: slices.Clone(mu), sigma: sigma}
	if !(o.rates[0] > 0) {
		return fail("A with least eigenvalue %v: must be positive definite", o.rates[0])
	}
	eigen.VectorsTo(o.axes)
	return o, nil
}

// check returns an error for a zero value and for times that are not finite or below 0.
func (o MatrixOrnsteinUhlenbeck) check(times ...float64) error {
	if len(o.mu) == 0 {
		return fmt.Errorf("sde: MatrixOrnsteinUhlenbeck: zero value: must be made by NewMatrixOrnsteinUhlenbeck")
	}
	for _, t := range times {
		if !(t >= 0) || math.IsInf(t, 0) {
			return fmt.Errorf("sde: MatrixOrnsteinUhlenbeck: time %v: must be finite and not negative", t)
		}
	}
	return nil
}

// Mean returns the mean at time t given the start x0. It returns an error for a zero value, unless x0 has d finite
// coordinates, and unless t is finite and not negative.
func (o MatrixOrnsteinUhlenbeck) Mean(x0 []float64, t float64) ([]float64, error) {
	if err := o.check(t); err != nil {
		return nil, err
	}
	if len(x0) != len(o.mu) {
		return nil, fmt.Errorf("sde: MatrixOrnsteinUhlenbeck: start of %d coordinates: must have %d", len(x0), len(o.mu))
	}
	for i, v := range x0 {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("sde: MatrixOrnsteinUhlenbeck: start[%d] = %v: must be finite", i, v)
		}
	}
	away := mat.NewVecDense(len(x0), nil)
	for i, v := range x0 {
		away.SetVec(i, v-o.mu[i])
	}
	var mean mat.VecDense
	mean.MulVec(o.along(func(rate float64) float64 { return math.Exp(-rate * t) }), away)
	out := make([]float64, len(x0))
	for i := range out {
		out[i] = o.mu[i] + mean.AtVec(i)
	}
	return out, nil
}

// Covariance returns the covariance of x_t and x_u, t ≤ u, given the start: e^{−A(u−t)} σ²(2A)⁻¹(I − e^{−2At}), row by
// row. For t = u it is that of x_t. The result is symmetric, and for t > u it is the same with the two exchanged. It
// returns an error for a zero value, and unless both times are finite and not negative.
func (o MatrixOrnsteinUhlenbeck) Covariance(t, u float64) ([][]float64, error) {
	if err := o.check(t, u); err != nil {
		return nil, err
	}
	t, u = min(t, u), max(t, u)
	return rowsOf(o.along(func(rate float64) float64 {
		return math.Exp(-rate*(u-t)) * o.sigma * o.sigma * -math.Expm1(-2*rate*t) / (2 * rate)
	})), nil
}

// Stationary returns mean and covariance at rest, μ and σ²(2A)⁻¹; both are nil for a zero value.
func (o MatrixOrnsteinUhlenbeck) Stationary() (mean []float64, covariance [][]float64) {
	if o.check() != nil {
		return nil, nil
	}
	return slices.Clone(o.mu), rowsOf(o.along(func(rate float64) float64 { return o.sigma * o.sigma / (2 * rate) }))
}

// along returns the matrix with the eigenvectors of A and the values f of its eigenvalues.
func (o MatrixOrnsteinUhlenbeck) along(f func(rate float64) float64) *mat.Dense {
	values := make([]float64, len(o.rates))
	for i, r := range o.rates {
		values[i] = f(r)
	}
	var m mat.Dense
	m.Product(o.axes, mat.NewDiagDense(len(values), values), o.axes.T())
	return &m
}

func rowsOf(m *mat.Dense) [][]float64 {
	n, _ := m.Dims()
	out := make([][]float64, n)
	for i := range out {
		out[i] = slices.Clone(m.RawRowView(i))
	}
	return out
}
