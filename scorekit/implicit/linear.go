package implicit

import (
	"fmt"

	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
)

// Linear is the generator x = A ε + b. Its law is N(b, AAᵀ), so that everything about it is known:
//
//	H = ½ d log 2πe + ½ log det AAᵀ,   ∇_A H = (AAᵀ)⁻¹A  (A⁻ᵀ if A is square),   ∇_b H = 0
//
// which is what estimates are checked against. A starts as N(0, 1/Inputs), b at 0.
type Linear struct {
	Inputs  int `json:"inputs"`  // numbers of ε
	Outputs int `json:"outputs"` // numbers of x
}

var _ Generator = Linear{}

// Validate returns an error for a dimension below 1.
func (l Linear) Validate() error { return checkDims("linear generator", l.Inputs, l.Outputs) }

// NoiseDim returns Inputs.
func (l Linear) NoiseDim() int { return l.Inputs }

// Dim returns Outputs.
func (l Linear) Dim() int { return l.Outputs }

// Generate adds A ε + b, [batch, Outputs].
func (l Linear) Generate(vars *mlctx.Context, noise *Node) *Node {
	return dense(vars, noise, l.Outputs, 1)
}

// Law returns the law of a trained Linear, N(b, AAᵀ), with its exact score and log-density.
//
// It returns an error if fitted has another generator, and where the law has no density: for fewer Inputs than Outputs, or
// an A that is singular.
func (Linear) Law(fitted *scorekit.Fitted) (density.Gaussian, error) {
	const who = "linear generator: Law"
	m, err := modelOf(fitted)
	if err != nil {
		return density.Gaussian{}, fmt.Errorf("%s: %w", who, err)
	}
	if _, ok := m.Generator.(Linear); !ok {
		return density.Gaussian{}, fmt.Errorf("%s: generator %T: must be a trained Linear", who, m.Generator)
	}
	var read [2][][]float64
	for i, name := range []string{"weights", "biases"} {
		v := fitted.Vars().GetVariableByScopeAndName("/"+generatorScope, name)
		if v == nil {
			return density.Gaussian{}, fmt.Errorf("%s: the model has no %s", who, name)
		}
		value, err := v.Value()
		if err == nil {
			read[i], err = scorekit.Rows(value)
		}
		if err != nil {
			return density.Gaussian{}, fmt.Errorf("%s: %w", who, err)
		}
	}
	a, d := read[0], len(read[1][0]) // Aᵀ, a row for each number of ε
	cov := make([][]float64, d)
	for i := range cov {
		cov[i] = make([]float64, d)
		for j := range cov[i] {
			for _, row := range a {
				cov[i][j] += row[i] * row[j]
			}
		}
	}
	law, err := density.NewGaussian(read[1][0], cov)
	if err != nil {
		return density.Gaussian{}, fmt.Errorf("%s: %w", who, err)
	}
	return law, nil
}
