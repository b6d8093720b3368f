package compare_test

import (
	"context"
	"testing"

	"github.com/gomlx/gomlx/backends"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/compare"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/net"
	"github.com/scorekit/lab/scorekit/objective"
)

// Whatever is missing or empty is an error, not a panic, and a table of nothing is a text.
func TestMissing(t *testing.T) {
	b, ctx := testbackend.Go(t), context.Background()
	p, err := density.Isotropic([]float64{0, 0}, 1)
	if err != nil {
		t.Fatal(err)
	}
	var (
		noContext   context.Context
		noBackend   backends.Backend
		noNetwork   *net.MLP
		noDensity   *density.Gaussian
		noObjective *objective.Denoising
		noFitted    *scorekit.Fitted
	)
	good := compare.Study{Model: net.MLP{Hidden: []int{4}}, Data: p, Truth: p, Examples: 2}
	entries := []compare.Entry{{Name: "ISM", Objective: objective.Implicit{}}}
	study := func(change func(s *compare.Study)) func() error {
		return func() error {
			s := good
			change(&s)
			_, err := compare.Objectives(ctx, b, s, entries, scorekit.WithSteps(1))
			return err
		}
	}
	workload := func(m scorekit.Model, d scorekit.Data) compare.Workload {
		return func(int) (scorekit.Model, scorekit.Data, error) { return m, d, nil }
	}
	cost := func(w compare.Workload, entries []compare.Entry) func() error {
		return func() error {
			_, err := compare.Cost(ctx, b, []int{2}, w, entries, scorekit.WithSteps(1))
			return err
		}
	}
	nilEntry := []compare.Entry{{Name: "DSM", Objective: noObjective}}
	testvalues.Refused(t, "compare: ", map[string]func() error{
		"no context": func() error {
			_, err := compare.Objectives(noContext, b, good, entries, scorekit.WithSteps(1))
			return err
		},
		"no backend": func() error {
			_, err := compare.Objectives(ctx, noBackend, good, entries, scorekit.WithSteps(1))
			return err
		},
		"no study":            func() error { _, err := compare.Objectives(ctx, b, compare.Study{}, entries); return err },
		"no entries":          func() error { _, err := compare.Objectives(ctx, b, good, nil); return err },
		"empty entry":         func() error { _, err := compare.Objectives(ctx, b, good, []compare.Entry{{}}); return err },
		"nil objective":       func() error { _, err := compare.Objectives(ctx, b, good, nilEntry, scorekit.WithSteps(1)); return err },
		"nil network":         study(func(s *compare.Study) { s.Model = noNetwork }),
		"nil data":            study(func(s *compare.Study) { s.Data = noDensity }),
		"nil truth":           study(func(s *compare.Study) { s.Truth = noDensity }),
		"truth without a fit": study(func(s *compare.Study) { s.Truth = noFitted }),
		"Cost, no context": func() error {
			_, err := compare.Cost(noContext, b, []int{2}, workload(good.Model, p), entries, scorekit.WithSteps(1))
			return err
		},
		"Cost, no backend": func() error {
			_, err := compare.Cost(ctx, noBackend, []int{2}, workload(good.Model, p), entries, scorekit.WithSteps(1))
			return err
		},
		"Cost, no dimensions": func() error { _, err := compare.Cost(ctx, b, nil, workload(good.Model, p), entries); return err },
		"Cost, no workload":   cost(nil, entries),
		"Cost, no entries":    cost(workload(good.Model, p), nil),
		"Cost, nil objective": cost(workload(good.Model, p), nilEntry),
		"Cost, no model":      cost(workload(nil, p), entries),
		"Cost, no data":       cost(workload(good.Model, nil), entries),
		"Cost, nil network":   cost(workload(noNetwork, p), entries),
		"Cost, nil density":   cost(workload(good.Model, noDensity), entries),
	})
	var table compare.Table
	if table.Markdown() == "" || table.String() == "" || new(compare.CostTable).Markdown() == "" || new(compare.CostTable).String() == "" {
		t.Error("a table of nothing has no text")
	}
}
