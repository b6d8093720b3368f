package implicit_test

import (
	"context"
	"testing"

	"github.com/gomlx/gomlx/backends"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/implicit"
	"github.com/scorekit/lab/scorekit/net"
	"github.com/scorekit/lab/scorekit/objective"
)

// Whatever is missing or empty is an error of every exported function and of every setting, not a panic.
func TestMissing(t *testing.T) {
	b := testbackend.Go(t)
	p := normal(t, []float64{0, 0}, [][]float64{{1, 0}, {0, 1}})
	good := implicit.ReverseKL{Generator: small, Target: p, Law: following, Entropy: 1}
	var (
		noContext   context.Context
		noBackend   backends.Backend
		noKL        *implicit.ReverseKL
		noGame      *implicit.Adversarial
		noLinear    *implicit.Linear
		noMLP       *implicit.MLP
		noStein     *implicit.Stein
		noLearned   *implicit.Learned
		noNetwork   *net.MLP
		noObjective *objective.Denoising
		noDensity   *density.Gaussian
		noFitted    *scorekit.Fitted
		noScore     scorekit.Score
	)
	fit := func(how implicit.Training) error {
		_, err := implicit.Fit(background, b, how, scorekit.WithSteps(1))
		return err
	}
	kl := func(change func(k *implicit.ReverseKL)) error {
		k := good
		change(&k)
		return fit(k)
	}
	gan := func(change func(g *implicit.Adversarial)) error {
		g := game(t)
		change(&g)
		return fit(g)
	}
	fits := map[string]func() error{
		"no training":      func() error { return fit(nil) },
		"no reverse KL":    func() error { return fit(noKL) },
		"no game":          func() error { return fit(noGame) },
		"empty reverse KL": func() error { return fit(implicit.ReverseKL{}) },
		"empty game":       func() error { return fit(implicit.Adversarial{}) },
		"no linear":        func() error { return kl(func(k *implicit.ReverseKL) { k.Generator = noLinear }) },
		"empty linear":     func() error { return kl(func(k *implicit.ReverseKL) { k.Generator = implicit.Linear{} }) },
		"no MLP":           func() error { return gan(func(g *implicit.Adversarial) { g.Generator = noMLP }) },
		"no generator":     func() error { return gan(func(g *implicit.Adversarial) { g.Generator = nil }) },
		"no law":           func() error { return kl(func(k *implicit.ReverseKL) { k.Law = nil }) },
		"no Stein":         func() error { return kl(func(k *implicit.ReverseKL) { k.Law = noStein }) },
		"no Learned":       func() error { return gan(func(g *implicit.Adversarial) { g.Law = noLearned }) },
		"empty Learned":    func() error { return gan(func(g *implicit.Adversarial) { g.Law = implicit.Learned{} }) },
		"no network": func() error {
			return kl(func(k *implicit.ReverseKL) {
				k.Law = implicit.Learned{Network: noNetwork, Objective: objective.Implicit{}}
			})
		},
		"no objective": func() error {
			return kl(func(k *implicit.ReverseKL) { k.Law = implicit.Learned{Network: smallNet, Objective: noObjective} })
		},
		"no target":          func() error { return kl(func(k *implicit.ReverseKL) { k.Target = nil }) },
		"no density":         func() error { return kl(func(k *implicit.ReverseKL) { k.Target = noDensity }) },
		"no score":           func() error { return kl(func(k *implicit.ReverseKL) { k.Target = noScore }) },
		"no fitted target":   func() error { return kl(func(k *implicit.ReverseKL) { k.Target = noFitted }) },
		"empty target":       func() error { return kl(func(k *implicit.ReverseKL) { k.Target = &scorekit.Fitted{} }) },
		"no data":            func() error { return gan(func(g *implicit.Adversarial) { g.Data = nil }) },
		"no density as data": func() error { return gan(func(g *implicit.Adversarial) { g.Data = noDensity }) },
	}
	testvalues.Refused(t, "implicit: Fit: ", fits)
	testvalues.Refused(t, "", map[string]func() error{
		"Fit without a context":   func() error { _, err := implicit.Fit(noContext, b, good); return err },
		"Fit without a backend":   func() error { _, err := implicit.Fit(background, noBackend, good); return err },
		"FitSteps without how":    func() error { return firstStep(background, b, noKL) },
		"FitSteps, no context":    func() error { return firstStep(noContext, b, good) },
		"FitSteps, no backend":    func() error { return firstStep(background, noBackend, good) },
		"Draws":                   func() error { _, err := implicit.Draws(noFitted); return err },
		"Draws of an empty model": func() error { _, err := implicit.Draws(&scorekit.Fitted{}); return err },
		"Law":                     func() error { _, err := implicit.Linear{}.Law(noFitted); return err },
		"Law of an empty model":   func() error { _, err := implicit.Linear{}.Law(&scorekit.Fitted{}); return err },
		"Model without anything":  func() error { return implicit.Model{}.Validate() },
		"Model without a network": func() error { return implicit.Model{Generator: small, Network: noNetwork}.Validate() },
		"Model not to be trained": func() error {
			_, err := scorekit.Evaluate(background, b, implicit.Model{Generator: small}, [][]float64{{1, 2}})
			return err
		},
		"Model from an empty text": func() error { return new(implicit.Model).UnmarshalJSON(nil) },
		"Model from nothing":       func() error { return new(implicit.Model).UnmarshalJSON([]byte("null")) },
	})
}

func firstStep(ctx context.Context, b backends.Backend, how implicit.Training) error {
	for _, err := range implicit.FitSteps(ctx, b, how, scorekit.WithSteps(1)) {
		return err
	}
	return nil
}
