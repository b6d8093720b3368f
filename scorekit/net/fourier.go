package net

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/gomlx/gomlx/pkg/core/graph"
)

// Fourier gives a network waves of the point as its input in place of the point itself,
//
//	γ(x) = [sin 2πBx, cos 2πBx],  B [Count, d] with entries N(0, Scale²)
//
// (Tancik et al. 2020, the Gaussian mapping), [batch, d] → [batch, 2·Count]. A network of few layers fits a function of x slowly
// where it changes fast; of γ(x) it fits changes over 1/(2π·Scale) as readily as any. Too large a Scale makes it
// follow the noise between examples. Where Count is small for d, directions are missing.
//
// γ repeats itself: beyond the data, further out than a few 1/(2π·Scale), nothing of a network of γ(x) grows or pulls
// back. For sampling take a noise-conditional network with a DataStd, whose first term does.
//
// B is not trained. It is computed from Seed, so that the settings alone tell it: the same Seed, Count and d always give
// the same B. The zero value turns the features off.
type Fourier struct {
	Count int     `json:"count"`          // rows of B; each gives a sine and a cosine
	Scale float64 `json:"scale"`          // standard deviation of B's entries, in waves for one unit of x; positive
	Seed  int64   `json:"seed,omitempty"` // of B
}

func (f Fourier) validate() error {
	if f == (Fourier{}) {
		return nil
	}
	if f.Count < 1 {
		return fmt.Errorf("Fourier features: count %d: must be at least 1", f.Count)
	}
	if !(f.Scale > 0) || math.IsInf(f.Scale, 0) {
		return fmt.Errorf("Fourier features: scale %v: must be positive and finite", f.Scale)
	}
	return nil
}

// of adds γ(x) to the graph, or returns x itself when the features are off.
func (f Fourier) of(x *Node) *Node {
	if f.Count == 0 {
		return x
	}
	turns := graph.ConstAsDType(x.Graph(), x.DType(), f.matrix(x.Shape().Dimensions[1]))
	angles := graph.Dot(x, graph.Transpose(graph.MulScalar(turns, 2*math.Pi), 0, 1))
	return graph.Concatenate([]*Node{graph.Sin(angles), graph.Cos(angles)}, 1)
}

// matrix returns B, drawn row by row. The generator and the formula are both fixed (PCG; Box and Muller 1958), since a
// trained network is worth nothing with another B.
func (f Fourier) matrix(d int) [][]float64 {
	source := rand.NewPCG(uint64(f.Seed), 0)
	uniform := func() float64 { return (float64(source.Uint64()>>11) + 0.5) * 0x1p-53 } // inside (0, 1)
	b := make([][]float64, f.Count)
	for i := range b {
		b[i] = make([]float64, d)
		for j := range b[i] {
			radius := math.Sqrt(-2 * math.Log(uniform()))
			b[i][j] = f.Scale * radius * math.Cos(2*math.Pi*uniform())
		}
	}
	return b
}
