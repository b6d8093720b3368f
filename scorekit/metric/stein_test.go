package metric

import (
	"math"
	"testing"

	"github.com/gomlx/gomlx/backends"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit/density"
)

// The Stein kernel of every pair of points, and both estimates, for normal targets.
func TestSteinReference(t *testing.T) {
	var cases []struct {
		ID, Kernel  string
		Mean        []float64
		Cov, X      [][]float64
		Scale, U, V float64
		Matrix      [][]float64
	}
	testvalues.Read(t, "stein.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for _, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				p, err := density.NewGaussian(c.Mean, c.Cov)
				if err != nil {
					t.Fatal(err)
				}
				kernel := map[string]Kernel{"IMQ": IMQ, "RBF": RBF}[c.Kernel]
				if kernel.String() != c.Kernel {
					t.Fatalf("kernel %q: read as %v", c.Kernel, kernel)
				}
				s, err := KernelStein{Kernel: kernel, Scale: c.Scale}.prepare(t.Context(), b, p, c.X, nil)
				if err != nil {
					t.Fatal(err)
				}
				for i := range c.X {
					row := make([]float64, len(c.X))
					s.pairs(i, 0, len(c.X), row)
					testvalues.Near(t, "row of the Stein kernel", row, c.Matrix[i], 1e-9)
				}
				checkStein(t, s, c.U, c.V)
			})
		}
	})
}

func checkStein(t *testing.T, s stein, u, v float64) {
	t.Helper()
	sums, err := sumPairs(t.Context(), len(s.points), len(s.points), s.pairs, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := s.of(sums)
	testvalues.NearNumber(t, "U", got.U, u, 1e-9)
	testvalues.NearNumber(t, "V", got.V, v, 1e-9)
}

// hyppo's kernel, exp(−‖x−y‖²/(2σ²)), is RBF with c = σ. With equal scores at all points, 0, the Stein kernel is the
// trace of its second derivatives alone; the scores, the trace and the sums over the peer's derivatives are its
// numbers.
func TestSteinOfHyppo(t *testing.T) {
	var cases []struct {
		ID                  string
		Mean                []float64
		Cov, X              [][]float64
		Sigma2, U, V        float64
		Scores, Gram, Trace [][]float64
	}
	testvalues.Read(t, "hyppo_ksd.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for _, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				p, err := density.NewGaussian(c.Mean, c.Cov)
				if err != nil {
					t.Fatal(err)
				}
				s, err := KernelStein{Kernel: RBF, Scale: math.Sqrt(c.Sigma2)}.prepare(t.Context(), b, p, c.X, nil)
				if err != nil {
					t.Fatal(err)
				}
				checkStein(t, s, c.U, c.V)
				flat, ones := s, s
				flat.scores, ones.scores = make([][]float64, len(c.X)), make([][]float64, len(c.X))
				for i := range c.X {
					testvalues.Near(t, "score", s.scores[i], c.Scores[i], 1e-9)
					flat.scores[i], ones.scores[i] = make([]float64, len(c.X[0])), make([]float64, len(c.X[0]))
					ones.scores[i][0] = 1
				}
				for i := range c.X {
					trace, gram := make([]float64, len(c.X)), make([]float64, len(c.X))
					for j := range c.X {
						trace[j] = flat.at(i, j)
						gram[j] = ones.at(i, j) - trace[j]
					}
					testvalues.Near(t, "trace", trace, c.Trace[i], 1e-9)
					testvalues.Near(t, "kernel", gram, c.Gram[i], 1e-9)
				}
			})
		}
	})
}

// For a target N(0, I) and draws from N(δ, I) the scores differ by δ at every point, so that KSD² = ‖δ‖² E k(x, x′), with
// E k = (c²/(c²+2))^(d/2) for RBF. On draws U is within 5 of its standard errors of it.
func TestSteinOfShiftedNormal(t *testing.T) {
	const c = 1.3
	shift := []float64{0.9, -0.4}
	want := (0.81 + 0.16) * c * c / (c*c + 2)
	p, err := density.Isotropic([]float64{0, 0}, 1)
	if err != nil {
		t.Fatal(err)
	}
	x := moved(normal(1, 1000, 2), 1, shift)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got, err := KernelStein{Kernel: RBF, Scale: c}.Squared(t.Context(), b, p, x)
		if err != nil {
			t.Fatal(err)
		}
		if !(math.Abs(got.U-want) <= 5*got.StandardError) || !(got.StandardError < 0.1*want) {
			t.Errorf("U = %v ± %v, want %v to a tenth", got.U, got.StandardError, want)
		}
	})
}
