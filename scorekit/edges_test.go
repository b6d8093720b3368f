package scorekit_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/gomlx/gomlx/backends"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/objective"
	"github.com/scorekit/lab/scorekit/random"
)

// pointerModel and pointerObjective have pointer receivers, so that a nil pointer can hide in the interface.
type pointerModel struct{ Name string }

func (m *pointerModel) Score(vars *mlctx.Context, x, _ *Node) *Node { return linear(vars, x, nil) }

type pointerObjective struct{ target *float64 }

func (o *pointerObjective) Loss(vars *mlctx.Context, rng *random.Source, score scorekit.Score, x *Node) *Node {
	return regression{*o.target}.Loss(vars, rng, score, x)
}

// What is missing is named by an error and never met as a nil pointer.
func TestMissingArguments(t *testing.T) {
	be := testbackend.Go(t)
	var noContext context.Context
	g := gaussian(t, 1, 0)
	good := objective.Denoising{Sigma: 0.5}
	fit := func(ctx context.Context, b backends.Backend, m scorekit.Model, o scorekit.Objective, d scorekit.Data, options ...scorekit.FitOption) error {
		_, err := scorekit.Fit(ctx, b, m, o, d, options...)
		return err
	}
	sample := func(ctx context.Context, b backends.Backend, m scorekit.Model, s scorekit.Sampler, options ...scorekit.SampleOption) error {
		_, err := scorekit.Sample(ctx, b, m, s, 1, options...)
		return err
	}
	evaluate := func(ctx context.Context, b backends.Backend, m scorekit.Model) error {
		_, err := scorekit.Evaluate(ctx, b, m, [][]float64{{1}})
		return err
	}
	lose := func(ctx context.Context, b backends.Backend, m scorekit.Model, o scorekit.Objective, d scorekit.Data) error {
		_, _, err := scorekit.EvaluateLoss(ctx, b, m, o, d, 10, 0)
		return err
	}
	draw := func(ctx context.Context, b backends.Backend, d scorekit.Data) error {
		_, err := scorekit.Draw(ctx, b, d, 1, 0)
		return err
	}
	lin := scorekit.Score(linear)
	for _, c := range []struct {
		err  error
		want string
	}{
		{fit(noContext, be, lin, good, g), "scorekit: Fit: ctx nil: must be given"},
		{fit(background, nil, lin, good, g), "scorekit: Fit: backend nil: must be given"},
		{fit(background, be, nil, good, g), "scorekit: Fit: model nil: must be given"},
		{fit(background, be, scorekit.Score(nil), good, g), "scorekit: Fit: model nil: must be given"},
		{fit(background, be, scorekit.Energy(nil), good, g), "scorekit: Fit: model nil: must be given"},
		{fit(background, be, (*pointerModel)(nil), good, g), "scorekit: Fit: model nil: must be given"},
		{fit(background, be, (*scorekit.Fitted)(nil), good, g), "scorekit: Fit: model nil: must be given"},
		{fit(background, be, lin, nil, g), "scorekit: Fit: objective nil: must be given"},
		{fit(background, be, lin, (*pointerObjective)(nil), g), "scorekit: Fit: objective nil: must be given"},
		{fit(background, be, lin, good, nil), "scorekit: Fit: data nil: must be given"},
		{fit(background, be, lin, good, g, scorekit.WithSteps(1), nil), "scorekit: Fit: option 1 nil: must be made by"},
		{sample(noContext, be, g, counter{3}), "scorekit: Sample: ctx nil: must be given"},
		{sample(background, nil, g, counter{3}), "scorekit: Sample: backend nil: must be given"},
		{sample(background, be, &scorekit.Fitted{}, counter{3}), "scorekit: Sample: model nil: must be given"},
		{sample(background, be, g, nil), "scorekit: Sample: sampler nil: must be given"},
		{sample(background, be, g, counter{3}, nil), "scorekit: Sample: option 0 nil: must be made by"},
		{evaluate(noContext, be, g), "scorekit: Evaluate: ctx nil: must be given"},
		{evaluate(background, nil, g), "scorekit: Evaluate: backend nil: must be given"},
		{evaluate(background, be, (*scorekit.Fitted)(nil)), "scorekit: Evaluate: model nil: must be given"},
		{evaluate(background, be, &scorekit.Fitted{}), "scorekit: Evaluate: model nil: must be given"},
		{lose(noContext, be, g, good, g), "scorekit: EvaluateLoss: ctx nil: must be given"},
		{lose(background, nil, g, good, g), "scorekit: EvaluateLoss: backend nil: must be given"},
		{lose(background, be, nil, good, g), "scorekit: EvaluateLoss: model nil: must be given"},
		{lose(background, be, g, nil, g), "scorekit: EvaluateLoss: objective nil: must be given"},
		{lose(background, be, g, good, nil), "scorekit: EvaluateLoss: data nil: must be given"},
		{draw(noContext, be, g), "scorekit: Draw: ctx nil: must be given"},
		{draw(background, nil, g), "scorekit: Draw: backend nil: must be given"},
		{draw(background, be, nil), "scorekit: Draw: data nil: must be given"},
		{(&scorekit.Fitted{}).Save(filepath.Join(t.TempDir(), "x")), "scorekit: Save: model nil: must come from Fit or Load"},
	} {
		wantError(t, c.err, c.want)
	}
	if n := (&scorekit.Fitted{}).NumParameters(); n != 0 {
		t.Errorf("an empty model of %d weights", n)
	}
	_, err := (&scorekit.FitStep{}).Stats()
	wantError(t, err, "scorekit: Stats: step without a run")
	_, err = (&scorekit.FitStep{}).Fitted()
	wantError(t, err, "scorekit: Fitted: step without a run")
	_, err = (&scorekit.SampleStep{}).X()
	wantError(t, err, "scorekit: X: step without a run")
	for _, err := range scorekit.FitSteps(background, nil, nil, nil, nil) {
		wantError(t, err, "scorekit: Fit: backend nil")
	}
	for _, err := range scorekit.SampleSteps(background, nil, nil, nil, 0) {
		wantError(t, err, "scorekit: Sample: backend nil")
	}
}

