package net

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/shapes"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/autodiff"
	"github.com/scorekit/lab/scorekit/random"
)

// MixtureEnergy is the energy of a mixture of Gaussians with diagonal covariances, all of it trained:
//
//	E(x) = −log Σₖ πₖ N(x; μₖ, diag τₖ²),  π = softmax a,  τₖ = Spread·exp cₖ,  k = 1 … Components
//
// It is normalised, log ∫e^{−E} = 0 whatever the weights: −E is a log-density, and an estimate of a partition function can
// be checked on it. Its score is −∇ₓE = Σₖ rₖ(x) (μₖ − x)/τₖ², rₖ(x) the probability that x is of component k.
//
// The means start as N(0, Spread²), all τ at Spread and π at 1/Components, so that the components overlap and each has
// a share in the data. Where they end far apart, objectives that compare scores learn each component's shape but
// hardly the πₖ, which a score shows only between components (Wenliang and Kanagawa 2020). A component that closes
// in on one example lets the loss of objective.Implicit fall without end, as it lets a likelihood rise.
//
// x is [batch, dims...], taken as [batch, d]; the noise level is ignored. [MixtureEnergy.Coefficients] reads π, μ and τ.
type MixtureEnergy struct {
	Components int     `json:"components"`       // at least 1
	Spread     float64 `json:"spread,omitempty"` // size of the data's coordinates, in their unit; 0 means 1
}

var _ scorekit.Model = MixtureEnergy{}

func init() { scorekit.RegisterModel("net.MixtureEnergy", MixtureEnergy{}) }

// Validate returns an error without a component, and for a negative or infinite Spread.
func (m MixtureEnergy) Validate() error {
	if m.Components < 1 {
		return fmt.Errorf("mixture energy: components %d: must be at least 1", m.Components)
	}
	if !(m.Spread >= 0) || math.IsInf(m.Spread, 0) {
		return fmt.Errorf("mixture energy: spread %v: must be positive and finite, or 0 for 1", m.Spread)
	}
	return nil
}

// Energy adds E(x), [batch], to the graph.
func (m MixtureEnergy) Energy(vars *mlctx.Context, x, _ *Node) *Node {
	logs, _ := m.parts(vars, flat(x))
	return graph.Neg(autodiff.LogSumExp(logs, 1))
}

// Score adds −∇ₓE(x), of the shape of x.
func (m MixtureEnergy) Score(vars *mlctx.Context, x, _ *Node) *Node {
	return onRows(x, func(rows *Node) *Node {
		logs, pulls := m.parts(vars, rows)
		shares := graph.Exp(graph.Sub(logs, graph.InsertAxes(autodiff.LogSumExp(logs, 1), 1)))
		return graph.ReduceSum(graph.Mul(graph.InsertAxes(shares, -1), pulls), 1)
	})
}

// parts adds log πₖ N(x; μₖ, diag τₖ²), [batch, K], and (μₖ − x)/τₖ², [batch, K, d].
func (m MixtureEnergy) parts(vars *mlctx.Context, rows *Node) (logs, pulls *Node) {
	k, d, spread := m.Components, rows.Shape().Dimensions[1], m.spread()
	means := vars.WithInitializer(random.NormalInitializer(vars, spread)).
		VariableWithShape("means", shapes.Make(rows.DType(), k, d)).ValueGraph(rows.Graph())
	logStds := graph.AddScalar(zeros(vars, "log_stds", rows, k, d), math.Log(spread))
	logits := zeros(vars, "logits", rows, 1, k)

	inverse := graph.InsertAxes(graph.Exp(graph.Neg(logStds)), 0)
	unit := graph.Mul(graph.Sub(graph.InsertAxes(means, 0), graph.InsertAxes(rows, 1)), inverse)
	scale := graph.AddScalar(graph.ReduceSum(logStds, 1), 0.5*float64(d)*math.Log(2*math.Pi))
	logWeights := graph.Sub(logits, graph.Reshape(autodiff.LogSumExp(logits), 1, 1))
	logs = graph.Sub(graph.Sub(logWeights, graph.InsertAxes(scale, 0)), graph.MulScalar(graph.ReduceSum(graph.Square(unit), 2), 0.5))
	return logs, graph.Mul(unit, inverse)
}

func (m MixtureEnergy) spread() float64 {
	if m.Spread == 0 {
		return 1
	}
	return m.Spread
}

// Coefficients returns the components of a trained MixtureEnergy: their weights πₖ, means μₖ and standard deviations τₖ
// along the coordinates, in the unit of x. density.Diagonal and density.NewMixture make a density of them, that can be
// drawn from:
//
//	weights, means, stds, err := net.MixtureEnergy{}.Coefficients(fitted)
//
// It returns an error if fitted is another model.
func (MixtureEnergy) Coefficients(fitted *scorekit.Fitted) (weights []float64, means, stds [][]float64, err error) {
	read, err := coefficients[MixtureEnergy]("mixture energy: Coefficients", fitted, "logits", "means", "log_stds")
	if err != nil {
		return nil, nil, nil, err
	}
	spread := fitted.Model().(MixtureEnergy).spread()
	weights, means, stds = read[0][0], read[1], read[2]
	for _, row := range stds {
		for i, log := range row {
			row[i] = spread * math.Exp(log)
		}
	}
	return softmax(weights), means, stds, nil
}

// softmax turns logits into weights of sum 1, in place.
func softmax(logits []float64) []float64 {
	top, sum := math.Inf(-1), 0.0
	for _, a := range logits {
		top = max(top, a)
	}
	for i, a := range logits {
		logits[i] = math.Exp(a - top)
		sum += logits[i]
	}
	for i := range logits {
		logits[i] /= sum
	}
	return logits
}
