package density

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"
	"gonum.org/v1/gonum/mat"
)

// principal is a covariance Σ = V diag(λ) Vᵀ, or a Student-t's scale matrix: its variances λ along the principal axes,
// the columns of V. It is worked out once, on the host, because it makes the inverse of Σ+σ²I cheap for any σ:
// V diag(1/(λ+σ²)) Vᵀ.
type principal struct {
	variances []float64
	axes      []float64 // V, [d, d] row-major; nil when the axes are the coordinate axes
}

// asymmetry is the largest relative difference between cov[i][j] and cov[j][i] taken for a rounding error.
const asymmetry = 1e-9

// newPrincipal decomposes a d×d covariance, called what in errors, which name the entry or the eigenvalue at fault.
func newPrincipal(what string, cov [][]float64, d int) (principal, error) {
	if len(cov) != d {
		return principal{}, fmt.Errorf("%s with %d rows for a mean of %d: must be square and fit", what, len(cov), d)
	}
	diagonal := true
	for i, row := range cov {
		if len(row) != d {
			return principal{}, fmt.Errorf("%s row %d has %d entries: must be %d", what, i, len(row), d)
		}
		for j, v := range row {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return principal{}, fmt.Errorf("%s[%d][%d] = %v: must be finite", what, i, j, v)
			}
			diagonal = diagonal && (i == j || v == 0)
		}
		if !(row[i] > 0) {
			return principal{}, fmt.Errorf("%s[%d][%d] = %v: the diagonal must be positive", what, i, i, row[i])
		}
	}
	for i := range d {
		for j := range i {
			if math.Abs(cov[i][j]-cov[j][i]) > asymmetry*math.Sqrt(cov[i][i])*math.Sqrt(cov[j][j]) {
				return principal{}, fmt.Errorf("%s[%d][%d] = %v but [%d][%d] = %v: must be symmetric",
					what, i, j, cov[i][j], j, i, cov[j][i])
			}
		}
	}
	p := principal{variances: make([]float64, d)}
	if diagonal {
		for i := range d {
			p.variances[i] = cov[i][i]
		}
		return p, nil
	}
	sym := mat.NewSymDense(d, nil)
	for i := range d {
		for j := range i + 1 {
			sym.SetSym(i, j, cov[i][j]/2+cov[j][i]/2)
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(sym, true) {
		return principal{}, fmt.Errorf("%s: its eigenvalues could not be computed", what)
	}
	eigen.Values(p.variances) // ascending
	// The eigenvalues are exact to rounding of the largest: one below that is not known to be positive.
	if least := p.variances[0]; !(least > 1e-15*float64(d)*p.variances[d-1]) {
		return principal{}, fmt.Errorf("%s with eigenvalues from %v to %v: must be positive definite", what, least, p.variances[d-1])
	}
	var v mat.Dense
	eigen.VectorsTo(&v)
	p.axes = v.RawMatrix().Data
	return p, nil
}

// matrix returns Σ, row by row.
func (p principal) matrix() [][]float64 {
	d := len(p.variances)
	cov := make([][]float64, d)
	for i := range d {
		cov[i] = make([]float64, d)
		if p.axes == nil {
			cov[i][i] = p.variances[i]
			continue
		}
		for j := range d {
			for k, lambda := range p.variances {
				cov[i][j] += p.axes[i*d+k] * lambda * p.axes[j*d+k]
			}
		}
	}
	return cov
}

// noised returns Σ + σ²I, which has the same axes.
func (p principal) noised(sigma float64) (principal, error) {
	if !(sigma >= 0) || math.IsInf(sigma, 0) {
		return principal{}, fmt.Errorf("sigma %v: must be finite and not negative", sigma)
	}
	wider := principal{variances: make([]float64, len(p.variances)), axes: p.axes}
	for i, lambda := range p.variances {
		wider.variances[i] = lambda + sigma*sigma
	}
	return wider, nil
}

// turn returns the coordinates of each row of v along the principal axes: v V.
func (p principal) turn(v *Node) *Node {
	if p.axes == nil {
		return v
	}
	d := len(p.variances)
	return graph.Dot(v, constant(v, p.axes, d, d))
}

// turnBack undoes turn: v Vᵀ.
func (p principal) turnBack(v *Node) *Node {
	if p.axes == nil {
		return v
	}
	d := len(p.variances)
	return graph.Dot(v, constant(v, p.transposed(), d, d))
}

// transposed returns Vᵀ, row-major.
func (p principal) transposed() []float64 {
	d := len(p.variances)
	t := make([]float64, len(p.axes))
	for i := range d {
		for j := range d {
			t[j*d+i] = p.axes[i*d+j]
		}
	}
	return t
}
