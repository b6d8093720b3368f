package density

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit/random"
)

// Rosenbrock is the density of Rosenbrock's function, a narrow valley along x₂ = x₁² (Rosenbrock 1960):
//
//	E(x) = (1/T) Σᵢ ( (a−xᵢ)² + b(xᵢ₊₁−xᵢ²)² ),   i = 1 … d−1
//	−∂E/∂xᵢ = (2/T) ( (a−xᵢ) + 2b xᵢ(xᵢ₊₁−xᵢ²) )  for i < d,  less (2b/T)(xᵢ−xᵢ₋₁²)  for i > 1
//
// In two dimensions it is x₁ ~ N(a, T/2), x₂ | x₁ ~ N(x₁², T/2b): normalised, p = e^{−E} √b/(πT), and drawn exactly. In
// more, xᵢ is tied to both of its neighbours and neither is known in closed form. Make one with [NewRosenbrock].
type Rosenbrock struct {
	d                 int
	a, b, temperature float64
}

var _ Density = Rosenbrock{}

// NewRosenbrock returns the density in d ≥ 2 dimensions. Rosenbrock's function has a = 1 and b = 100; a large
// temperature T widens its valley. a must be finite, b and T positive.
func NewRosenbrock(d int, a, b, temperature float64) (Rosenbrock, error) {
	if err := checkAll("Rosenbrock", checkDim(d, 2), checkOneFinite("a", a), checkOnePositive("b", b), checkOnePositive("temperature", temperature)); err != nil {
		return Rosenbrock{}, err
	}
	return Rosenbrock{d, a, b, temperature}, nil
}

// Dim returns d.
func (r Rosenbrock) Dim() int { return r.d }

// Validate returns an error for a zero value, which is not a distribution.
func (r Rosenbrock) Validate() error { return validate("Rosenbrock", r.d) }

// Energy returns E(x): [batch, d] → [batch]. It panics, as graph functions do, when x has another shape.
func (r Rosenbrock) Energy(x *Node) *Node {
	checkPoints("Rosenbrock", r.d, x, nil)
	away, bend, _ := r.at(x)
	terms := graph.Add(graph.Square(away), graph.MulScalar(graph.Square(bend), r.b))
	return graph.DivScalar(graph.ReduceSum(terms, 1), r.temperature)
}

// LogDensity returns log p(x): [batch, 2] → [batch]. It panics, as graph functions do, when x has another shape and
// when d is not 2: the normalising constant is not known.
func (r Rosenbrock) LogDensity(x *Node) *Node {
	energy := r.Energy(x)
	if r.d != 2 {
		panic(fmt.Errorf("density: Rosenbrock: the normalising constant in %d dimensions is not known, only in 2: use Energy", r.d))
	}
	return graph.Neg(graph.AddScalar(energy, math.Log(math.Pi*r.temperature)-0.5*math.Log(r.b)))
}

// Score returns ∇ log p(x): [batch, d] → [batch, d]. vars is not used. It panics, as graph functions do, when x has
// another shape or sigma is not nil.
func (r Rosenbrock) Score(_ *mlctx.Context, x, sigma *Node) *Node {
	checkClean("Rosenbrock", r.d, x, sigma)
	away, bend, head := r.at(x)
	bend = graph.MulScalar(bend, 2*r.b/r.temperature)
	first := graph.Add(graph.MulScalar(away, 2/r.temperature), graph.MulScalar(graph.Mul(head, bend), 2))
	edge := graph.ZerosLike(coordinate(x, 0))
	return graph.Sub(graph.Concatenate([]*Node{first, edge}, 1), graph.Concatenate([]*Node{edge, bend}, 1))
}

// at returns a−xᵢ, xᵢ₊₁−xᵢ² and xᵢ for i < d, [batch, d−1] each.
func (r Rosenbrock) at(x *Node) (away, bend, head *Node) {
	head = graph.Slice(x, graph.AxisRange(), graph.AxisRangeFromStart(r.d-1))
	tail := graph.Slice(x, graph.AxisRange(), graph.AxisRangeToEnd(1))
	return graph.AddScalar(graph.Neg(head), r.a), graph.Sub(tail, graph.Square(head)), head
}

// Shape returns [d], the shape of one draw.
func (r Rosenbrock) Shape() []int { return []int{r.d} }

// Batch returns n independent draws of rng's dtype: [n, 2]. vars is not used. It panics, as graph functions do, when n
// is below 1 and when d is not 2: there are no exact draws.
func (r Rosenbrock) Batch(_ *mlctx.Context, rng *random.Source, n int) *Node {
	checkBatch("Rosenbrock", r.d, n)
	if r.d != 2 {
		panic(fmt.Errorf("density: Rosenbrock: there are no exact draws in %d dimensions, only in 2: sample from its score", r.d))
	}
	z := rng.Normal(n, 2)
	x := graph.AddScalar(graph.MulScalar(coordinate(z, 0), math.Sqrt(r.temperature/2)), r.a)
	y := graph.Add(graph.Square(x), graph.MulScalar(coordinate(z, 1), math.Sqrt(r.temperature/(2*r.b))))
	return graph.StopGradient(graph.Concatenate([]*Node{x, y}, 1))
}
