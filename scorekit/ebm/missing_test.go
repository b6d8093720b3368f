package ebm_test

import (
	"context"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/ebm"
	"github.com/scorekit/lab/scorekit/net"
)

// Whatever is missing or empty is an error of every exported function, not a panic.
func TestMissing(t *testing.T) {
	b, ctx := testbackend.Go(t), context.Background()
	good := scorekit.Energy(testvalues.Ignoring(parabola))
	var (
		noContext context.Context
		noBackend backends.Backend
		noTensor  *tensors.Tensor
		noRows    [][]float64
		noNetwork *net.EnergyMLP
		noFitted  *scorekit.Fitted
		noEnergy  scorekit.Energy
		noDensity *density.Gaussian
	)
	box := ebm.Box{Low: []float64{0}, High: []float64{1}}
	annealing := ebm.Annealing{Mean: []float64{0}, Std: 1, Levels: 4, StepSize: 0.1}
	one := [][]float64{{1}}
	calls := map[string]func() error{
		"LogPartition without a context":       func() error { _, err := ebm.LogPartition(noContext, b, good, box); return err },
		"LogPartition without a backend":       func() error { _, err := ebm.LogPartition(ctx, noBackend, good, box); return err },
		"LogPartition without a box":           func() error { _, err := ebm.LogPartition(ctx, b, good, ebm.Box{}); return err },
		"AnnealedImportance without a context": func() error { _, err := ebm.AnnealedImportance(noContext, b, good, 9, annealing); return err },
		"AnnealedImportance without a backend": func() error { _, err := ebm.AnnealedImportance(ctx, noBackend, good, 9, annealing); return err },
		"AnnealedImportance without settings":  func() error { _, err := ebm.AnnealedImportance(ctx, b, good, 9, ebm.Annealing{}); return err },
		"LogDensity without a backend":         func() error { _, err := ebm.LogDensity(ctx, noBackend, good, one, 0); return err },
		"LogDensity without a context":         func() error { _, err := ebm.LogDensity(noContext, b, good, one, 0); return err },
		"Limit without a context":              func() error { _, err := ebm.Limit(noContext, b, good, one, []float64{1}); return err },
		"Limit without a backend":              func() error { _, err := ebm.Limit(ctx, noBackend, good, one, []float64{1}); return err },
		"Limit without steps":                  func() error { _, err := ebm.Limit(ctx, b, good, one, nil); return err },
	}
	for name, m := range map[string]scorekit.Model{"nil": nil, "no network": noNetwork, "not fitted": noFitted, "empty fitted": &scorekit.Fitted{}, "no energy": noEnergy, "no density": noDensity} {
		calls["LogPartition with "+name] = func() error { _, err := ebm.LogPartition(ctx, b, m, box); return err }
		calls["AnnealedImportance with "+name] = func() error { _, err := ebm.AnnealedImportance(ctx, b, m, 9, annealing); return err }
		calls["LogDensity with "+name] = func() error { _, err := ebm.LogDensity(ctx, b, m, one, 0); return err }
		calls["Limit with "+name] = func() error { _, err := ebm.Limit(ctx, b, m, one, []float64{1}); return err }
	}
	for name, x := range map[string]any{"nil": nil, "no tensor": noTensor, "no rows": noRows, "empty row": [][]float64{{}}, "empty tensor": &tensors.Tensor{}} {
		calls["LogDensity of "+name] = func() error { _, err := ebm.LogDensity(ctx, b, good, x, 0); return err }
		calls["Limit of "+name] = func() error { _, err := ebm.Limit(ctx, b, good, x, []float64{1}); return err }
	}
	testvalues.Refused(t, "ebm: ", calls)
}
