package likelihood_test

import (
	"context"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/backends"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/autodiff"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/likelihood"
	"github.com/scorekit/lab/scorekit/sde"
)

// process makes the SDE of a listed case; 0 for what it has not.
func process(t *testing.T, kind string, betaMin, betaMax, sigmaMin, sigmaMax float64) sde.SDE {
	t.Helper()
	switch kind {
	case "vp":
		return sde.VP{BetaMin: betaMin, BetaMax: betaMax}
	case "subvp":
		return sde.SubVP{BetaMin: betaMin, BetaMax: betaMax}
	case "ve":
		return sde.VE{SigmaMin: sigmaMin, SigmaMax: sigmaMax}
	}
	t.Fatalf("SDE %q", kind)
	return nil
}

func gaussian(t *testing.T, mean []float64, cov [][]float64) density.Gaussian {
	t.Helper()
	p, err := density.NewGaussian(mean, cov)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func diagonal(t *testing.T, mean, std []float64) density.Gaussian {
	t.Helper()
	p, err := density.Diagonal(mean, std)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func logDensity(t *testing.T, b backends.Backend, model scorekit.Model, points any, s likelihood.Settings) *likelihood.Result {
	t.Helper()
	r, err := likelihood.LogDensity(context.Background(), b, model, points, s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// tight is what listed values ask for, which are good to 1e-7.
func tight(s likelihood.Settings) likelihood.Settings {
	s.RTol, s.ATol = 1e-10, 1e-10
	return s
}

// Gaussian data with the exact score, in closed form: log-density with the prior, and where the ODE ends. The divergence
// follows from both, log p(x) − log prior(x(1)).
func TestGaussian(t *testing.T) {
	var cases []struct {
		ID     string
		Inputs struct {
			SDE      string
			BetaMin  float64 `json:"beta_min"`
			BetaMax  float64 `json:"beta_max"`
			SigmaMin float64 `json:"sigma_min"`
			SigmaMax float64 `json:"sigma_max"`
			M        []float64
			Sigma    [][]float64
			From     float64 `json:"t_start"`
			X        [][]float64
		}
		Expected struct {
			End        [][]float64 `json:"x_at_1"`
			Divergence float64     `json:"integral_of_divergence"`
			LogDensity []float64   `json:"loglik_prior"`
		}
	}
	testvalues.Read(t, "gaussian.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for _, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				in := c.Inputs
				s := likelihood.Settings{SDE: process(t, in.SDE, in.BetaMin, in.BetaMax, in.SigmaMin, in.SigmaMax), From: in.From}
				r := logDensity(t, b, gaussian(t, in.M, in.Sigma), in.X, tight(s))
				testvalues.NearOne(t, "log p", r.LogDensity, c.Expected.LogDensity, 1e-7)
				testvalues.NearOne(t, "x(1)", slices.Concat(r.Latent...), slices.Concat(c.Expected.End...), 1e-7)
				for i, end := range r.Latent {
					divergence := r.LogDensity[i] - s.SDE.Prior().LogDensity(end)
					testvalues.NearOne(t, "∫ divergence", []float64{divergence}, []float64{c.Expected.Divergence}, 1e-7)
				}
			})
		}
	})
}

// What diffrax 0.7.2 records for Gaussian data, with its own solver at 1e-11.
func TestDiffrax(t *testing.T) {
	var cases []struct {
		ID     string
		Inputs struct {
			SDE      string
			BetaMin  float64 `json:"beta_min"`
			BetaMax  float64 `json:"beta_max"`
			SigmaMin float64 `json:"sigma_min"`
			SigmaMax float64 `json:"sigma_max"`
			Eps      float64
			Mean     []float64
			Cov      [][]float64
			X        [][]float64
		}
		Expected struct {
			Latent     [][]float64
			Delta      []float64 `json:"delta_logp"`
			LogDensity []float64 `json:"log_likelihood_nats"`
			Bits       []float64 `json:"bits_per_dim"`
		}
	}
	testvalues.Read(t, "diffrax.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for _, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				in := c.Inputs
				s := likelihood.Settings{SDE: process(t, in.SDE, in.BetaMin, in.BetaMax, in.SigmaMin, in.SigmaMax), From: in.Eps}
				r := logDensity(t, b, gaussian(t, in.Mean, in.Cov), in.X, tight(s))
				testvalues.NearOne(t, "log p", r.LogDensity, c.Expected.LogDensity, 1e-7)
				testvalues.NearOne(t, "latent", slices.Concat(r.Latent...), slices.Concat(c.Expected.Latent...), 1e-7)
				for i, p := range r.LogDensity {
					testvalues.NearOne(t, "bits", []float64{likelihood.BitsPerDim(p, len(in.Mean))}, c.Expected.Bits[i:i+1], 1e-7)
					testvalues.NearOne(t, "Δ log p", []float64{p - s.SDE.Prior().LogDensity(r.Latent[i])}, c.Expected.Delta[i:i+1], 1e-7)
				}
			})
		}
	})
}

// What k-diffusion 0.1.1 records for its VE ODE in σ, with Hutchinson's estimate by Rademacher probes: exact for a diagonal
// Jacobian, and so it is here.
func TestKDiffusion(t *testing.T) {
	var cases []struct {
		ID     string
		Inputs struct {
			X        [][]float64
			Mu, S    []float64
			SigmaMin float64 `json:"sigma_min"`
			SigmaMax float64 `json:"sigma_max"`
		}
		Expected struct {
			LogDensity []float64 `json:"log_likelihood_nats"`
		}
	}
	testvalues.Read(t, "kdiffusion.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for _, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				in := c.Inputs
				// From is so near to 0 that the noise level there is σ_min to rounding.
				s := likelihood.Settings{SDE: sde.VE{SigmaMin: in.SigmaMin, SigmaMax: in.SigmaMax}, From: 1e-14, Probes: 2, Probe: autodiff.Rademacher, Seed: 1}
				r := logDensity(t, b, diagonal(t, in.Mu, in.S), in.X, tight(s))
				testvalues.NearOne(t, "log p", r.LogDensity, c.Expected.LogDensity, 1e-7)
				testvalues.NearOne(t, "standard error", r.StandardError, make([]float64, len(in.X)), 1e-9)
			})
		}
	})
}
