package sampler_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"gonum.org/v1/gonum/mat"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/sampler"
)

// moments is one case of testdata/moments.json: mean and covariance of k steps of Langevin dynamics on N(Mu, Sigma)
// from X0, and at rest, in closed form.
type moments struct {
	ID, Form       string
	Mu             []float64
	Sigma          [][]float64
	Step           float64
	X0             []float64
	K              []int
	StationaryMean []float64     `json:"stationary_mean"`
	StationaryCov  [][]float64   `json:"stationary_cov"`
	Threshold      float64       // the step from which on it diverges
	MeanAfterK     [][]float64   `json:"mean_after_k"`
	CovAfterK      [][][]float64 `json:"cov_after_k"`
}

// sampler returns the sampler of the case's form, with another step.
func (c moments) sampler(step float64, steps int) scorekit.Sampler {
	if c.Form == "alpha" {
		return sampler.Langevin{Alpha: step, Steps: steps}
	}
	return sampler.Langevin{StepSize: step, Steps: steps}
}

// score is that of the case's target, whatever the level.
func (c moments) score(t *testing.T) scorekit.Score {
	t.Helper()
	p, err := density.NewGaussian(c.Mu, c.Sigma)
	if err != nil {
		t.Fatal(err)
	}
	return testvalues.Ignoring(func(x *sampler.Node) *sampler.Node { return p.Score(nil, x, nil) })
}

// affine is a step on a Gaussian, x' = a + Rx + Nz, found out by steps from 0 and the unit vectors, without noise and
// with the unit vectors as noise. It is what fixes every moment of the chain.
type affine struct {
	a    *mat.VecDense
	r, n *mat.Dense
}

// probes returns the points and the noise that tell a, R and N: from row 0, a; from the next d, the columns of R, and
// then those of N.
func probes(d int) (x, z [][]float64) {
	for i := range 2*d + 1 {
		x, z = append(x, make([]float64, d)), append(z, make([]float64, d))
		switch {
		case i > d:
			z[i][i-d-1] = 1
		case i > 0:
			x[i][i-1] = 1
		}
	}
	return x, z
}

func affineOf(d int, steps []float64) affine {
	m := affine{mat.NewVecDense(d, nil), mat.NewDense(d, d, nil), mat.NewDense(d, d, nil)}
	for j := range d {
		m.a.SetVec(j, steps[j])
		for i := range d {
			m.r.Set(j, i, steps[(1+i)*d+j]-steps[j])
			m.n.Set(j, i, steps[(1+d+i)*d+j]-steps[j])
		}
	}
	return m
}

// advance takes mean and covariance one step on.
func (m affine) advance(mean *mat.VecDense, cov *mat.Dense) {
	var next mat.VecDense
	next.MulVec(m.r, mean)
	mean.AddVec(&next, m.a)
	var moved, noise mat.Dense
	moved.Product(m.r, cov, m.r.T())
	noise.Mul(m.n, m.n.T())
	cov.Add(&moved, &noise)
}

// stepAll adds one step of s on score from the points that tell its affine map.
func stepAll(t *testing.T, g *graph.Graph, d int, s scorekit.Sampler, score scorekit.Score) *sampler.Node {
	t.Helper()
	x, z := probes(d)
	return step(s, score, graph.Const(g, x), graph.Const(g, z), schedule(t, s).Rows[0])
}

