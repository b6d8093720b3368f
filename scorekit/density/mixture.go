package density

import (
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit/autodiff"
	"github.com/scorekit/lab/scorekit/random"
)

// Mixture is a mixture of K Gaussians, with weights wₖ > 0 that sum to 1:
//
//	log p(x) = log Σₖ wₖ N(x; μₖ, Σₖ)
//	∇ log p(x) = −Σₖ rₖ(x) Σₖ⁻¹ (x−μₖ),  rₖ(x) = wₖ N(x; μₖ, Σₖ) / p(x)
//
// Convolved with N(0, σ²I) it is the mixture of the N(μₖ, Σₖ+σ²I) with the same weights. Sums of densities are taken
// through their logarithms, less the largest of them. Make one with [NewMixture].
type Mixture struct {
	weights    []float64
	components []Gaussian
}

var _ Density = Mixture{}

// NewMixture returns the mixture of the components with the given weights, which are divided by their sum. nil weights
// are equal ones. Weights must be as many as the components, finite, not negative and not all zero; the components
// must have one dimension. A component of weight 0 is left out.
func NewMixture(weights []float64, components ...Gaussian) (Mixture, error) {
	if len(components) == 0 {
		return Mixture{}, fmt.Errorf("density: Mixture: no components: must have at least one")
	}
	if weights == nil {
		weights = slices.Repeat([]float64{1}, len(components))
	}
	if len(weights) != len(components) {
		return Mixture{}, fmt.Errorf("density: Mixture: %d weights for %d components: must be as many", len(weights), len(components))
	}
	largest := 0.0
	for k, w := range weights {
		if !(w >= 0) || math.IsInf(w, 0) {
			return Mixture{}, fmt.Errorf("density: Mixture: weights[%d] = %v: must be finite and not negative", k, w)
		}
		if err := components[k].Validate(); err != nil {
			return Mixture{}, fmt.Errorf("density: Mixture: component %d: %w", k, err)
		}
		if d := components[k].Dim(); d != components[0].Dim() {
			return Mixture{}, fmt.Errorf("density: Mixture: component %d has dimension %d, component 0 has %d: must be the same", k, d, components[0].Dim())
		}
		largest = max(largest, w)
	}
	if largest == 0 {
		return Mixture{}, fmt.Errorf("density: Mixture: weights are all 0: must have a positive sum")
	}
	var m Mixture
	total := 0.0
	for k, w := range weights {
		// Dividing by the largest first keeps the sum of huge weights finite.
		if w /= largest; w > 0 {
			m.weights = append(m.weights, w)
			m.components = append(m.components, components[k])
			total += w
		}
	}
	for k := range m.weights {
		m.weights[k] /= total
	}
	return m, nil
}

// Dim returns d.
func (m Mixture) Dim() int {
	if len(m.components) == 0 {
		return 0
	}
	return m.components[0].Dim()
}

// Weights returns the weights, which sum to 1.
func (m Mixture) Weights() []float64 { return slices.Clone(m.weights) }

// Components returns the Gaussians that are mixed.
func (m Mixture) Components() []Gaussian { return slices.Clone(m.components) }

// Mean returns the mean, Σₖ wₖ μₖ.
func (m Mixture) Mean() []float64 {
	mean := make([]float64, m.Dim())
	for k, c := range m.components {
		for i, v := range c.mean {
			mean[i] += m.weights[k] * v
		}
	}
	return mean
}

// Cov returns the covariance, Σₖ wₖ (Σₖ + (μₖ−μ)(μₖ−μ)ᵀ) with μ the mean of the mixture, row by row.
func (m Mixture) Cov() [][]float64 {
	mean := m.Mean()
	cov := make([][]float64, len(mean))
	for i := range cov {
		cov[i] = make([]float64, len(mean))
	}
	for k, c := range m.components {
		for i, row := range c.Cov() {
			for j, v := range row {
				cov[i][j] += m.weights[k] * (v + (c.mean[i]-mean[i])*(c.mean[j]-mean[j]))
			}
		}
	}
	return cov
}

// Validate returns an error for a zero value, which is not a distribution.
func (m Mixture) Validate() error { return validate("Mixture", m.Dim()) }

// Noised returns the density of x + σz with x from m and z standard normal. sigma must be finite and not negative.
func (m Mixture) Noised(sigma float64) (Mixture, error) {
	if err := m.Validate(); err != nil {
		return Mixture{}, err
	}
	wider := Mixture{m.weights, make([]Gaussian, len(m.components))}
	for k, c := range m.components {
		cov, err := c.cov.noised(sigma)
		if err != nil {
			return Mixture{}, fmt.Errorf("density: Mixture: Noised: %w", err)
		}
		wider.components[k] = Gaussian{c.mean, cov}
	}
	return wider, nil
}

// LogDensity returns log p(x): [batch, d] → [batch]. It panics, as graph functions do, when x has another shape.
func (m Mixture) LogDensity(x *Node) *Node { return m.LogDensityNoised(x, nil) }

// Energy returns −log p(x): [batch, d] → [batch]. It panics, as graph functions do, when x has another shape.
func (m Mixture) Energy(x *Node) *Node { return graph.Neg(m.LogDensity(x)) }

// LogDensityNoised returns log p_σ(x), the log-density at x of p convolved with N(0, σ²I), where sigma holds the σ of
// each point, [batch], or is nil for none. It panics, as graph functions do, when the shapes do not fit.
func (m Mixture) LogDensityNoised(x, sigma *Node) *Node {
	checkPoints("Mixture", m.Dim(), x, sigma)
	logs, _ := m.at(x, sigma)
	return autodiff.LogSumExp(logs, 1)
}

