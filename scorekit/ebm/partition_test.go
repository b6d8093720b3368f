package ebm_test

import (
	"context"
	"encoding/json"
	"math"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/ebm"
)

// onALine makes an energy of a function of one number.
func onALine(f func(x *ebm.Node) *ebm.Node) scorekit.Energy {
	return testvalues.Ignoring(func(x *ebm.Node) *ebm.Node { return f(graph.Reshape(x, -1)) })
}

// listed is a listed partition function. The family of the energy is told by which of its numbers are there.
type listed struct {
	ID                            string
	Lambda, Mu, Theta, A, B, P, S float64
	C                             numbers
	LogZ                          numbers `json:"log_Z"`
	DLogZ                         float64 `json:"dlogZ"`
}

// numbers is a number or several.
type numbers []float64

func (n *numbers) UnmarshalJSON(text []byte) error {
	if text[0] == '[' {
		return json.Unmarshal(text, (*[]float64)(n))
	}
	*n = make([]float64, 1)
	return json.Unmarshal(text, &(*n)[0])
}

// energy returns the energy with the constant C[i], and a box outside of which e^{−E} is below e^{−37} of the most.
func (c listed) energy(i int) (scorekit.Energy, ebm.Box) {
	box := func(low, high float64) ebm.Box { return ebm.Box{Low: []float64{low}, High: []float64{high}} }
	power := func(x *ebm.Node, factor, p float64) *ebm.Node {
		return graph.MulScalar(graph.Pow(graph.Abs(x), graph.Scalar(x.Graph(), x.DType(), p)), factor)
	}
	switch {
	case c.Lambda != 0:
		half := 9 / math.Sqrt(c.Lambda)
		return onALine(func(x *ebm.Node) *ebm.Node {
			return graph.AddScalar(graph.MulScalar(graph.Square(graph.AddScalar(x, -c.Mu)), c.Lambda/2), c.C[i])
		}), box(c.Mu-half, c.Mu+half)
	case c.Theta != 0:
		half := math.Pow(160/c.Theta, 0.25)
		return onALine(func(x *ebm.Node) *ebm.Node { return power(x, c.Theta/4, 4) }), box(-half, half)
	case c.A != 0:
		return onALine(func(x *ebm.Node) *ebm.Node {
			return graph.Add(power(x, c.A, 4), power(x, c.B, 2))
		}), box(-5, 5)
	case c.P != 0:
		half := c.S * math.Pow(40, 1/c.P)
		return onALine(func(x *ebm.Node) *ebm.Node { return power(x, math.Pow(c.S, -c.P), c.P) }), box(-half, half)
	default:
		return onALine(func(x *ebm.Node) *ebm.Node {
			x = graph.DivScalar(x, c.S)
			return graph.Add(x, graph.MulScalar(graph.Softplus(graph.Neg(x)), 2))
		}), box(-40*c.S, 40*c.S)
	}
}

// moved is the case with the number that it has a derivative for changed by h.
func (c listed) moved(h float64) listed {
	switch {
	case c.Lambda != 0:
		c.Lambda += h
	case c.Theta != 0:
		c.Theta += h
	default:
		c.S += h
	}
	return c
}

// One-dimensional partition functions known in closed form, to 10⁻⁸ in log Z: Gaussians, whose constants of ±1000 make
// e^{−E} overflow and vanish, powers of x, double wells, and energies with a kink. Derivatives by central differences of
// two widths, extrapolated; on pure Go alone, as they say nothing more of the backend.
func TestPartitionReference(t *testing.T) {
	var cases []listed
	testvalues.Read(t, "partition.json", &cases)
	logZ := func(t *testing.T, b backends.Backend, c listed, i int) float64 {
		t.Helper()
		energy, box := c.energy(i)
		box.Tolerance = 1e-11
		p, err := ebm.LogPartition(context.Background(), b, energy, box)
		if err != nil {
			t.Fatal(err)
		}
		if p.Outer > 1e-9 {
			t.Errorf("a share of %v of the mass is in the outer sixteenth of the box", p.Outer)
		}
		return p.LogZ
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for _, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				for i, want := range c.LogZ {
					testvalues.NearOne(t, "log Z", []float64{logZ(t, b, c, i)}, []float64{want}, 1e-9)
				}
				if c.DLogZ == 0 || b != testbackend.Go(t) {
					return
				}
				slope := func(h float64) float64 {
					return (logZ(t, b, c.moved(h), 0) - logZ(t, b, c.moved(-h), 0)) / (2 * h)
				}
				h := 0.01 * max(c.Lambda, c.Theta, c.S)
				d := [3]float64{slope(h), slope(h / 2), slope(h / 4)}
				once := [2]float64{(4*d[1] - d[0]) / 3, (4*d[2] - d[1]) / 3}
				testvalues.NearNumber(t, "d log Z", (16*once[1]-once[0])/15, c.DLogZ, 1e-8)
			})
		}
	})
}

// In the plane: the energy of a density plus 3 has log Z = log Z₀ − 3, whatever the box cuts off being too little to see; and
// the log-densities are those of the density. In float32 as far as that goes.
func TestPartitionPlane(t *testing.T) {
	g, err := density.NewGaussian([]float64{1, -2}, [][]float64{{1, 0.6}, {0.6, 0.5}})
	if err != nil {
		t.Fatal(err)
	}
	shifted := scorekit.Energy(testvalues.Ignoring(func(x *ebm.Node) *ebm.Node { return graph.AddScalar(g.Energy(x), 3) }))
	points := [][]float64{{1, -2}, {0, 0}, {2.5, -1}}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		want := testvalues.Run(t, b, func(gr *graph.Graph) []*ebm.Node {
			x := graph.Const(gr, points)
			return []*ebm.Node{g.LogDensity(x), g.Energy(x)}
		})
		p, err := ebm.LogPartition(context.Background(), b, shifted, ebm.Box{Low: []float64{-8, -9}, High: []float64{9, 4}})
		if err != nil {
			t.Fatal(err)
		}
		if log := -want[0][0] - want[1][0] - 3; math.Abs(p.LogZ-log) > 1e-9 || p.Outer > 1e-9 || p.Points < 128*128+256*256 {
			t.Errorf("partition %+v, want log Z = %v", p, log)
		}
		got, err := ebm.LogDensity(t.Context(), b, shifted, points, p.LogZ)
		if err != nil {
			t.Fatal(err)
		}
		testvalues.Near(t, "log p", got, want[0], 1e-9)

		half, err := ebm.LogPartition(context.Background(), b, g, ebm.Box{Low: []float64{-8, -9}, High: []float64{1, 4}})
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(half.LogZ-(p.LogZ+3-math.Log(2))) > 1e-8 || half.Outer < 0.1 {
			t.Errorf("half of the mass: %+v, want log Z = %v and the outer cells to have a good part of it", half, p.LogZ+3-math.Log(2))
		}
	})
}
