package objective

import (
	"fmt"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/numbers"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/random"
)

// Weighting is how the losses of different noise levels are weighed against one another.
type Weighting int

const (
	// SigmaSquared weighs by σ²: ½‖σs + z‖², of the same size at every level (Song and Ermon 2019, §4.2).
	SigmaSquared Weighting = iota
	// Plain does not weigh: ½‖s + z/σ‖². Its size grows as 1/σ², so that the smallest levels drown the others.
	Plain
	// EDM weighs by σ²(σ² + σ_d²)/σ_d², with σ_d the standard deviation of the data, DataStd (Karras et al. 2022,
	// table 1). For a network behind their preconditioning it makes the error of the network itself count the same at
	// every level: with the denoiser D(x̃) = x̃ + σ²s(x̃) and their λ(σ) = (σ² + σ_d²)/(σσ_d)²,
	//
	//	λ(σ) ‖D(x + σz) − x‖² = λ(σ) σ⁴ ‖s + z/σ‖² = σ²(σ² + σ_d²)/σ_d² ‖s + z/σ‖²
	//
	// The loss here has ½ of it, which the paper has not: it is half the paper's.
	EDM
)

// MultiNoise is denoising score matching over many noise levels, one drawn for each example,
//
//	loss(x) = ½ w(σ) ‖s(x + σz, σ) + z/σ‖²,  z ~ N(0, I)
//
// with ln σ ~ U(ln Min, ln Max), or σ from other [Levels] (Song and Ermon 2019, eq. 5 and 6). The score is given σ,
// [batch]: without it one function would have to fit every level at once. The weight w is that of Weighting.
//
// The mean of the squares over all coordinates, as a mean-squared-error function computes it, is 2/dim times the plain
// form here. The listing of "Lecture 02: Score Matching" is that, over log-uniform levels and of a score that is not
// told σ: MultiNoise with Plain and such a model. It learns a score of the mixture of all levels, by far the most of the
// smallest.
type MultiNoise struct {
	Min, Max  float64 // smallest and largest noise level, in the units of the data; 0 < Min ≤ Max
	Levels    Levels  // in place of Min and Max: LogUniform, Ladder, LogNormal, Annealed, or one's own
	Weighting Weighting
	DataStd   float64 // σ_d, the standard deviation of the data, for EDM alone; positive
}

var _ scorekit.Objective = MultiNoise{}

// levels returns the distribution of levels that the settings ask for.
func (m MultiNoise) levels() Levels {
	if m.Levels != nil {
		return m.Levels
	}
	return LogUniform{m.Min, m.Max}
}

// Validate returns an error unless 0 < Min ≤ Max, both finite, or in their place Levels are given which are possible;
// and unless the weighting is known and DataStd positive and finite for EDM, and 0 for any other.
func (m MultiNoise) Validate() error {
	if err := m.check(); err != nil {
		return fmt.Errorf("multi-noise objective: %w", err)
	}
	return nil
}

func (m MultiNoise) check() error {
	if m.Levels != nil && (m.Min != 0 || m.Max != 0) {
		return fmt.Errorf("min %v and max %v beside levels: must be 0", m.Min, m.Max)
	}
	if err := m.levels().Validate(); err != nil {
		return err
	}
	switch m.Weighting {
	case EDM:
		if err := numbers.Positive("data std", m.DataStd); err != nil {
			return fmt.Errorf("%w with the weighting EDM", err)
		}
	case SigmaSquared, Plain:
		if m.DataStd != 0 {
			return fmt.Errorf("data std %v: must be 0 without the weighting EDM", m.DataStd)
		}
	default:
		return fmt.Errorf("weighting %d: must be SigmaSquared, Plain or EDM", m.Weighting)
	}
	return nil
}

// Loss adds the loss of each example, [batch].
func (m MultiNoise) Loss(vars *mlctx.Context, rng *random.Source, score scorekit.Score, x *Node) *Node {
	const who = "multi-noise objective"
	checkPoints(who, x)
	sigma := m.levels().Draw(vars, rng, x.Shape().Dimensions[0])
	if n := x.Shape().Dimensions[0]; sigma == nil || sigma.Rank() != 1 || sigma.Shape().Dimensions[0] != n || sigma.DType() != x.DType() {
		got := "nil"
		if sigma != nil {
			got = sigma.Shape().String()
		}
		panic(fmt.Errorf("%s: levels %T gave %s for %d examples of %s: must be [batch] of the same dtype", who, m.levels(), got, n, x.DType()))
	}
	loss := denoise(who, vars, rng, score, x, sigma)
	loss = spoilt(graph.InsertAxes(graph.LessOrEqual(sigma, graph.ZerosLike(sigma)), -1), loss)
	switch m.Weighting {
	case Plain:
		loss = graph.Div(loss, graph.Square(sigma))
	case EDM:
		loss = graph.Mul(loss, graph.OnePlus(graph.Square(graph.DivScalar(sigma, m.DataStd))))
	}
	return loss
}

// Floor returns the smallest value that the expected loss can take at the noise level sigma on data from N(μ, std²I) in
// dim dimensions, w(σ)·½ dim (1/σ² − 1/(std² + σ²)): that of [Denoising] with this weight. The floor of the loss as a
// whole is its mean over the levels. With EDM and DataStd = std it is ½ dim at every level. It returns the errors of
// Validate and of [Denoising.Floor].
func (m MultiNoise) Floor(sigma float64, dim int, std float64) (float64, error) {
	if err := m.check(); err != nil {
		return 0, fmt.Errorf("objective: Floor: %w", err)
	}
	floor, err := Denoising{Sigma: sigma, Weighted: m.Weighting != Plain}.Floor(dim, std)
	if m.Weighting == EDM {
		floor *= 1 + sigma*sigma/(m.DataStd*m.DataStd)
	}
	return floor, err
}
