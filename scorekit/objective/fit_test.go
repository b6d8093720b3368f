package objective_test

import (
	"context"
	"math"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/shapes"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/objective"
)

// trainedAffine is the score Ax + b with trained A and b that start at 0.
func trainedAffine(vars *mlctx.Context, x, _ *objective.Node) *objective.Node {
	g, d := x.Graph(), x.Shape().Dimensions[1]
	zero := vars.WithInitializer(func(g *graph.Graph, shape shapes.Shape) *objective.Node { return graph.Zeros(g, shape) })
	A := zero.VariableWithShape("A", shapes.Make(x.DType(), d, d)).ValueGraph(g)
	b := zero.VariableWithShape("b", shapes.Make(x.DType(), 1, d)).ValueGraph(g)
	return affine([]*objective.Node{A, graph.Reshape(b, d)})(nil, x, nil)
}

// Training Ax + b on N(μ, Σ) without noise finds A = −Σ⁻¹ and b = Σ⁻¹μ, here with Σᵢⱼ = 0.5^|i−j|. Where the mean
// gradient over N examples is ḡ, the weights that minimise the loss over them are off by ḡ(E x̃x̃ᵀ)⁻¹ with x̃ = (x, 1),
// since E[vvᵀ] = I makes that the Hessian for each row of (A, b). By that the standard deviation of one example's share,
// for the entry of A and of b where it is largest, was found from draws of the gradient at the optimum; it is listed for
// each objective. The last 1,000 steps see N = 512,000. Averaging with a decaying rate weighs them unequally, as if
// they were fewer, and the worst of up to 110 entries is looked at, so that 10 standard errors are allowed: 2 to 5 % of
// the largest entry of A. The worst seen was 5.
func TestFitFindsTheScoreOfAGaussian(t *testing.T) {
	root := math.Sqrt(512_000)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for _, test := range []struct {
			objective  scorekit.Objective
			d          int
			stdA, stdB float64
		}{
			{objective.Implicit{}, 2, 1.92, 3.31},
			{objective.SlicedVR{Projections: 1}, 2, 2.03, 3.87},
			{objective.Sliced{Projections: 1}, 10, 5.67, 18.45},
		} {
			mean, cov, precision := correlated(test.d)
			p, err := density.NewGaussian(mean, cov)
			if err != nil {
				t.Fatal(err)
			}
			f, err := scorekit.Fit(context.Background(), b, scorekit.Score(trainedAffine), test.objective, p,
				scorekit.WithSteps(1500), scorekit.WithBatch(512), scorekit.WithSeed(3),
				scorekit.WithOptimizer(scorekit.Adam{Rate: scorekit.Rate{Peak: 0.02, Cosine: true}}))
			if err != nil {
				t.Fatal(err)
			}
			gotA, gotB := fittedRows(t, f, "A"), fittedRows(t, f, "b")[0]
			for i := range test.d {
				wantB := 0.0
				for j := range test.d {
					wantB += precision[i][j] * mean[j]
					if off := gotA[i][j] + precision[i][j]; !(math.Abs(off) <= 10*test.stdA/root) {
						t.Errorf("%T in %d dimensions: A[%d][%d] = %v, want %v", test.objective, test.d, i, j, gotA[i][j], -precision[i][j])
					}
				}
				if off := gotB[i] - wantB; !(math.Abs(off) <= 10*test.stdB/root) {
					t.Errorf("%T in %d dimensions: b[%d] = %v, want %v", test.objective, test.d, i, gotB[i], wantB)
				}
			}
		}
	})
}

// correlated returns a mean, the covariance 0.5^|i−j| and its inverse, which has the diagonal 4/3, 5/3, …, 5/3, 4/3 and
// −2/3 beside it.
func correlated(d int) (mean []float64, cov, precision [][]float64) {
	for i := range d {
		mean = append(mean, math.Cos(float64(3*i)))
		cov, precision = append(cov, make([]float64, d)), append(precision, make([]float64, d))
		for j := range d {
			cov[i][j] = math.Pow(0.5, math.Abs(float64(i-j)))
		}
		precision[i][i] = 5.0 / 3
		if i == 0 || i == d-1 {
			precision[i][i] = 4.0 / 3
		}
		if i > 0 {
			precision[i][i-1], precision[i-1][i] = -2.0/3, -2.0/3
		}
	}
	return mean, cov, precision
}

func fittedRows(t *testing.T, f *scorekit.Fitted, name string) [][]float64 {
	t.Helper()
	rows, err := scorekit.Rows(f.Vars().GetVariableByScopeAndName("/", name).MustValue())
	if err != nil {
		t.Fatal(err)
	}
	return rows
}
