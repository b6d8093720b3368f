package metric

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Gaussian is a normal distribution by its moments. Those of a density.Gaussian are its Mean and Cov; those of points
// come from [GaussianOf].
type Gaussian struct {
	Mean []float64
	Cov  [][]float64
}

// GaussianOf returns the mean of points, a tensor [n, dims...] or rows as for [scorekit.Examples], and their covariance
// with the divisor n−1. Time grows with n·d²; ctx stops it. It returns an error for fewer than two points and for values that
// are not finite.
func GaussianOf(ctx context.Context, points any) (Gaussian, error) {
	rows, err := rowsOf(points)
	if err != nil {
		return Gaussian{}, fmt.Errorf("metric: moments: %w", err)
	}
	if len(rows) < 2 {
		return Gaussian{}, fmt.Errorf("metric: moments: %d point: must be at least 2, for a covariance", len(rows))
	}
	if ctx == nil {
		return Gaussian{}, fmt.Errorf("metric: moments: %w", errNoContext)
	}
	n, d := float64(len(rows)), len(rows[0])
	g := Gaussian{make([]float64, d), make([][]float64, d)}
	for _, r := range rows {
		for i, v := range r {
			g.Mean[i] += v / n
		}
	}
	for i := range d {
		g.Cov[i] = make([]float64, d)
	}
	for k, r := range rows {
		if err := stopped(ctx, k, len(rows)); err != nil {
			return Gaussian{}, fmt.Errorf("metric: moments: %w", err)
		}
		for i := range d {
			for j := range i + 1 {
				g.Cov[i][j] += (r[i] - g.Mean[i]) * (r[j] - g.Mean[j]) / (n - 1)
			}
		}
	}
	for i := range d {
		if err := results(g.Cov[i][:i+1]...); err != nil {
			return Gaussian{}, fmt.Errorf("metric: moments: %w", err)
		}
		for j := range i {
			g.Cov[j][i] = g.Cov[i][j]
		}
	}
	return g, nil
}

// W2 returns the Wasserstein-2 distance of two normal distributions,
//
//	W₂² = ‖m₁−m₂‖² + tr(S₁ + S₂ − 2(S₁^½ S₂ S₁^½)^½)
//
// (Dowson and Landau 1982), in the units of the data. For other distributions it is that of the normal ones with their
// moments, also called Fréchet distance, which is never above their own W₂ (Gelbrich 1990).
//
// Time grows with d³, for the eigenvalues of three matrices; ctx stops it between them.
//
// It returns an error for means and covariances of different sizes, and for a covariance that is not finite, symmetric
// and positive semidefinite.
func (p Gaussian) W2(ctx context.Context, q Gaussian) (float64, error) {
	s1, s2, err := p.pair(ctx, q)
	if err != nil {
		return 0, fmt.Errorf("metric: Gaussian W2: %w", err)
	}
	var half, inner, product mat.Dense
	half.CloneFrom(s1.power(math.Sqrt))
	inner.Mul(s2.matrix, &half)
	product.Mul(&half, &inner)
	d := len(p.Mean)
	symmetric := mat.NewSymDense(d, nil)
	for i := range d {
		for j := range i + 1 {
			symmetric.SetSym(i, j, (product.At(i, j)+product.At(j, i))/2)
		}
	}
	if ctx.Err() != nil {
		return 0, fmt.Errorf("metric: Gaussian W2: %w", context.Cause(ctx))
	}
	root, err := spectrumOf(symmetric)
	if err != nil {
		return 0, fmt.Errorf("metric: Gaussian W2: %w", err)
	}
	squared := mat.Trace(s1.matrix) + mat.Trace(s2.matrix)
	for i, v := range root.values {
		squared -= 2 * math.Sqrt(max(0, v))
		squared += (p.Mean[i] - q.Mean[i]) * (p.Mean[i] - q.Mean[i])
	}
	if err := results(squared); err != nil {
		return 0, fmt.Errorf("metric: Gaussian W2: %w", err)
	}
	return math.Sqrt(max(0, squared)), nil
}

