package net

import (
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
)

// Quadratic is the energy E(x) = ½ xᵀP x − bᵀx with P symmetric, whose score is s(x) = b − P x: that of the Gaussian with
// the precision P and the mean P⁻¹b, where P is positive. For data of mean μ and covariance Σ, seen with noise σ (0 for
// objectives without), the losses have their one minimum at
//
//	P = (Σ + σ²I)⁻¹,  b = P μ
//
// P is (W + Wᵀ)/2 of a free matrix W. P and b start at 0, the energy of a flat density, which takes no side on the units
// of x. x is [batch, dims...], taken as [batch, d]; the noise level is ignored. [Quadratic.Coefficients] reads P and b.
type Quadratic struct{}

var _ scorekit.Model = Quadratic{}

func init() { scorekit.RegisterModel("net.Quadratic", Quadratic{}) }

// Energy adds E(x), [batch], to the graph.
func (q Quadratic) Energy(vars *mlctx.Context, x, _ *Node) *Node {
	rows := flat(x)
	px, b := q.parts(vars, rows)
	return graph.ReduceSum(graph.Mul(rows, graph.Sub(graph.MulScalar(px, 0.5), b)), 1)
}

// Score adds b − P x, of the shape of x.
func (q Quadratic) Score(vars *mlctx.Context, x, _ *Node) *Node {
	return onRows(x, func(rows *Node) *Node {
		px, b := q.parts(vars, rows)
		return graph.Sub(b, px)
	})
}

// parts adds P x, [batch, d], and b, [1, d].
func (Quadratic) parts(vars *mlctx.Context, rows *Node) (px, b *Node) {
	d := rows.Shape().Dimensions[1]
	w := zeros(vars, "W", rows, d, d)
	p := graph.MulScalar(graph.Add(w, graph.Transpose(w, 0, 1)), 0.5)
	return graph.Dot(rows, p), zeros(vars, "b", rows, 1, d)
}

// Coefficients returns P and b of a trained Quadratic:
//
//	p, b, err := net.Quadratic{}.Coefficients(fitted)   // E(x) = ½ Σᵢⱼ p[i][j] xᵢxⱼ − Σᵢ b[i] xᵢ
//
// It returns an error if fitted is another model.
func (Quadratic) Coefficients(fitted *scorekit.Fitted) (p [][]float64, b []float64, err error) {
	read, err := coefficients[Quadratic]("quadratic energy: Coefficients", fitted, "W", "b")
	if err != nil {
		return nil, nil, err
	}
	w := read[0]
	p = make([][]float64, len(w))
	for i := range p {
		p[i] = make([]float64, len(w))
		for j := range p[i] {
			p[i][j] = (w[i][j] + w[j][i]) / 2
		}
	}
	return p, read[1][0], nil
}
