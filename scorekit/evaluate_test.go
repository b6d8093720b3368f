package scorekit_test

import (
	"math"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/likelihood"
	"github.com/scorekit/lab/scorekit/sde"
)

// bells is the exact score of N(m_c, 1) with noise of level σ, −(x − m_c)/(1 + σ²): m is 1 and −2 for the two classes, and 0
// where none is told. With the guidance w it is that of N((1+w) m_c, 1).
type bells struct{ asked *[]int }

func (bells) NumClasses() int { return 2 }

func (m bells) Score(vars *mlctx.Context, x, sigma *Node) *Node {
	return m.ScoreGiven(vars, x, sigma, graph.AddScalar(graph.ZerosLike(graph.ConvertDType(sigma, dtypes.Int32)), scorekit.NoClass))
}

func (m bells) ScoreGiven(_ *mlctx.Context, x, sigma, classes *Node) *Node {
	n := x.Shape().Dimensions[0]
	if m.asked != nil {
		*m.asked = append(*m.asked, n)
	}
	means := graph.Dot(graph.OneHot(graph.AddScalar(classes, 1), 3, x.DType()), graph.ConvertDType(graph.Const(x.Graph(), [][]float64{{0}, {1}, {-2}}), x.DType()))
	v := graph.AddScalar(graph.Square(graph.Reshape(sigma, n, 1)), 1)
	return graph.Neg(graph.Div(graph.Sub(x, means), v))
}

// Many points are worked through in blocks of one size: each has its own level and its own class all the same.
func TestEvaluateInBlocks(t *testing.T) {
	const n = 2*4096 + 2 // three blocks of 2,732 points, the last with two to spare
	points, levels, classes := make([]float64, n), make([]float64, n), make([]int, n)
	for i := range n {
		points[i], levels[i], classes[i] = float64(i%97)/10, 1+float64(i%13), i%3-1
	}
	x := tensors.FromFlatDataAndDimensions(points, n, 1)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		var asked []int
		s, err := scorekit.Evaluate(background, b, scorekit.Given{Model: bells{&asked}, Classes: classes, Guidance: 1}, x, levels...)
		if err != nil {
			t.Fatal(err)
		}
		if len(asked) != 1 || asked[0] != 2*2732 {
			t.Errorf("asked for the scores of %v points", asked)
		}
		rows, err := scorekit.Rows(s)
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) != n {
			t.Fatalf("%d scores", len(rows))
		}
		worst := 0.0
		for i, r := range rows {
			mean := []float64{0, 1, -2}[classes[i]+1]
			worst = max(worst, math.Abs(r[0]+(points[i]-2*mean)/(1+levels[i]*levels[i])))
		}
		within(t, "the largest error", worst, 0, 1e-12)
	})
}

// log N(x; (1+w) m_c, 1) by the probability-flow ODE: the divergence goes through the doubled batch. At the end of its time
// the process is N(a(1+w) m_c, 1) and not the N(0, 1) that is taken for it.
func TestLikelihoodOfAGivenClass(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		points := [][]float64{{0.5}, {-3}}
		r, err := likelihood.LogDensity(background, b, scorekit.Given{Model: bells{}, Classes: []int{0, 1}, Guidance: 0.5}, points, likelihood.Settings{SDE: sde.VP{}})
		if err != nil {
			t.Fatal(err)
		}
		for i, mean := range []float64{1.5, -3} {
			z := points[i][0] - mean + sde.VP{}.Marginal(1).Mean*mean
			within(t, "log p", r.LogDensity[i], -z*z/2-math.Log(2*math.Pi)/2, 1e-3)
		}
	})
}