// Score returns ∇ log p(x), [batch, d], or ∇ log p_σ(x) when sigma, [batch], is not nil. vars is not used. It panics,
// as graph functions do, when the shapes do not fit.
func (m Mixture) Score(_ *mlctx.Context, x, sigma *Node) *Node {
	checkPoints("Mixture", m.Dim(), x, sigma)
	logs, scores := m.at(x, sigma)
	// The responsibilities are normalised by their own sum: log p may be so large that logs − log p is all rounding.
	shares := graph.Exp(graph.Sub(logs, autodiff.StableMax(logs, 1)))
	shares = graph.Div(shares, graph.ReduceAndKeep(shares, graph.ReduceSum, 1))
	return graph.ReduceSum(graph.Mul(graph.InsertAxes(shares, -1), scores), 1)
}

// at returns log wₖ + log pₖ(x) of every component, [batch, K], and the components' scores, [batch, K, d].
func (m Mixture) at(x, sigma *Node) (logs, scores *Node) {
	if m.isAligned() {
		return m.atAligned(x, sigma)
	}
	k := len(m.components)
	for i, c := range m.components {
		logp, score := c.at(x, sigma)
		logp = graph.AddScalar(logp, math.Log(m.weights[i]))
		// A sum of columns, each times a row that is 1 in its place: a concatenation has no second derivative on
		// every backend.
		place := make([]float64, k)
		place[i] = 1
		logp = graph.Mul(graph.InsertAxes(logp, -1), constant(x, place, 1, k))
		score = graph.Mul(graph.InsertAxes(score, 1), constant(x, place, 1, k, 1))
		if i == 0 {
			logs, scores = logp, score
		} else {
			logs, scores = graph.Add(logs, logp), graph.Add(scores, score)
		}
	}
	return logs, scores
}

// isAligned tells whether the principal axes of every component are the coordinate axes.
func (m Mixture) isAligned() bool {
	return !slices.ContainsFunc(m.components, func(c Gaussian) bool { return c.cov.axes != nil })
}

// atAligned is at for all components at once, when their axes are the coordinate axes.
func (m Mixture) atAligned(x, sigma *Node) (logs, scores *Node) {
	k, d := len(m.components), m.Dim()
	variances, offsets := make([]float64, 0, k*d), make([]float64, k)
	for i, c := range m.components {
		offsets[i] = math.Log(m.weights[i]) - 0.5*float64(d)*math.Log(2*math.Pi)
		variances = append(variances, c.cov.variances...)
	}
	var inverse, offset *Node
	if sigma == nil {
		inverses := make([]float64, k*d)
		for i, v := range variances {
			inverses[i] = 1 / math.Sqrt(v)
			offsets[i/d] -= 0.5 * math.Log(v)
		}
		inverse, offset = constant(x, inverses, 1, k, d), constant(x, offsets, 1, k)
	} else {
		variance := graph.Add(graph.InsertAxes(graph.Square(sigma), -1, -1), constant(x, variances, 1, k, d))
		inverse = graph.Reciprocal(graph.Sqrt(variance))
		offset = graph.Sub(constant(x, offsets, 1, k), graph.MulScalar(graph.ReduceSum(graph.Log(variance), 2), 0.5))
	}
	unit := graph.Mul(graph.Sub(graph.InsertAxes(x, 1), constant(x, m.means(), 1, k, d)), inverse)
	logs = graph.Sub(offset, graph.MulScalar(graph.ReduceSum(graph.Square(unit), 2), 0.5))
	return logs, graph.Neg(graph.Mul(unit, inverse))
}

// means returns the components' means, [K, d] row-major.
func (m Mixture) means() []float64 {
	var means []float64
	for _, c := range m.components {
		means = append(means, c.mean...)
	}
	return means
}

// Shape returns [d], the shape of one draw.
func (m Mixture) Shape() []int { return []int{m.Dim()} }

// Batch returns n independent draws of rng's dtype, [n, d]: for each a component, by inverting the cumulative weights
// at a uniform draw, and then a draw of it. vars is not used. It panics, as graph functions do, when n is below 1.
func (m Mixture) Batch(_ *mlctx.Context, rng *random.Source, n int) *Node {
	k, d := len(m.components), m.Dim()
	checkBatch("Mixture", d, n)
	u, z := rng.Uniform(n, 1), rng.Normal(n, d)
	// The number of cumulative weights below u; the last of them, 1, is left out so that rounding cannot pass it.
	cumulative, sum := make([]float64, 0, k), 0.0
	for _, w := range m.weights[:k-1] {
		sum += w
		cumulative = append(cumulative, sum)
	}
	if k == 1 {
		return m.components[0].push(z)
	}
	above := graph.GreaterOrEqual(u, constant(u, cumulative, 1, k-1))
	index := graph.ReduceSum(graph.ConvertDType(above, dtypes.Int32), 1)
	if m.isAligned() {
		var stds []float64
		for _, c := range m.components {
			stds = append(stds, roots(c.cov.variances)...)
		}
		at := graph.InsertAxes(index, -1)
		mean := graph.Gather(constant(z, m.means(), k, d), at)
		std := graph.Gather(constant(z, stds, k, d), at)
		return graph.StopGradient(graph.Add(mean, graph.Mul(std, z)))
	}
	x := graph.ZerosLike(z)
	for i, c := range m.components {
		chosen := graph.Equal(index, graph.Scalar(z.Graph(), dtypes.Int32, i))
		x = graph.Add(x, graph.Mul(graph.InsertAxes(graph.ConvertDType(chosen, z.DType()), -1), c.push(z)))
	}
	return graph.StopGradient(x)
}
