package kde_test

import (
	"context"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/kde"
)

// Whatever is missing or empty is an error of everything that returns one, not a panic; an estimate that no function made
// can be asked what it is.
func TestMissing(t *testing.T) {
	b, ctx, good := testbackend.Go(t), context.Background(), [][]float64{{1, 2}, {2, 1}, {0, 3}}
	q, err := kde.New(good, kde.Gaussian, kde.Fixed(1))
	if err != nil {
		t.Fatal(err)
	}
	var (
		noContext context.Context
		noBackend backends.Backend
		noTensor  *tensors.Tensor
		noRows    [][]float64
		nothing   kde.Estimate
	)
	calls := map[string]func() error{
		"New without a bandwidth":             func() error { _, err := kde.New(good, kde.Gaussian, kde.Bandwidth{}); return err },
		"New, no bandwidth of a coordinate":   func() error { _, err := kde.New(good, kde.Gaussian, kde.PerCoordinate()); return err },
		"New, leaving one out, no context":    func() error { _, err := kde.New(good, kde.Gaussian, kde.LeaveOneOut(noContext)); return err },
		"NewWeighted without weights":         func() error { _, err := kde.NewWeighted(good, nil, kde.Gaussian, kde.Fixed(1)); return err },
		"LeaveOneOut without a context":       func() error { _, err := q.LeaveOneOut(noContext); return err },
		"LeaveOneOut of nothing":              func() error { _, err := nothing.LeaveOneOut(ctx); return err },
		"LogDensityAt without a context":      func() error { _, err := q.LogDensityAt(noContext, b, good); return err },
		"LogDensityAt without a backend":      func() error { _, err := q.LogDensityAt(ctx, noBackend, good); return err },
		"LogDensityAt of nothing":             func() error { _, err := nothing.LogDensityAt(ctx, b, good); return err },
		"ScoreAt without a context":           func() error { _, err := q.ScoreAt(noContext, b, good); return err },
		"ScoreAt without a backend":           func() error { _, err := q.ScoreAt(ctx, noBackend, good); return err },
		"ScoreAt of nothing":                  func() error { _, err := nothing.ScoreAt(ctx, b, good); return err },
		"Noised of nothing":                   func() error { _, err := nothing.Noised(1); return err },
		"Validate of nothing":                 func() error { return nothing.Validate() },
		"Validate of a subset that was drawn": func() error { _, err := scorekit.Evaluate(context.Background(), b, kde.Subset{}, good); return err },
		"Evaluate of nothing":                 func() error { _, err := scorekit.Evaluate(context.Background(), b, nothing, good); return err },
		"Draw of nothing":                     func() error { _, err := scorekit.Draw(t.Context(), b, nothing, 2, 1); return err },
		"Draw of a subset":                    func() error { _, err := scorekit.Draw(t.Context(), b, kde.Subset{}, 2, 1); return err },
	}
	for name, x := range map[string]any{"nil": nil, "no tensor": noTensor, "no rows": noRows, "empty row": [][]float64{{}}, "empty tensor": &tensors.Tensor{}} {
		calls["New of "+name] = func() error { _, err := kde.New(x, kde.Gaussian, kde.Fixed(1)); return err }
		calls["NewWeighted of "+name] = func() error { _, err := kde.NewWeighted(x, []float64{1}, kde.Gaussian, kde.Fixed(1)); return err }
		calls["LogDensityAt "+name] = func() error { _, err := q.LogDensityAt(ctx, b, x); return err }
		calls["ScoreAt "+name] = func() error { _, err := q.ScoreAt(ctx, b, x); return err }
	}
	testvalues.Refused(t, "", calls)
	if nothing.Dim() != 0 || nothing.Len() != 0 || len(nothing.Shape()) != 0 || len(nothing.Bandwidth()) != 0 || nothing.String() == "" || len(nothing.BandwidthMatrix()) != 0 {
		t.Errorf("nothing is %v", nothing)
	}
}
