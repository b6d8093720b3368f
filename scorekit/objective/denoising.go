package objective

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/numbers"
	"github.com/scorekit/lab/internal/rows"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/random"
)

// Denoising is denoising score matching at one noise level,
//
//	loss(x) = ½ ‖s(x + σz) + z/σ‖²,  z ~ N(0, I)
//
// (Vincent 2011, eq. 9). Its minimiser is the score of the noised data, ∇log p_σ with p_σ = p ∗ N(0, σ²I): the target
// −z/σ is the score of x + σz given x, whose mean given x + σz is ∇log p_σ(x + σz). The minimum is therefore not zero:
// see [Denoising.Floor].
//
// With Weighted the loss is multiplied by σ², ½‖σs(x + σz) + z‖², which makes losses at different levels comparable
// and changes nothing else. Forms without the ½ are twice this, as E‖s(x + σε) + ε/σ‖² in "Lecture 02: Score Matching",
// eq. 15. Its eq. 13 and 14 give −ε/σ as the score of the noised data; that is the score of one point's noise, the label
// here, and the score of the noised data is its mean over all points and noise that lead to x + σε.
//
// The score is given σ as its noise level; one that does not depend on a level ignores it. x is [batch, dims...].
type Denoising struct {
	Sigma    float64 // noise level, standard deviation in the units of the data; positive
	Weighted bool    // multiply by σ²
}

var _ scorekit.Objective = Denoising{}

// Validate returns an error if Sigma is not positive and finite.
func (d Denoising) Validate() error {
	if err := numbers.Positive("sigma", d.Sigma); err != nil {
		return fmt.Errorf("denoising objective: %w", err)
	}
	return nil
}

// Loss adds the loss of each example, [batch].
func (d Denoising) Loss(vars *mlctx.Context, rng *random.Source, score scorekit.Score, x *Node) *Node {
	const who = "denoising objective"
	checkPoints(who, x)
	sigma := graph.BroadcastToDims(graph.Scalar(x.Graph(), x.DType(), d.Sigma), x.Shape().Dimensions[0])
	loss := denoise(who, vars, rng, score, x, sigma)
	if !d.Weighted {
		loss = graph.DivScalar(loss, d.Sigma*d.Sigma)
	}
	return loss
}

// Floor returns the smallest value that the expected loss can take on data from N(μ, std²I) in dim dimensions: what
// remains when the score is exact, because z cannot be told from x + σz alone. With v = std² + σ²,
//
//	½ E‖∇log p_σ + z/σ‖² = ½ dim (1/σ² − 1/v)
//
// times σ² when Weighted (Vincent 2011: J_DSM − J_ESM does not depend on the score). For other data of that standard
// deviation it is an upper bound, since a Gaussian has the least Fisher information: a loss that hovers at or below it
// may be done, not stuck. It returns an error unless dim ≥ 1 and std ≥ 0.
func (d Denoising) Floor(dim int, std float64) (float64, error) {
	if err := numbers.Positive("sigma", d.Sigma); err != nil {
		return 0, fmt.Errorf("objective: Floor: %w", err)
	}
	if dim < 1 {
		return 0, fmt.Errorf("objective: Floor: dim %d: must be at least 1", dim)
	}
	if !(std >= 0) || math.IsInf(std, 0) {
		return 0, fmt.Errorf("objective: Floor: std %v: must be finite and not negative", std)
	}
	s2, v := d.Sigma*d.Sigma, std*std+d.Sigma*d.Sigma
	floor := 0.5 * float64(dim) * std * std / (s2 * v)
	if d.Weighted {
		floor *= s2
	}
	return floor, nil
}

// denoise is the core of the family: ½‖σ s(x + σz, σ) + z‖² of each example, sigma [batch]. In this form no term is
// divided by a small σ.
func denoise(who string, vars *mlctx.Context, rng *random.Source, score scorekit.Score, x, sigma *Node) *Node {
	z := rng.Normal(x.Shape().Dimensions...)
	wide := rows.Like(sigma, x)
	s := ask(who, score, vars, graph.Add(x, graph.Mul(wide, z)), sigma)
	return ofFinite(x, halfSquare(graph.Add(graph.Mul(wide, s), z)))
}
