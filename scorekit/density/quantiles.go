package density

import (
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
)

// The table of a line's quantiles holds, for cells of a normal draw z, the cubic through the quantile and its slope at
// both ends of the cell. z beyond the last cell, one draw in 10²¹, is moved to its end.
const (
	cells     = 2048
	tableEnds = 9.6 // the table covers −9.6 < z < 9.6
	cell      = 2 * tableEnds / cells
)

// push turns standard normal draws z into draws of l, x = F⁻¹(Φ(z)) with F its distribution function: a smooth map of
// the whole line, unlike F⁻¹ of a uniform draw, and so one that a table represents well, tails included.
func (l line) push(z *Node) *Node {
	table := constant(z, l.table(), cells, 4)
	at := graph.MulScalar(graph.ClipScalar(z, -tableEnds, tableEnds), 1/cell)
	from := graph.ClipScalar(graph.Floor(at), -cells/2, cells/2-1)
	t := graph.InsertAxes(graph.Sub(at, from), -1)
	index := graph.ConvertDType(graph.AddScalar(from, cells/2), dtypes.Int32)
	cubic := graph.Gather(table, graph.InsertAxes(index, -1))
	square := graph.Square(t)
	powers := graph.Concatenate([]*Node{graph.OnesLike(t), t, square, graph.Mul(square, t)}, -1)
	return graph.StopGradient(graph.ReduceSum(graph.Mul(cubic, powers), -1))
}

// table returns the coefficients of 1, t, t² and t³ in every cell, t from 0 to 1 across it (Hermite interpolation).
func (l line) table() []float64 {
	rows := make([]float64, 0, 4*cells)
	x0, s0 := l.quantile(-tableEnds)
	for k := range cells {
		x1, s1 := l.quantile(float64(k+1-cells/2) * cell)
		rise, m0, m1 := x1-x0, s0*cell, s1*cell
		rows = append(rows, x0, m0, 3*rise-2*m0-m1, m0+m1-2*rise)
		x0, s0 = x1, s1
	}
	return rows
}
