package autodiff_test

import (
	"math"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit/autodiff"
	"github.com/scorekit/lab/scorekit/random"
)

// reference holds estimates of tr A from listed probes, and the variances of one probe, computed in closed form with 60
// digits.
type reference struct {
	Cases []struct {
		ID     string
		Inputs struct {
			A          [][]float64
			Rademacher [][]float64 `json:"v_rademacher"`
			Gaussian   [][]float64 `json:"v_gaussian"`
		}
		Expected struct {
			Trace          float64
			Rademacher     []float64 `json:"vAv_rademacher"`
			Gaussian       []float64 `json:"vAv_gaussian"`
			MeanRademacher float64   `json:"mean_rademacher"`
			MeanGaussian   float64   `json:"mean_gaussian"`
			VarRademacher  float64   `json:"var_rademacher"`
			VarGaussian    float64   `json:"var_gaussian"`
			VarSphere      float64   `json:"var_sphere"`
		}
		Tolerance struct{ Rtol, Atol float64 }
	}
}

func load(t *testing.T) reference {
	t.Helper()
	var r reference
	testvalues.Read(t, "hutchinson.json", &r)
	if len(r.Cases) != 4 {
		t.Fatalf("%d cases, want 4", len(r.Cases))
	}
	return r
}

// TestHutchinsonListed compares the estimates from listed probes with the recorded ones, and the exact trace. The field
// is s(x) = Ax.
func TestHutchinsonListed(t *testing.T) {
	r := load(t)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		exec, err := graph.NewExec(b, func(g *graph.Graph) []*graph.Node {
			var out []*graph.Node
			for _, c := range r.Cases {
				x := graph.Zeros(g, graph.Const(g, c.Inputs.A[:1]).Shape())
				s := graph.Dot(x, graph.Transpose(graph.Const(g, c.Inputs.A), 0, 1))
				one, two := graph.Const(g, c.Inputs.Rademacher), graph.Const(g, c.Inputs.Gaussian)
				out = append(out,
					autodiff.Divergence(s, x),
					autodiff.HutchinsonProbes(random.Listed(g, one), s, x, 4, autodiff.Rademacher),
					autodiff.Hutchinson(random.Listed(g, one), s, x, 4, autodiff.Rademacher),
					autodiff.HutchinsonProbes(random.Listed(g, two), s, x, 4, autodiff.Gaussian),
					autodiff.Hutchinson(random.Listed(g, two), s, x, 4, autodiff.Gaussian))
			}
			return out
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err := exec.Exec()
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range r.Cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				e := c.Expected
				for j, want := range [][]float64{{e.Trace}, e.Rademacher, {e.MeanRademacher}, e.Gaussian, {e.MeanGaussian}} {
					values := tensors.MustCopyFlatData[float64](got[5*i+j])
					for k := range want {
						if d := math.Abs(values[k] - want[k]); !(d <= c.Tolerance.Atol+c.Tolerance.Rtol*math.Abs(want[k])) {
							t.Errorf("output %d[%d] = %.15g, recorded %.15g", j, k, values[k], want[k])
						}
					}
				}
			})
		}
	})
}

// TestProbeVariance draws many probes for the recorded matrices and compares mean and variance of the estimates with the
// trace and the closed forms. n probes know the mean to √(σ²/n) and the variance to √((m₄ − σ⁴)/n), with the fourth
// moment m₄ taken from the draws: five standard errors each (24 comparisons a backend: one false alarm in 70,000).
func TestProbeVariance(t *testing.T) {
	const n = 20_000
	r := load(t)
	kinds := []autodiff.Probe{autodiff.Rademacher, autodiff.Gaussian, autodiff.Sphere}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		// Every row of the batch has its own probes, so a large batch takes the place of many probes.
		exec, err := graph.NewExec(b, func(state *graph.Node) []*graph.Node {
			var out []*graph.Node
			rng := random.New(state, dtypes.Float64, 1)
			for _, c := range r.Cases {
				a := graph.Const(state.Graph(), c.Inputs.A)
				x := graph.BroadcastToDims(graph.Const(state.Graph(), 0.0), n/2, len(c.Inputs.A))
				s := graph.Dot(x, graph.Transpose(a, 0, 1))
				for _, kind := range kinds {
					out = append(out, autodiff.HutchinsonProbes(rng, s, x, 2, kind))
				}
			}
			return out
		})
		if err != nil {
			t.Fatal(err)
		}
		seed, err := random.Seed(7)
		if err != nil {
			t.Fatal(err)
		}
		got, err := exec.Exec(seed)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range r.Cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				for j, want := range []float64{c.Expected.VarRademacher, c.Expected.VarGaussian, c.Expected.VarSphere} {
					values := tensors.MustCopyFlatData[float64](got[len(kinds)*i+j])
					mean, variance, fourth := moments(values)
					scale := math.Abs(c.Expected.Trace)
					if d := math.Abs(mean - c.Expected.Trace); !(d <= 5*math.Sqrt(want/n)+1e-12*scale) {
						t.Errorf("%v: mean %g, trace %g, standard error %g", kinds[j], mean, c.Expected.Trace, math.Sqrt(want/n))
					}
					errorOfVariance := math.Sqrt(math.Max(0, fourth-variance*variance) / n)
					if d := math.Abs(variance - want); !(d <= 5*errorOfVariance+1e-12*scale) {
						t.Errorf("%v: variance %g, formula %g, standard error %g", kinds[j], variance, want, errorOfVariance)
					}
				}
			})
		}
	})
}

// moments returns the mean and the second and fourth central moments.
func moments(values []float64) (mean, variance, fourth float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	for _, v := range values {
		d := (v - mean) * (v - mean)
		variance += d / n
		fourth += d * d / n
	}
	return mean, variance, fourth
}
