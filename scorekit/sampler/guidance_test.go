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
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/net"
	"github.com/scorekit/lab/scorekit/objective"
	"github.com/scorekit/lab/scorekit/sampler"
)

// seen is −log p(y | x, σ) up to a constant, for x₀ ~ N(m, C) in the plane and y = the second number of x₀ + N(0, tau²). Given
// x = x₀ + σz, x₀ is N(D, V) with D = m + C(C+σ²)⁻¹(x−m) and V = C − C(C+σ²)⁻¹C, and y is N(D₂, V₂₂ + tau²).
func seen(m [2]float64, c [2][2]float64, y, tau float64) scorekit.Energy {
	return func(_ *mlctx.Context, x, sigma *sampler.Node) *sampler.Node {
		v := graph.Square(sigma)
		p, r := graph.AddScalar(v, c[0][0]), graph.AddScalar(v, c[1][1])
		det := graph.AddScalar(graph.Mul(p, r), -c[0][1]*c[0][1])
		// The second row of C(C+σ²)⁻¹.
		k0 := graph.Div(graph.Sub(graph.MulScalar(r, c[0][1]), graph.MulScalar(graph.OnesLike(r), c[0][1]*c[1][1])), det)
		k1 := graph.Div(graph.AddScalar(graph.MulScalar(p, c[1][1]), -c[0][1]*c[0][1]), det)
		pick := func(j int) *sampler.Node {
			axis := [][]float64{{0}, {0}}
			axis[j][0] = 1
			return graph.AddScalar(graph.Reshape(graph.Dot(x, graph.Const(x.Graph(), axis)), -1), -m[j])
		}
		mean := graph.AddScalar(graph.Add(graph.Mul(k0, pick(0)), graph.Mul(k1, pick(1))), m[1])
		spread := graph.Sub(graph.MulScalar(graph.OnesLike(v), c[1][1]+tau*tau), graph.Add(graph.MulScalar(k0, c[0][1]), graph.MulScalar(k1, c[1][1])))
		return graph.Div(graph.Square(graph.AddScalar(graph.Neg(mean), y)), graph.MulScalar(spread, 2))
	}
}

// The 2-D example with a known answer: a Gaussian of which the second number is seen with noise. With the exact noised
// likelihood the guided score is that of the posterior at every noise level, and 4,000 chains of DDPM are draws from the
// posterior, N(m + Cₓ(y − m₂), C − CₓCₓᵀ(C₂₂ + tau²)) with Cₓ = C_{·2}/(C₂₂ + tau²), within 5 standard errors.
func TestGuideGaussian(t *testing.T) {
	const y, tau, chains = 1.5, 0.3, 4000
	m, c := [2]float64{0.5, -0.5}, [2][2]float64{{1, 0.8}, {0.8, 1.2}}
	p, err := density.NewGaussian(m[:], [][]float64{c[0][:], c[1][:]})
	if err != nil {
		t.Fatal(err)
	}
	total := c[1][1] + tau*tau
	mean, cov := make([]float64, 2), make([][]float64, 2)
	for i := range 2 {
		mean[i] = m[i] + c[i][1]/total*(y-m[1])
		for j := range 2 {
			cov[i] = append(cov[i], c[i][j]-c[i][1]*c[j][1]/total)
		}
	}
	posterior, err := density.NewGaussian(mean, cov)
	if err != nil {
		t.Fatal(err)
	}
	guided, err := sampler.Guide(p, seen(m, c, y, tau), 1)
	if err != nil {
		t.Fatal(err)
	}
	chain := chainOf(t, "linear", 1000, 1e-4, 0.02)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		points := [][]float64{{0, 0}, {1, -2}, {30, 10}, {-1, 1}, {2, 2}}
		sigmas := []float64{0.01, 0.3, 20, 1, 5}
		got, err := scorekit.Evaluate(context.Background(), b, guided, points, sigmas...)
		if err != nil {
			t.Fatal(err)
		}
		want, err := scorekit.Evaluate(context.Background(), b, posterior, points, sigmas...)
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range rowsOf(t, got) {
			testvalues.NearOne(t, "guided score", row, rowsOf(t, want)[i], 1e-9)
		}
		d, err := scorekit.Sample(context.Background(), b, guided, sampler.DDPM{Chain: chain, Steps: 500}, chains,
			scorekit.WithDType(dtypes.Float64), scorekit.WithSeed(2), scorekit.WithUnroll(1))
		if err != nil {
			t.Fatal(err)
		}
		(&linearRun{mean: [2]float64(mean), cov: [2][2]float64{[2]float64(cov[0]), [2]float64(cov[1])}}).compare(t, "posterior", d.X)
	})
}