func TestRegisterModelPanicsOnNothing(t *testing.T) {
	for name, register := range map[string]func(){
		"no kind":    func() { scorekit.RegisterModel("", &pointerModel{}) },
		"no example": func() { scorekit.RegisterModel("scorekit_test.nothing", nil) },
		"taken":      func() { scorekit.RegisterModel("scorekit_test.linear", &pointerModel{}) },
	} {
		func() {
			defer func() {
				err, _ := recover().(error)
				wantError(t, err, "scorekit: RegisterModel: ")
			}()
			register()
			t.Error(name, "did not panic")
		}()
	}
}

// A panic of the user's own code reaches the user as it was, whatever was thrown; one of graph-building code is an error.
func TestPanicsOfUsersCode(t *testing.T) {
	be := testbackend.Go(t)
	g := gaussian(t, 1, 0)
	fit := func(model scorekit.Model, options ...scorekit.FitOption) error {
		_, err := scorekit.Fit(background, be, model, objective.Denoising{Sigma: 0.5}, g, append(options, scorekit.WithSteps(3))...)
		return err
	}
	for _, thrown := range []any{errors.New("an error"), "a text"} {
		for name, run := range map[string]func(){
			"callback": func() {
				fit(scorekit.Score(linear), scorekit.WithCallback(func(*scorekit.FitStep) error { panic(thrown) }))
			},
			"progress": func() {
				fit(scorekit.Score(linear), scorekit.WithProgress(func(scorekit.Report) { panic(thrown) }))
			},
			"training loop": func() {
				for range scorekit.FitSteps(background, be, scorekit.Score(linear), objective.Denoising{Sigma: 0.5}, g) {
					panic(thrown)
				}
			},
			"sampling loop": func() {
				for range scorekit.SampleSteps(background, be, g, counter{3}, 1) {
					panic(thrown)
				}
			},
		} {
			func() {
				defer func() {
					if got := recover(); got != thrown {
						t.Errorf("%s: recovered %T %v, want %v", name, got, got, thrown)
					}
				}()
				run()
			}()
		}
		model := scorekit.Score(func(*mlctx.Context, *Node, *Node) *Node { panic(thrown) })
		wantError(t, fit(model), "scorekit: Fit: ", fmt.Sprint(thrown))
		_, err := scorekit.Sample(background, be, model, counter{3}, 1, scorekit.WithShape(1))
		if err != nil { // the counter does not ask for the score
			t.Error(err)
		}
		_, err = scorekit.Evaluate(background, be, model, [][]float64{{1}})
		wantError(t, err, "scorekit: Evaluate: ", fmt.Sprint(thrown))
	}
}
