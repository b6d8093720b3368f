package net

import (
	"fmt"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
)

// Linear is the score s(x) = A x + b. It is that of a Gaussian with the precision −A when A is symmetric and negative,
// which training does not enforce: see [Quadratic]. Its losses are quadratic in A and b, with one minimum. For data of
// mean μ and covariance Σ, seen with noise σ (0 for objectives without),
//
//	A = −(Σ + σ²I)⁻¹,  b = −A μ
//
// A and b start at 0, the score of a flat density, which takes no side on the units of x. x is [batch, dims...], taken
// as [batch, d]; the noise level is ignored. [Linear.Coefficients] reads A and b.
type Linear struct{}

var _ scorekit.Model = Linear{}

func init() { scorekit.RegisterModel("net.Linear", Linear{}) }

// Score adds A x + b, of the shape of x.
func (Linear) Score(vars *mlctx.Context, x, _ *Node) *Node {
	return onRows(x, func(rows *Node) *Node {
		d := rows.Shape().Dimensions[1]
		a, b := zeros(vars, "A", rows, d, d), zeros(vars, "b", rows, 1, d)
		return graph.Add(graph.Dot(rows, graph.Transpose(a, 0, 1)), b)
	})
}

// Coefficients returns A and b of a trained Linear:
//
//	a, b, err := net.Linear{}.Coefficients(fitted)   // s_i(x) = Σⱼ a[i][j] xⱼ + b[i]
//
// It returns an error if fitted is another model.
func (Linear) Coefficients(fitted *scorekit.Fitted) (a [][]float64, b []float64, err error) {
	read, err := coefficients[Linear]("linear score: Coefficients", fitted, "A", "b")
	if err != nil {
		return nil, nil, err
	}
	return read[0], read[1][0], nil
}

// coefficients reads variables of a trained M, which are matrices, by their names.
func coefficients[M scorekit.Model](who string, fitted *scorekit.Fitted, names ...string) ([][][]float64, error) {
	var want M
	if fitted == nil {
		return nil, fmt.Errorf("%s: model nil: must be a trained %T", who, want)
	}
	if _, ok := fitted.Model().(M); !ok {
		return nil, fmt.Errorf("%s: model %T: must be a trained %T", who, fitted.Model(), want)
	}
	read := make([][][]float64, len(names))
	for i, name := range names {
		v := fitted.Vars().GetVariableByScopeAndName(mlctx.RootScope, name)
		if v == nil {
			return nil, fmt.Errorf("%s: the model has no weights %s", who, name)
		}
		value, err := v.Value()
		if err == nil {
			read[i], err = scorekit.Rows(value)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", who, err)
		}
	}
	return read, nil
}
