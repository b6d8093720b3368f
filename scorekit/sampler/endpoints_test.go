package sampler_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/sampler"
	"github.com/scorekit/lab/scorekit/sde"
)

// endpoint is a listed case: data N(m, Sigma), and what becomes of states and of the prior between t_start and t_end, by the
// probability flow and by the reverse SDE without any error of a step.
type endpoint struct {
	ID       string
	SDE      string
	BetaMin  float64 `json:"beta_min"`
	BetaMax  float64 `json:"beta_max"`
	SigmaMin float64 `json:"sigma_min"`
	SigmaMax float64 `json:"sigma_max"`
	M        []float64
	Sigma    [][]float64
	From     float64     `json:"t_start"`
	To       float64     `json:"t_end"`
	Start    [][]float64 `json:"x_T"`

	FlowEnd  [][]float64 `json:"ode_x_end"`
	FlowMean []float64   `json:"ode_end_mean_from_prior"`
	FlowCov  [][]float64 `json:"ode_end_cov_from_prior"`
	Gain     [][]float64 `json:"reverse_sde_gain_K"`
	Left     [][]float64 `json:"reverse_sde_conditional_cov"`
	Mean     []float64   `json:"reverse_sde_end_mean_from_prior"`
	Cov      [][]float64 `json:"reverse_sde_end_cov_from_prior"`
	TrueMean []float64   `json:"true_mean_at_end"`
	TrueCov  [][]float64 `json:"true_cov_at_end"`
}

func (c endpoint) process() sde.SDE {
	switch c.SDE {
	case "vp":
		return sde.VP{BetaMin: c.BetaMin, BetaMax: c.BetaMax}
	case "subvp":
		return sde.SubVP{BetaMin: c.BetaMin, BetaMax: c.BetaMax}
	default:
		return sde.VE{SigmaMin: c.SigmaMin, SigmaMax: c.SigmaMax}
	}
}

// axes returns the eigenvalues of a symmetric matrix and its eigenvectors as columns, by Jacobi's rotations.
func axes(a [][]float64) (values []float64, vectors [][]float64) {
	n := len(a)
	m := make([][]float64, n)
	vectors = make([][]float64, n)
	for i := range m {
		m[i], vectors[i] = slices.Clone(a[i]), make([]float64, n)
		vectors[i][i] = 1
	}
	for range 30 {
		for p := range n {
			for q := p + 1; q < n; q++ {
				if m[p][q] == 0 {
					continue
				}
				angle := math.Atan2(2*m[p][q], m[q][q]-m[p][p]) / 2
				c, s := math.Cos(angle), math.Sin(angle)
				for k := range n {
					m[k][p], m[k][q] = c*m[k][p]-s*m[k][q], s*m[k][p]+c*m[k][q]
				}
				for k := range n {
					m[p][k], m[q][k] = c*m[p][k]-s*m[q][k], s*m[p][k]+c*m[q][k]
					vectors[k][p], vectors[k][q] = c*vectors[k][p]-s*vectors[k][q], s*vectors[k][p]+c*vectors[k][q]
				}
			}
		}
	}
	for i := range n {
		values = append(values, m[i][i])
	}
	return values, vectors
}

// into gives x in the eigenvectors, and outOf takes it back; spread is the matrix of the given eigenvalues.
func into(vectors [][]float64, x []float64) []float64 {
	y := make([]float64, len(x))
	for i := range y {
		for k := range x {
			y[i] += vectors[k][i] * x[k]
		}
	}
	return y
}

func outOf(vectors [][]float64, y []float64) []float64 {
	x := make([]float64, len(y))
	for k := range x {
		for i := range y {
			x[k] += vectors[k][i] * y[i]
		}
	}
	return x
}

func spread(vectors [][]float64, values []float64) []float64 {
	var flat []float64
	for i := range values {
		for j := range values {
			sum := 0.0
			for k, v := range values {
				sum += vectors[i][k] * v * vectors[j][k]
			}
			flat = append(flat, sum)
		}
	}
	return flat
}

