package data

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit/random"
)

// Checkerboard is uniform on the dark squares of a board of m×m squares that is L wide and centred on the origin.
// Square (i, j), counted from the lower left corner, is dark when i+j is even; there are D = ⌈m²/2⌉ of them:
//
//	p(x) = m² / (D L²) on a dark square, 0 elsewhere.
//
// For even m, E x = 0 and E x₁² = L²/12. Its score is 0 inside the squares and does not exist at their edges: only a
// noised one can be learned. The zero value is the board of 4×4 squares, 8 wide.
type Checkerboard struct {
	Squares int     // m: 0 means 4
	Width   float64 // L: 0 means 8
}

var _ Toy = Checkerboard{}

func (c Checkerboard) settings() Checkerboard {
	if c.Squares == 0 {
		c.Squares = 4
	}
	c.Width = orDefault(c.Width, 8)
	return c
}

// Validate returns an error that names an impossible setting.
func (c Checkerboard) Validate() error {
	s := c.settings()
	if s.Squares < 1 || s.Squares > 1000 {
		return fmt.Errorf("data: Checkerboard: squares %d: must be from 1 to 1000", s.Squares)
	}
	return checkPositive("Checkerboard", []string{"width"}, s.Width)
}

// corners returns the lower left corners of the dark squares and the side of a square.
func (c Checkerboard) corners() (corners [][]float64, side float64) {
	side = c.Width / float64(c.Squares)
	for i := range c.Squares {
		for j := i % 2; j < c.Squares; j += 2 {
			corners = append(corners, []float64{float64(i)*side - c.Width/2, float64(j)*side - c.Width/2})
		}
	}
	return corners, side
}

// edge is the share of a square's side that draws keep off its edges, about 10⁻⁶ for the usual board, so that rounding
// to float32 cannot carry one over.
func (c Checkerboard) edge() float64 { return float64(c.Squares) * 0x1p-22 }

// Sample returns n independent draws, float32 [n, 2]. The same seed gives the same set. It returns an error when n is
// below 1 or a setting is impossible.
func (c Checkerboard) Sample(n int, seed int64) (Set, error) {
	if err := checkSample("Checkerboard", n, c.Validate()); err != nil {
		return Set{}, err
	}
	corners, side := c.settings().corners()
	edge, rng := c.settings().edge(), generator(seed)
	return draw("checkerboard", n, func() (x, y float64, label int) {
		corner := corners[rng.IntN(len(corners))]
		return corner[0] + side*(edge+(1-2*edge)*rng.Float64()), corner[1] + side*(edge+(1-2*edge)*rng.Float64()), -1
	}), nil
}

// LogDensity returns log p(x), −Inf off the dark squares: [batch, 2] → [batch]. It panics, as graph functions do, when
// x has another shape or a setting is impossible.
func (c Checkerboard) LogDensity(x *Node) *Node {
	if err := c.Validate(); err != nil {
		panic(err)
	}
	if x.Rank() != 2 || x.Shape().Dimensions[1] != 2 || !x.DType().IsFloat() {
		panic(fmt.Errorf("data: Checkerboard: points of shape %s: must be floats [batch, 2]", x.Shape()))
	}
	s := c.settings()
	corners, side := s.corners()
	g, m := x.Graph(), float64(s.Squares)
	square := graph.Floor(graph.DivScalar(graph.AddScalar(x, s.Width/2), side)) // (i, j)
	within := graph.LogicalAnd(
		graph.GreaterOrEqual(square, graph.ScalarZero(g, x.DType())),
		graph.LessThan(square, graph.Scalar(g, x.DType(), m)))
	inside := graph.ReduceLogicalAnd(within, 1)
	half := graph.MulScalar(graph.ReduceSum(square, 1), 0.5)
	dark := graph.LogicalAnd(inside, graph.Equal(half, graph.Floor(half)))
	level := graph.Scalar(g, x.DType(), -math.Log(float64(len(corners)))-2*math.Log(side))
	return graph.Where(dark, graph.BroadcastToShape(level, half.Shape()), graph.BroadcastToShape(graph.Infinity(g, x.DType(), -1), half.Shape()))
}

// Shape returns [2], the shape of one draw.
func (Checkerboard) Shape() []int { return []int{2} }

// Batch adds n fresh draws to the graph, [n, 2]. vars is not used. It panics, as graph functions do, when a setting is
// impossible or n is below 1.
func (c Checkerboard) Batch(_ *mlctx.Context, rng *random.Source, n int) *Node {
	if err := c.Validate(); err != nil {
		panic(err)
	}
	if n < 1 {
		panic(fmt.Errorf("data: Checkerboard: batch of %d: must be at least 1", n))
	}
	corners, side := c.settings().corners()
	table := graph.ConvertDType(graph.Const(rng.Graph(), corners), rng.DType())
	corner := graph.Gather(table, rng.Int(len(corners), n, 1))
	edge := c.settings().edge()
	within := graph.AddScalar(graph.MulScalar(rng.Uniform(n, 2), 1-2*edge), edge)
	return graph.StopGradient(graph.Add(corner, graph.MulScalar(within, side)))
}