// A guided score has the weights of both parts, also when it is guided again, and none of their names clash.
func TestGuideWeights(t *testing.T) {
	ctx, b := context.Background(), testbackend.Go(t)
	data, err := scorekit.Examples([][]float64{{-1, 0}, {1, 0.5}})
	if err != nil {
		t.Fatal(err)
	}
	var models []scorekit.Model
	for seed := range int64(3) {
		f, err := scorekit.Fit(ctx, b, net.NoiseMLP{Hidden: []int{4}}, objective.MultiNoise{Min: 0.1, Max: 1}, data,
			scorekit.WithSteps(3), scorekit.WithBatch(4), scorekit.WithSeed(seed))
		if err != nil {
			t.Fatal(err)
		}
		models = append(models, f)
	}
	plain := scorekit.Score(func(_ *mlctx.Context, x, _ *sampler.Node) *sampler.Node { return x })
	guide := func(model, term scorekit.Model, scale float64) scorekit.Model {
		g, err := sampler.Guide(model, term, scale)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	points := [][]float64{{0.3, -0.2}, {1, 2}}
	at := func(m scorekit.Model) []float64 {
		out, err := scorekit.Evaluate(context.Background(), b, m, points, 0.5)
		if err != nil {
			t.Fatal(err)
		}
		return slices.Concat(rowsOf(t, out)...)
	}
	s := [][]float64{at(models[0]), at(models[1]), at(models[2]), slices.Concat(points...)}
	for _, test := range []struct {
		name    string
		got     scorekit.Model
		weights [4]float64
	}{
		{"two networks", guide(models[0], models[1], 0.5), [4]float64{1, 0.5}},
		{"term without weights", guide(models[0], plain, -2), [4]float64{1, 0, 0, -2}},
		{"model without weights", guide(plain, models[2], 3), [4]float64{0, 0, 3, 1}},
		{"guided again", guide(guide(models[0], models[1], 0.5), models[2], 2), [4]float64{1, 0.5, 2}},
		{"guided term", guide(models[2], guide(models[0], models[1], -1), 2), [4]float64{2, -2, 1}},
		{"no guidance", guide(models[0], models[1], 0), [4]float64{1}},
	} {
		want := make([]float64, 4)
		for i := range want {
			for k, w := range test.weights {
				want[i] += w * s[k][i]
			}
		}
		testvalues.NearOne(t, test.name, at(test.got), want, 1e-6) // float32
	}
	// Sample knows its weights and the shape of its points, too.
	d, err := scorekit.Sample(ctx, b, guide(models[0], models[1], 0.5), sampler.AnnealedLangevin{Sigmas: []float64{0.5}, StepsPerLevel: 2, StepSize: 0.1}, 3)
	if err != nil || !slices.Equal(d.X.Shape().Dimensions, []int{3, 2}) {
		t.Errorf("%v, %v", d, err)
	}
}

func TestGuideErrors(t *testing.T) {
	p, err := density.Isotropic([]float64{0}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		model, term scorekit.Model
		scale       float64
		want        string
	}{
		{nil, p, 1, "sampler: Guide: model and term: both must be given"},
		{p, nil, 1, "sampler: Guide: model and term: both must be given"},
		{p, p, math.NaN(), "sampler: Guide: scale NaN: must be finite"},
	} {
		if _, err := sampler.Guide(test.model, test.term, test.scale); err == nil || err.Error() != test.want {
			t.Errorf("error %v, want %s", err, test.want)
		}
	}
	narrow := scorekit.Score(func(_ *mlctx.Context, x, _ *sampler.Node) *sampler.Node { return graph.ReduceSum(x, 1) })
	g, err := sampler.Guide(p, narrow, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := scorekit.Evaluate(context.Background(), testbackend.Go(t), g, [][]float64{{1}, {2}}); err == nil || !contains(err, "term of shape") {
		t.Errorf("a term of another shape: %v", err)
	}
	zero, err := sampler.Guide(density.Gaussian{}, p, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := scorekit.Evaluate(context.Background(), testbackend.Go(t), zero, [][]float64{{1}}); err == nil {
		t.Error("a model that is not valid was taken")
	}
}