// Mean and covariance after k steps, and at rest, follow from one step exactly, and equal the closed form. At the
// listed threshold of the step the steepest direction is turned round without loss: the smallest eigenvalue of R is −1.
func TestMomentsInClosedForm(t *testing.T) {
	var cases []moments
	testvalues.Read(t, "moments.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.Run(t, b, func(g *graph.Graph) []*sampler.Node {
			var out []*sampler.Node
			for _, c := range cases {
				for _, size := range []float64{c.Step, c.Threshold} {
					out = append(out, stepAll(t, g, len(c.Mu), c.sampler(size, 1), c.score(t)))
				}
			}
			return out
		})
		for i, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				d := len(c.Mu)
				m := affineOf(d, got[2*i])
				mean, cov := mat.NewVecDense(d, append([]float64{}, c.X0...)), mat.NewDense(d, d, nil)
				done := 0
				for j, k := range c.K {
					for ; done < k; done++ {
						m.advance(mean, cov)
					}
					testvalues.NearOne(t, fmt.Sprintf("mean after %d steps", k), mean.RawVector().Data, c.MeanAfterK[j], 1e-9)
					testvalues.NearOne(t, fmt.Sprintf("covariance after %d steps", k), cov.RawMatrix().Data, slices.Concat(c.CovAfterK[j]...), 1e-9)
				}
				// The law at rest is the one that a step does not change.
				mean, cov = mat.NewVecDense(d, append([]float64{}, c.StationaryMean...)), mat.NewDense(d, d, slices.Concat(c.StationaryCov...))
				m.advance(mean, cov)
				testvalues.NearOne(t, "mean at rest", mean.RawVector().Data, c.StationaryMean, 1e-9)
				testvalues.NearOne(t, "covariance at rest", cov.RawMatrix().Data, slices.Concat(c.StationaryCov...), 1e-9)

				var eigen mat.EigenSym
				r := affineOf(d, got[2*i+1]).r
				symmetric := mat.NewSymDense(d, nil)
				for j := range d {
					for k := range j + 1 {
						symmetric.SetSym(j, k, (r.At(j, k)+r.At(k, j))/2)
					}
				}
				if !eigen.Factorize(symmetric, false) {
					t.Fatal("no eigenvalues")
				}
				testvalues.NearNumber(t, "steepest factor at the threshold", slices.Min(eigen.Values(nil)), -1, 1e-9)
			})
		}
	})
}

// atRest is the variance at rest of x' = Rx + Nz in one dimension, N²/(1−R²), and R, its correlation from step to step.
func atRest(steps []float64) (variance, correlation float64) {
	m := affineOf(1, steps)
	r, n := m.r.At(0, 0), m.n.At(0, 0)
	return n * n / (1 - r*r), r
}

// The variance at rest on N(0, σ²) in both forms, at a temperature, and the correlation and the threshold.
func TestStationaryVariance(t *testing.T) {
	var cases []struct {
		ID                          string
		Sigma, Step, Eps, Alpha     float64
		Temperature, Tempered, Lag1 float64
		ThresholdEps                float64 `json:"threshold_eps"`
		ThresholdAlpha              float64 `json:"threshold_alpha"`
	}
	testvalues.Read(t, "stationary.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.Run(t, b, func(g *graph.Graph) []*sampler.Node {
			var out []*sampler.Node
			for _, c := range cases {
				score := moments{Mu: []float64{0}, Sigma: [][]float64{{c.Sigma * c.Sigma}}}.score(t)
				for _, s := range []sampler.Langevin{
					{StepSize: c.Step}, {Alpha: c.Step}, {StepSize: c.Step, Temperature: c.Temperature}, {StepSize: c.ThresholdEps}, {Alpha: c.ThresholdAlpha},
				} {
					out = append(out, stepAll(t, g, 1, s, score))
				}
			}
			return out
		})
		for i, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				eps, correlation := atRest(got[5*i])
				alpha, _ := atRest(got[5*i+1])
				tempered, _ := atRest(got[5*i+2])
				testvalues.NearNumber(t, "ε form", eps, c.Eps, 1e-9)
				testvalues.NearNumber(t, "α form", alpha, c.Alpha, 1e-9)
				testvalues.NearNumber(t, "at the temperature", tempered, c.Tempered, 1e-9)
				testvalues.NearNumber(t, "correlation", correlation, c.Lag1, 1e-9)
				for k, form := range []string{"ε", "α"} {
					_, r := atRest(got[5*i+3+k])
					testvalues.NearNumber(t, "factor at the threshold, "+form+" form", r, -1, 1e-9)
				}
			})
		}
	})
}

