package metric

import (
	"context"
	"math"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/net"
)

// Whatever is missing or empty is an error of every exported function and method, not a panic.
func TestMissing(t *testing.T) {
	b, ctx, good := testbackend.Go(t), t.Context(), normal(1, 8, 2)
	p, err := density.Isotropic([]float64{0, 0}, 1)
	if err != nil {
		t.Fatal(err)
	}
	line, err := density.Isotropic([]float64{0}, 1)
	if err != nil {
		t.Fatal(err)
	}
	var (
		noContext context.Context
		noBackend backends.Backend
		noTensor  *tensors.Tensor
		noRows    [][]float64
		noNetwork *net.MLP
		noFitted  *scorekit.Fitted
		noScore   scorekit.Score
		noEnergy  scorekit.Energy
		noDensity *density.Gaussian
	)
	one, endless := Gaussian{[]float64{1}, [][]float64{{1}}}, Support{math.Inf(-1), math.Inf(1)}
	calls := map[string]func() error{
		"Boundary without a backend": func() error {
			_, err := Support{0, 1}.Boundary(ctx, noBackend, line, [][]float64{{0.2}, {0.4}})
			return err
		},
		"Boundary without a support": func() error { _, err := Support{}.Boundary(ctx, b, line, [][]float64{{0.2}, {0.4}}); return err },
		"ByParts without a backend":  func() error { _, err := Support{0, 1}.ByParts(ctx, noBackend, line, line); return err },
		"ByParts without a density":  func() error { _, err := Support{0, 1}.ByParts(ctx, b, noDensity, line); return err },
		"ByParts without a support":  func() error { _, err := Support{}.ByParts(ctx, b, line, line); return err },
		"Coverage of nothing":        func() error { _, err := Modes{}.Coverage(good); return err },
		"EffectiveSampleSize":        func() error { _, err := EffectiveSampleSize(ctx, nil); return err },
		"EffectiveSampleSize, rows":  func() error { _, err := EffectiveSampleSize(ctx, make([][]float64, 9)); return err },
		"RHat":                       func() error { _, err := RHat(ctx, nil); return err },
		"RHat, rows":                 func() error { _, err := RHat(ctx, make([][]float64, 9)); return err },
		"SplitRHat":                  func() error { _, err := SplitRHat(nil); return err },
		"Trace of a snapshot":        func() error { _, err := Trace([]scorekit.Snapshot{{}}, 0); return err },
		"Trace":                      func() error { _, err := Trace(nil, 0); return err },
		"MedianDistance of no set":   func() error { _, err := MedianDistance(); return err },
		"Gaussian W2":                func() error { _, err := Gaussian{}.W2(ctx, Gaussian{}); return err },
		"Gaussian W2, no covariance": func() error { _, err := Gaussian{Mean: []float64{1}}.W2(ctx, Gaussian{Mean: []float64{1}}); return err },
		"Gaussian ByParts":           func() error { _, err := Gaussian{}.ByParts(ctx, Gaussian{}); return err },
	}
	for name, x := range map[string]any{"nil": nil, "no tensor": noTensor, "no rows": noRows, "empty row": [][]float64{{}}, "empty tensor": &tensors.Tensor{}} {
		for what, call := range map[string]func() error{
			"Boundary":         func() error { _, err := Support{0, 1}.Boundary(ctx, b, line, x); return err },
			"ClassifierTest":   func() error { _, err := ClassifierTest{}.Test(ctx, good, x); return err },
			"Coverage":         func() error { _, err := Modes{Centres: good, Radius: 1}.Coverage(x); return err },
			"Energy":           func() error { _, err := Energy{}.Distance(ctx, x, good); return err },
			"Energy test":      func() error { _, err := Energy{}.Test(ctx, good, x); return err },
			"FisherDivergence": func() error { _, err := FisherDivergence(ctx, b, p, p, x); return err },
			"FiniteSetStein":   func() error { _, err := FiniteSetStein{Locations: good}.Squared(ctx, b, p, x); return err },
			"GaussianOf":       func() error { _, err := GaussianOf(ctx, x); return err },
			"ImplicitFisher":   func() error { _, _, err := ImplicitFisher{}.Estimate(ctx, b, p, x); return err },
			"ImplicitFisher's": func() error { _, err := ImplicitFisher{}.ByParts(ctx, b, p, p, x); return err },
			"KernelStein":      func() error { _, err := KernelStein{}.Squared(ctx, b, p, x); return err },
			"KernelStein test": func() error { _, err := KernelStein{}.Test(ctx, b, p, x); return err },
			"MedianDistance":   func() error { _, err := MedianDistance(x); return err },
			"MMD":              func() error { _, err := MMD{}.Squared(ctx, good, x); return err },
			"MMD test":         func() error { _, err := MMD{}.Test(ctx, x, good); return err },
			"Sliced":           func() error { _, err := Sliced{}.Distance(ctx, good, x); return err },
			"Sliced estimate":  func() error { _, _, err := Sliced{}.Estimate(ctx, x, good); return err },
			"Sliced Max":       func() error { _, _, err := Sliced{}.Max(ctx, x, x); return err },
			"Wasserstein":      func() error { _, err := Wasserstein{}.Distance(ctx, x, good); return err },
		} {
			calls[what+" of "+name] = call
		}
	}
	for name, m := range map[string]scorekit.Model{"nil": nil, "no network": noNetwork, "not fitted": noFitted, "empty fitted": &scorekit.Fitted{}, "no score": noScore, "no energy": noEnergy} {
		for what, call := range map[string]func() error{
			"Boundary":         func() error { _, err := Support{0, 1}.Boundary(ctx, b, m, [][]float64{{0.2}, {0.4}}); return err },
			"ByParts":          func() error { _, err := Support{0, 1}.ByParts(ctx, b, line, m); return err },
			"FiniteSetStein":   func() error { _, err := FiniteSetStein{Locations: good}.Squared(ctx, b, m, good); return err },
			"FisherDivergence": func() error { _, err := FisherDivergence(ctx, b, p, m, good); return err },
			"ImplicitFisher":   func() error { _, _, err := ImplicitFisher{}.Estimate(ctx, b, m, good); return err },
			"ImplicitFisher's": func() error { _, err := ImplicitFisher{}.ByParts(ctx, b, m, p, good); return err },
			"KernelStein":      func() error { _, err := KernelStein{}.Squared(ctx, b, m, good); return err },
			"KernelStein test": func() error { _, err := KernelStein{}.Test(ctx, b, m, good); return err },
		} {
			calls[what+" with "+name] = call
		}
	}
	for what, call := range map[string]func() error{
		"ClassifierTest":   func() error { _, err := ClassifierTest{}.Test(noContext, good, good); return err },
		"Energy":           func() error { _, err := Energy{}.Distance(noContext, good, good); return err },
		"Energy test":      func() error { _, err := Energy{}.Test(noContext, good, good); return err },
		"KernelStein":      func() error { _, err := KernelStein{}.Squared(noContext, b, p, good); return err },
		"KernelStein test": func() error { _, err := KernelStein{}.Test(noContext, b, p, good); return err },
		"MMD":              func() error { _, err := MMD{}.Squared(noContext, good, good); return err },
		"MMD test":         func() error { _, err := MMD{}.Test(noContext, good, good); return err },
		"Wasserstein":      func() error { _, err := Wasserstein{}.Distance(noContext, good, good); return err },

		"Boundary": func() error {
			_, err := Support{0, 1}.Boundary(noContext, b, line, [][]float64{{0.2}, {0.4}})
			return err
		},
		"Boundary at no end":  func() error { _, err := endless.Boundary(noContext, b, line, [][]float64{{0.2}, {0.4}}); return err },
		"ByParts":             func() error { _, err := Support{0, 1}.ByParts(noContext, b, line, line); return err },
		"EffectiveSampleSize": func() error { _, err := EffectiveSampleSize(noContext, good); return err },
		"FiniteSetStein":      func() error { _, err := FiniteSetStein{Locations: good}.Squared(noContext, b, p, good); return err },
		"FisherDivergence":    func() error { _, err := FisherDivergence(noContext, b, p, p, good); return err },
		"Gaussian ByParts":    func() error { _, err := one.ByParts(noContext, one); return err },
		"Gaussian W2":         func() error { _, err := one.W2(noContext, one); return err },
		"GaussianOf":          func() error { _, err := GaussianOf(noContext, good); return err },
		"ImplicitFisher":      func() error { _, _, err := ImplicitFisher{}.Estimate(noContext, b, p, good); return err },
		"ImplicitFisher's":    func() error { _, err := ImplicitFisher{}.ByParts(noContext, b, p, p, good); return err },
		"RHat":                func() error { _, err := RHat(noContext, good); return err },
		"Sliced":              func() error { _, err := Sliced{}.Distance(noContext, good, good); return err },
		"Sliced estimate":     func() error { _, _, err := Sliced{}.Estimate(noContext, good, good); return err },
		"Sliced Max":          func() error { _, _, err := Sliced{}.Max(noContext, good, good); return err },
	} {
		calls[what+" without a context"] = call
	}
	for what, call := range map[string]func() error{
		"FiniteSetStein":   func() error { _, err := FiniteSetStein{Locations: good}.Squared(ctx, noBackend, p, good); return err },
		"FisherDivergence": func() error { _, err := FisherDivergence(ctx, noBackend, p, p, good); return err },
		"ImplicitFisher":   func() error { _, _, err := ImplicitFisher{}.Estimate(ctx, noBackend, p, good); return err },
		"ImplicitFisher's": func() error { _, err := ImplicitFisher{}.ByParts(ctx, noBackend, p, p, good); return err },
		"KernelStein":      func() error { _, err := KernelStein{}.Squared(ctx, noBackend, p, good); return err },
		"KernelStein test": func() error { _, err := KernelStein{}.Test(ctx, noBackend, p, good); return err },
	} {
		calls[what+" without a backend"] = call
	}
	testvalues.Refused(t, "metric: ", calls)
	if err := (BoundaryTerm{}).Check(); err != nil {
		t.Error(err)
	}
}
