package likelihood_test

import (
	"context"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/likelihood"
	"github.com/scorekit/lab/scorekit/net"
	"github.com/scorekit/lab/scorekit/sde"
)

// Whatever is missing or empty is an error, not a panic.
func TestMissing(t *testing.T) {
	b, ctx := testbackend.Go(t), context.Background()
	p, err := density.Isotropic([]float64{0}, 1)
	if err != nil {
		t.Fatal(err)
	}
	var (
		noContext context.Context
		noBackend backends.Backend
		noTensor  *tensors.Tensor
		noRows    [][]float64
		noNetwork *net.NoiseMLP
		noFitted  *scorekit.Fitted
		noScore   scorekit.Score
		noSDE     *sde.VP
	)
	one, settings := [][]float64{{1}}, likelihood.Settings{SDE: sde.VP{}}
	calls := map[string]func() error{
		"no context": func() error { _, err := likelihood.LogDensity(noContext, b, p, one, settings); return err },
		"no backend": func() error { _, err := likelihood.LogDensity(ctx, noBackend, p, one, settings); return err },
		"no SDE":     func() error { _, err := likelihood.LogDensity(ctx, b, p, one, likelihood.Settings{}); return err },
		"nil SDE": func() error {
			_, err := likelihood.LogDensity(ctx, b, p, one, likelihood.Settings{SDE: noSDE})
			return err
		},
	}
	for name, m := range map[string]scorekit.Model{"nil": nil, "no network": noNetwork, "not fitted": noFitted, "empty fitted": &scorekit.Fitted{}, "no score": noScore} {
		calls["with "+name] = func() error { _, err := likelihood.LogDensity(ctx, b, m, one, settings); return err }
	}
	for name, x := range map[string]any{"nil": nil, "no tensor": noTensor, "no rows": noRows, "empty row": [][]float64{{}}, "empty tensor": &tensors.Tensor{}} {
		calls["of "+name] = func() error { _, err := likelihood.LogDensity(ctx, b, p, x, settings); return err }
		calls["Dequantize "+name] = func() error { _, err := likelihood.Bins{Count: 8}.Dequantize(x, 1); return err }
	}
	testvalues.Refused(t, "likelihood: ", calls)
}