// TestEndpointsOfFlow follows the probability flow with tolerances of 10⁻¹¹ from the listed points, from 0 and from
// (1, 1, …), all in the eigenvectors of Sigma, where the flow is one of each coordinate: the last two give its
// gain, and so the law that becomes of the prior. Cases of one SDE are chains of one run, filled up to ten coordinates
// with those of data at 0 of variance 1.
func TestEndpointsOfFlow(t *testing.T) {
	var cases []endpoint
	testvalues.Read(t, "gaussian_endpoints.json", &cases)
	const d = 10
	fill := func(x []float64, v float64) []float64 { return append(x, slices.Repeat([]float64{v}, d-len(x))...) }
	laws := map[string][]float64{}
	for _, c := range cases {
		laws[c.ID] = c.reverseLaw(t)
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for _, name := range []string{"vp", "subvp", "ve"} {
			var group []endpoint
			for _, c := range cases {
				if c.SDE == name {
					group = append(group, c)
				}
			}
			var start, mean, variance [][]float64
			for _, c := range group {
				values, vectors := axes(c.Sigma)
				points := [][]float64{make([]float64, len(c.M)), slices.Repeat([]float64{1}, len(c.M))}
				for _, x := range c.Start {
					points = append(points, into(vectors, x))
				}
				for _, x := range points {
					start = append(start, fill(x, 0))
					mean = append(mean, fill(into(vectors, c.M), 0))
					variance = append(variance, fill(slices.Clone(values), 1))
				}
			}
			score := scorekit.Score(func(_ *mlctx.Context, x, sigma *sampler.Node) *sampler.Node {
				v := graph.Add(graph.Const(x.Graph(), variance), graph.InsertAxes(graph.Square(sigma), -1))
				return graph.Div(graph.Sub(graph.Const(x.Graph(), mean), x), v)
			})
			s := sampler.DormandPrince{SDE: group[0].process(), From: group[0].From, To: group[0].To, RelTol: 1e-11, AbsTol: 1e-11, MaxSteps: 5000}
			out, err := scorekit.Sample(context.Background(), b, score, s, len(start), scorekit.WithStart(start), scorekit.WithDType(dtypes.Float64), scorekit.WithUnroll(1))
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s: %v", name, out.Info)
			rows := matrix(t, out.X)
			for _, c := range group {
				mine := rows[:2+len(c.Start)]
				rows = rows[2+len(c.Start):]
				testvalues.Case(t, c.ID, func(t *testing.T) {
					_, vectors := axes(c.Sigma)
					var ends []float64
					for _, x := range mine[2:] {
						ends = append(ends, outOf(vectors, x[:len(c.M)])...)
					}
					testvalues.Near(t, "ends", ends, slices.Concat(c.FlowEnd...), 1e-8)
					prior := c.process().Prior().Std
					zero, one := mine[0][:len(c.M)], mine[1][:len(c.M)]
					var gained []float64
					for i := range zero {
						gained = append(gained, prior*prior*(one[i]-zero[i])*(one[i]-zero[i]))
					}
					testvalues.Near(t, "mean from the prior", outOf(vectors, zero), c.FlowMean, 1e-8)
					testvalues.Near(t, "covariance from the prior", spread(vectors, gained), slices.Concat(c.FlowCov...), 1e-8)
					c.reverse(t, laws[c.ID])
				})
			}
		}
	})
}

// reverseLaw is the law that Euler–Maruyama steps lead to, extrapolated to steps of length 0, in the eigenvectors of Sigma:
// the gain, the variance given the start and the mean from the prior. Each step is affine in x and in the noise, so that
// the law follows from the schedule.
func (c endpoint) reverseLaw(t *testing.T) []float64 {
	values, vectors := axes(c.Sigma)
	d, m := len(values), into(vectors, c.M)
	law := func(steps int) []float64 {
		times, err := sde.EvenTimes(c.process(), c.From, c.To, steps+1)
		if err != nil {
			t.Fatal(err)
		}
		out := make([]float64, 3*d)
		for i := range d {
			out[i] = 1
		}
		for _, row := range schedule(t, sampler.ReverseSDE{SDE: c.process(), Times: times}).Rows {
			a, std, ofX, ofScore, noise := row[1], row[2], row[5], row[6], row[7]
			for i, v := range values {
				slope := ofX - ofScore/(a*a*v+std*std)
				out[i] *= slope
				out[d+i] = slope*slope*out[d+i] + noise*noise
				out[2*d+i] = slope*out[2*d+i] + ofScore*a*m[i]/(a*a*v+std*std)
			}
		}
		return out
	}
	// Richardson's extrapolation: errors are power series in the length of a step.
	var before [][]float64
	for k := range 8 {
		row := [][]float64{law(250 << k)}
		for j, coarse := range before {
			finer := make([]float64, 3*d)
			for i, v := range row[j] {
				finer[i] = v + (v-coarse[i])/(math.Exp2(float64(j+1))-1)
			}
			row = append(row, finer)
		}
		before = row
	}
	return before[len(before)-1]
}

// reverse compares that law with the listed one.
func (c endpoint) reverse(t *testing.T, limit []float64) {
	values, vectors := axes(c.Sigma)
	d, prior := len(values), c.process().Prior().Std
	gain, left, mean := limit[:d], limit[d:2*d], limit[2*d:]
	var cov []float64
	for i := range gain {
		cov = append(cov, left[i]+gain[i]*gain[i]*prior*prior)
	}
	const rtol = 1e-8
	testvalues.Near(t, "reverse SDE: gain", spread(vectors, gain), slices.Concat(c.Gain...), rtol)
	testvalues.Near(t, "reverse SDE: covariance given the start", spread(vectors, left), slices.Concat(c.Left...), rtol)
	testvalues.Near(t, "reverse SDE: mean from the prior", outOf(vectors, mean), c.Mean, rtol)
	testvalues.Near(t, "reverse SDE: covariance from the prior", spread(vectors, cov), slices.Concat(c.Cov...), rtol)
	at := c.process().Marginal(c.To)
	var truth []float64
	for _, v := range values {
		truth = append(truth, at.Mean*at.Mean*v+at.Std*at.Std)
	}
	testvalues.Near(t, "true covariance", spread(vectors, truth), slices.Concat(c.TrueCov...), rtol)
	testvalues.Near(t, "true mean", slices.Concat(times(at.Mean, [][]float64{c.M})...), c.TrueMean, rtol)
}