// The two pairs of drift and noise have their listed variances at rest. The mixed pairs are what the same chains are at
// another temperature: (ε, √ε) at ½, with half the variance, and (ε/2, √(2ε)) at 2, with double.
func TestPairing(t *testing.T) {
	var cases []struct {
		ID                          string
		Std, Step                   float64
		Eps, Alpha, Halved, Doubled float64
	}
	testvalues.Read(t, "pairing.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.Run(t, b, func(g *graph.Graph) []*sampler.Node {
			var out []*sampler.Node
			for _, c := range cases {
				score := moments{Mu: []float64{0}, Sigma: [][]float64{{c.Std * c.Std}}}.score(t)
				for _, s := range []sampler.Langevin{
					{StepSize: c.Step}, {Alpha: c.Step}, {StepSize: c.Step, Temperature: 0.5}, {Alpha: c.Step, Temperature: 2},
				} {
					out = append(out, stepAll(t, g, 1, s, score))
				}
			}
			return out
		})
		for i, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				for k, want := range []float64{c.Eps, c.Alpha, c.Halved, c.Doubled} {
					variance, _ := atRest(got[4*i+k])
					testvalues.NearNumber(t, []string{"(ε, √2ε)", "(α/2, √α)", "(ε, √ε)", "(ε/2, √2ε)"}[k], variance, want, 1e-9)
				}
			})
		}
	})
}

// annealed is one case of testdata/annealed.json: mean and variance after each level of annealed Langevin dynamics
// from X0 on data from N(M, S²), in closed form.
type annealed struct {
	ID                string
	M, S, First, Last float64
	Levels, Each      int
	Eps, X0           float64
	Mean, Var         []float64
	Denoised          float64
}

func (c annealed) sampler() sampler.AnnealedLangevin {
	return sampler.AnnealedLangevin{Max: c.First, Min: c.Last, Levels: c.Levels, StepsPerLevel: c.Each, StepSize: c.Eps, Denoise: true}
}

func (c annealed) density(t *testing.T) density.Gaussian {
	t.Helper()
	p, err := density.Isotropic([]float64{c.M}, c.S)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Mean and variance after each level, and the mean after the step that denoises, follow from one step at each level
// exactly, and equal the closed form.
func TestAnnealedMomentsInClosedForm(t *testing.T) {
	var cases []annealed
	testvalues.Read(t, "annealed.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.Run(t, b, func(g *graph.Graph) []*sampler.Node {
			var out []*sampler.Node
			for _, c := range cases {
				rows := schedule(t, c.sampler()).Rows
				x, z := probes(1)
				for level := range c.Levels + 1 {
					row := rows[min(level*c.Each, len(rows)-1)]
					out = append(out, step(c.sampler(), c.density(t).Score, graph.Const(g, x), graph.Const(g, z), row))
				}
			}
			return out
		})
		for _, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				mean, cov := mat.NewVecDense(1, []float64{c.X0}), mat.NewDense(1, 1, nil)
				for level := range c.Levels {
					m := affineOf(1, got[level])
					for range c.Each {
						m.advance(mean, cov)
					}
					name := fmt.Sprintf("level %d", level)
					testvalues.NearOne(t, name+": mean", mean.RawVector().Data, c.Mean[level:level+1], 1e-9)
					testvalues.NearOne(t, name+": variance", cov.RawMatrix().Data, c.Var[level:level+1], 1e-9)
				}
				affineOf(1, got[c.Levels]).advance(mean, cov)
				testvalues.NearOne(t, "mean, denoised", mean.RawVector().Data, []float64{c.Denoised}, 1e-9)
			})
			got = got[c.Levels+1:]
		}
	})
}