// ByParts returns the terms of [ByParts] for two normal distributions, in closed form: with P the inverses of the
// covariances S,
//
//	explicit = ½ [ tr((P₂−P₁) S₁ (P₂−P₁)) + ‖P₂(m₁−m₂)‖² ]
//	implicit = ½ [ tr(P₂ S₁ P₂) + ‖P₂(m₁−m₂)‖² ] − tr P₂
//	constant = ½ tr P₁,  boundary = 0
//
// (Hyvärinen 2005, theorem 1). Explicit is the Fisher divergence with its ½, from draws of p: it is not symmetric. Time grows with d³; ctx
// stops it between the eigenvalues of the two covariances.
//
// It returns an error for means and covariances of different sizes, and for a covariance that is not finite, symmetric
// and positive definite.
func (p Gaussian) ByParts(ctx context.Context, q Gaussian) (ByParts, error) {
	s1, s2, err := p.pair(ctx, q)
	if err != nil {
		return ByParts{}, fmt.Errorf("metric: Gaussian Fisher divergence: %w", err)
	}
	for i, s := range []spectrum{s1, s2} {
		for _, v := range s.values {
			if !(v > 0) || !finite(1/v) {
				return ByParts{}, fmt.Errorf("metric: Gaussian Fisher divergence: covariance %d has the eigenvalue %v: must be positive", i+1, v)
			}
		}
	}
	invert := func(v float64) float64 { return 1 / v }
	p1, p2 := s1.power(invert), s2.power(invert)
	var gap, half, product mat.Dense
	gap.Sub(p2, p1)
	half.Mul(s1.matrix, &gap)
	product.Mul(&gap, &half)
	out := ByParts{Explicit: mat.Trace(&product) / 2, Constant: mat.Trace(p1) / 2}
	half.Mul(s1.matrix, p2)
	product.Mul(p2, &half)
	out.Implicit = mat.Trace(&product)/2 - mat.Trace(p2)
	apart := mat.NewVecDense(len(p.Mean), nil)
	apart.SubVec(mat.NewVecDense(len(p.Mean), p.Mean), mat.NewVecDense(len(p.Mean), q.Mean))
	var pushed mat.VecDense
	pushed.MulVec(p2, apart)
	shift := mat.Dot(&pushed, &pushed) / 2
	out.Explicit += shift
	out.Implicit += shift
	if err := results(out.Explicit, out.Implicit, out.Constant); err != nil {
		return ByParts{}, fmt.Errorf("metric: Gaussian Fisher divergence: %w", err)
	}
	return out, nil
}

// pair returns both covariances with their eigenvalues.
func (p Gaussian) pair(ctx context.Context, q Gaussian) (s1, s2 spectrum, err error) {
	if len(p.Mean) == 0 || len(p.Mean) != len(q.Mean) {
		return s1, s2, fmt.Errorf("means of %d and %d numbers: must be as many, at least 1", len(p.Mean), len(q.Mean))
	}
	if ctx == nil {
		return s1, s2, errNoContext
	}
	if ctx.Err() != nil {
		return s1, s2, context.Cause(ctx)
	}
	if s1, err = p.spectrum(); err != nil {
		return s1, s2, fmt.Errorf("first distribution: %w", err)
	}
	if ctx.Err() != nil {
		return s1, s2, context.Cause(ctx)
	}
	if s2, err = q.spectrum(); err != nil {
		return s1, s2, fmt.Errorf("second distribution: %w", err)
	}
	return s1, s2, nil
}

func (p Gaussian) spectrum() (spectrum, error) {
	d := len(p.Mean)
	for i, v := range p.Mean {
		if !finite(v) {
			return spectrum{}, fmt.Errorf("mean %d is %v: must be finite", i, v)
		}
	}
	if len(p.Cov) != d {
		return spectrum{}, fmt.Errorf("covariance of %d rows for %d means: must be as many", len(p.Cov), d)
	}
	m := mat.NewSymDense(d, nil)
	for i, row := range p.Cov {
		if len(row) != d {
			return spectrum{}, fmt.Errorf("row %d of the covariance has %d numbers: must be %d", i, len(row), d)
		}
		for j, v := range row {
			if !finite(v) {
				return spectrum{}, fmt.Errorf("covariance[%d][%d] is %v: must be finite", i, j, v)
			}
			if j < i && math.Abs(v-p.Cov[j][i]) > 1e-9*math.Sqrt(math.Abs(p.Cov[i][i]*p.Cov[j][j])) {
				return spectrum{}, fmt.Errorf("covariance[%d][%d] is %v and [%d][%d] is %v: must be equal", i, j, v, j, i, p.Cov[j][i])
			}
			m.SetSym(i, j, v)
		}
	}
	s, err := spectrumOf(m)
	if err != nil {
		return spectrum{}, fmt.Errorf("covariance: %w", err)
	}
	for _, v := range s.values {
		if v < -1e-9*s.values[d-1] || s.values[d-1] < 0 {
			return spectrum{}, fmt.Errorf("covariance has the eigenvalue %v: must not be negative", v)
		}
	}
	return s, nil
}

// spectrum is a symmetric matrix with its eigenvalues, in ascending order, and its eigenvectors.
type spectrum struct {
	matrix  *mat.SymDense
	values  []float64
	vectors mat.Dense
}

func spectrumOf(m *mat.SymDense) (spectrum, error) {
	s := spectrum{matrix: m}
	var e mat.EigenSym
	if !e.Factorize(m, true) {
		return spectrum{}, fmt.Errorf("its eigenvalues were not found")
	}
	s.values = e.Values(nil)
	e.VectorsTo(&s.vectors)
	return s, nil
}

// power returns the matrix with f of the eigenvalues, those that rounding put below 0 being 0.
func (s spectrum) power(f func(float64) float64) *mat.Dense {
	d := len(s.values)
	scaled := mat.NewDense(d, d, nil)
	for j, v := range s.values {
		g := f(max(0, v))
		for i := range d {
			scaled.Set(i, j, s.vectors.At(i, j)*g)
		}
	}
	var out mat.Dense
	out.Mul(scaled, s.vectors.T())
	return &out
}
