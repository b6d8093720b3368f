package objective_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

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

// Training Ax + b on data from N(μ, Σ) finds A = −P and b = Pμ, with P = Σ⁻¹ without noise and P = (Σ + σ²I)⁻¹ by
// Denoising; here Σᵢⱼ = 0.5^|i−j|, whose condition number is near 9. The loss is quadratic in A and b, and the minimiser
// over N examples has this covariance in row i of A, found from M⁻¹ Cov(g) M⁻¹ with g the gradient of an example's loss
// at the optimum and M = E x̃x̃ᵀ, x̃ = (x, 1) (for Gaussian x, z and directions of ±1, by Isserlis' theorem):
//
//	Implicit   (PᵢᵢP + PᵢPᵢᵀ)/N         SlicedVR   (PᵢᵢP + P²)/N
//	Sliced     (tr P · P + P²)/N        Denoising  (1/σ² − Pᵢᵢ) P/N
//
// and bᵢ has the variance of Aᵢμ and besides, of an example, that of the gradient for b: Pᵢᵢ, Pᵢᵢ, tr P, 1/σ² − Pᵢᵢ.
// Averaged, plain steps of constant rate have it too (Polyak and Juditsky 1992), and a moving average with decay δ weighs
// as (1+δ)/(1−δ) batches. Steps whose errors are still correlated over its reach, and the noise in M of a batch, change it
// by a fifth at most. The worst of up to 2,550 entries is looked at: 6 of these standard errors are allowed. For the
// entries of A in 50 dimensions they are 3, 13 and 3 % of the largest for Implicit, Sliced and Denoising; the worst seen
// was 4.0 of them.
//
// To save time each runs on one backend where both would do: in 50 dimensions XLA,
// below pure Go; the first runs on both.
func TestLinearScoreOfAGaussian(t *testing.T) {
	const batch, decay = 512, 0.99
	const n = batch * (1 + decay) / (1 - decay)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		_, name, _ := strings.Cut(t.Name(), "/")
		for _, test := range []struct {
			objective scorekit.Objective
			d         int
			rate      float64
			steps     int
			backends  string
		}{
			{objective.Implicit{}, 2, 0.2, 800, "go xla"},
			{objective.Sliced{Projections: 1}, 2, 0.1, 800, "go"},
			{objective.Denoising{Sigma: 0.5}, 2, 0.2, 800, "go"},
			{objective.Implicit{}, 10, 0.2, 800, "go"},
			{objective.Sliced{Projections: 1}, 10, 0.1, 1000, "go"},
			{objective.SlicedVR{Projections: 1}, 10, 0.2, 800, "go"},
			{objective.Denoising{Sigma: 0.5}, 10, 0.2, 800, "go"},
			{objective.Implicit{}, 50, 0.2, 800, "xla"},
			{objective.Sliced{Projections: 1}, 50, 0.05, 1000, "xla"},
			{objective.Denoising{Sigma: 0.5}, 50, 0.2, 800, "xla"},
		} {
			if !strings.Contains(test.backends, name) {
				continue
			}
			t.Run(fmt.Sprintf("%T in %d dimensions", test.objective, test.d), func(t *testing.T) {
				mean, cov := correlated(test.d)
				p, err := density.NewGaussian(mean, cov)
				if err != nil {
					t.Fatal(err)
				}
				f, err := scorekit.Fit(context.Background(), b, scorekit.Score(trainedAffine), test.objective, p,
					scorekit.WithSteps(test.steps), scorekit.WithBatch(batch), scorekit.WithEMA(decay), scorekit.WithSeed(3), scorekit.WithUnroll(1),
					scorekit.WithOptimizer(scorekit.SGD{Rate: scorekit.Rate{Peak: test.rate}}))
				if err != nil {
					t.Fatal(err)
				}
				gotA, gotB := fittedRows(t, f, "A"), fittedRows(t, f, "b")[0]
				P, rowCov, varB := linearTheory(t, test.objective, cov)
				worst := 0.0
				check := func(what string, got, want, variance float64) {
					off := math.Abs(got-want) / math.Sqrt(variance/n)
					worst = max(worst, off)
					if !(off <= 6) {
						t.Errorf("%s = %v, want %v: off by %.1f standard errors", what, got, want, off)
					}
				}
				for i := range test.d {
					V, wantB, varianceB := rowCov(i), 0.0, varB(i)
					for j := range test.d {
						check(fmt.Sprintf("A[%d][%d]", i, j), gotA[i][j], -P.At(i, j), V.At(j, j))
						wantB += P.At(i, j) * mean[j]
						for k := range test.d {
							varianceB += mean[j] * V.At(j, k) * mean[k]
						}
					}
					check(fmt.Sprintf("b[%d]", i), gotB[i], wantB, varianceB)
				}
				t.Logf("worst entry off by %.1f standard errors, of A[0][0] one is %.2g", worst, math.Sqrt(rowCov(0).At(0, 0)/n))
			})
		}
	})
}

// linearTheory returns P, and of one example's share in the minimiser the covariance of row i of A and the variance of
// the gradient for bᵢ: see TestLinearScoreOfAGaussian.
func linearTheory(t *testing.T, o scorekit.Objective, cov [][]float64) (P *mat.Dense, rowCov func(i int) *mat.Dense, varB func(i int) float64) {
	t.Helper()
	d := len(cov)
	S := mat.NewDense(d, d, nil)
	denoising, noised := o.(objective.Denoising)
	for i := range cov {
		S.SetRow(i, cov[i])
		if noised {
			S.Set(i, i, cov[i][i]+denoising.Sigma*denoising.Sigma)
		}
	}
	P = new(mat.Dense)
	if err := P.Inverse(S); err != nil {
		t.Fatal(err)
	}
	var P2 mat.Dense
	P2.Mul(P, P)
	varB = func(i int) float64 {
		switch o.(type) {
		case objective.Sliced:
			return mat.Trace(P)
		case objective.Denoising:
			return 1/(denoising.Sigma*denoising.Sigma) - P.At(i, i)
		}
		return P.At(i, i)
	}
	rowCov = func(i int) *mat.Dense {
		V := new(mat.Dense)
		V.Scale(varB(i), P)
		switch o.(type) {
		case objective.Implicit:
			var outer mat.Dense
			outer.Outer(1, P.ColView(i), P.ColView(i))
			V.Add(V, &outer)
		case objective.Sliced, objective.SlicedVR:
			V.Add(V, &P2)
		}
		return V
	}
	return P, rowCov, varB
}

// correlated returns a mean of length 1 or near it and the covariance 0.5^|i−j|.
func correlated(d int) (mean []float64, cov [][]float64) {
	for i := range d {
		mean = append(mean, math.Cos(float64(3*i))*math.Sqrt(2/float64(d)))
		cov = append(cov, make([]float64, d))
		for j := range d {
			cov[i][j] = math.Pow(0.5, math.Abs(float64(i-j)))
		}
	}
	return mean, cov
}

func fittedRows(t *testing.T, f *scorekit.Fitted, name string) [][]float64 {
	t.Helper()
	rows, err := scorekit.Rows(f.Vars().GetVariableByScopeAndName("/", name).MustValue())
	if err != nil {
		t.Fatal(err)
	}
	return rows
}
