package sampler_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/random"
	"github.com/scorekit/lab/scorekit/sampler"
	"github.com/scorekit/lab/scorekit/sde"
)

func contains(err error, text string) bool { return strings.Contains(err.Error(), text) }

// inpainted is the exact law of Inpaint's chains on N(m, C), when the second of two numbers is known.
func inpainted(t *testing.T, s sampler.Inpaint, m [2]float64, c [2][2]float64) *linearRun {
	t.Helper()
	levels, err := s.Sampler.NoiseLevels()
	if err != nil {
		t.Fatal(err)
	}
	l := newLinearRun(t, s, m, c)
	replace := func(at sde.Level) {
		l.mean[1] = at.Mean * s.Known[1]
		l.cov[0][1], l.cov[1][0], l.cov[1][1] = 0, 0, at.Std*at.Std
	}
	replace(levels[0])
	for i, row := range schedule(t, s.Sampler).Rows {
		for k := range max(1, s.Repeats) {
			if k > 0 {
				r := levels[i].Mean / levels[i+1].Mean
				q2 := levels[i].Std*levels[i].Std - r*r*levels[i+1].Std*levels[i+1].Std
				l.apply([2][2]float64{{r, 0}, {0, r}}, [2]float64{}, q2)
			}
			l.step(row)
			replace(levels[i+1])
		}
	}
	return l
}

// The 2-D example with a known answer: N(0, [1 ρ; ρ 1]), ρ = 0.8, whose second number is known to be c. Exactly, the first
// is N(ρc, 1 − ρ²). The replacement method gives something else, which is computed exactly here, as all steps are linear:
// the shares of the conditional mean and variance that the documentation of Inpaint tells. The chains have it within 5
// standard errors.
func TestInpaintGaussian(t *testing.T) {
	const rho, c = 0.8, 1.5
	mean, cov := [2]float64{}, [2][2]float64{{1, rho}, {rho, 1}}
	p, err := density.NewGaussian(mean[:], [][]float64{cov[0][:], cov[1][:]})
	if err != nil {
		t.Fatal(err)
	}
	chain := chainOf(t, "linear", 1000, 1e-4, 0.02)
	inpaint := func(s sampler.Noised, repeats int) sampler.Inpaint {
		return sampler.Inpaint{Sampler: s, Known: []float64{math.NaN(), c}, Mask: []bool{false, true}, Repeats: repeats}
	}
	all := sampler.DDPM{Chain: chain}
	hundred := sampler.DDPM{Chain: chain, Steps: 100, Spacing: sde.Trailing}
	for _, told := range []struct {
		s              sampler.Inpaint
		mean, variance float64 // shares of the exact ones
	}{
		{inpaint(all, 1), 0.62, 1.36},
		{inpaint(sampler.DDIM{Chain: chain}, 1), 0.43, 1.66},
		{inpaint(all, 10), 0.96, 0.99},
		{inpaint(hundred, 10), 0.96, 0.79},
	} {
		l := inpainted(t, told.s, mean, cov)
		got := [2]float64{l.mean[0] / (rho * c), l.cov[0][0] / (1 - rho*rho)}
		if math.Abs(got[0]-told.mean) > 0.005 || math.Abs(got[1]-told.variance) > 0.005 {
			t.Errorf("%T, %d repeats: shares %.3f of the conditional mean and variance, documented as %v and %v", told.s.Sampler, told.s.Repeats, got, told.mean, told.variance)
		}
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for _, s := range []sampler.Inpaint{
			inpaint(sampler.DDPM{Chain: chain, Steps: 25, Spacing: sde.Trailing}, 0),
			inpaint(sampler.DDIM{Chain: chain, Steps: 10, Spacing: sde.Trailing, Eta: 0.5}, 4),
		} {
			d := sample(t, b, p, s)
			law := inpainted(t, s, mean, cov)
			law.cov[1][1], law.cov[0][1], law.cov[1][0] = 0, 0, 0
			name := fmt.Sprintf("%d repeats", s.Repeats)
			testvalues.MeanWithin(t, name+": mean", column(t, d.X, func(x []float64) float64 { return x[0] }), law.mean[0])
			testvalues.MeanWithin(t, name+": variance", column(t, d.X, func(x []float64) float64 {
				return (x[0] - law.mean[0]) * (x[0] - law.mean[0])
			}), law.cov[0][0])
			for _, v := range column(t, d.X, func(x []float64) float64 { return x[1] }) {
				if v != c {
					t.Fatalf("a known number became %v, want %v", v, c)
				}
			}
		}
	})
}

// One step with listed noise, on images: the known numbers are a·Known + b·z of the level after the step, the others those
// of the sampler; a repeat goes back first.
func TestInpaintStep(t *testing.T) {
	levels := []sde.Level{{Mean: 0.6, Std: 0.8}, {Mean: 0.8, Std: 0.6}, {Mean: 1}}
	inner := sampler.DDIM{Levels: levels}
	s := sampler.Inpaint{Sampler: inner, Known: []float64{7, 8, 9, 10}, Mask: []bool{true, false, false, true}, Repeats: 2}
	all := schedule(t, s)
	if len(all.Rows) != 4 {
		t.Fatalf("%d rows, want 2 of each of 2", len(all.Rows))
	}
	got, err := s.NoiseLevels()
	if err != nil || len(got) != 5 || got[1] != levels[1] || got[2] != levels[1] || got[4] != levels[2] {
		t.Errorf("levels %v, %v", got, err)
	}
	r := 0.75
	q := math.Sqrt(0.64 - r*r*0.36)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		out := testvalues.Run(t, b, func(g *graph.Graph) []*sampler.Node {
			of := func(values ...float64) *sampler.Node { return graph.Reshape(graph.Const(g, values), 1, 2, 2) }
			x, back, fresh, first := of(1, 2, 3, 4), of(0.1, 0.2, 0.3, 0.4), of(-1, 1, -2, 2), of(5, 6, 7, 8)
			score := scorekit.Energy(bowl).Score
			start := s.Init(nil, random.Listed(g, first), score, x)
			row := func(s scorekit.Schedule, i int) (nodes []*sampler.Node) {
				for _, v := range s.Rows[i] {
					nodes = append(nodes, graph.Scalar(g, x.DType(), v))
				}
				return nodes
			}
			after, _ := s.Step(nil, random.Listed(g, back, fresh), score, scorekit.State{X: x}, row(all, 1))
			raised := graph.Add(graph.MulScalar(x, r), graph.MulScalar(back, q))
			plain, _ := inner.Step(nil, random.Listed(g), score, scorekit.State{X: raised}, row(schedule(t, inner), 0))
			end, _ := s.Step(nil, random.Listed(g, back, fresh), score, scorekit.State{X: x}, row(all, 2))
			return []*sampler.Node{start.X, after.X, plain.X, end.X, s.Predict(nil, score, x, row(all, 1))}
		})
		testvalues.NearOne(t, "start", out[0], []float64{0.6*7 + 0.8*5, 2, 3, 0.6*10 + 0.8*8}, 1e-14)
		testvalues.NearOne(t, "after a repeat", out[1], []float64{0.8*7 - 0.6, out[2][1], out[2][2], 0.8*10 + 0.6*2}, 1e-14)
		if out[3][0] != 7 || out[3][3] != 10 || out[4][0] != 7 || out[4][3] != 10 || out[3][1] == 8 {
			t.Errorf("at the end %v, predicted %v: want 7 and 10 exactly, and only these", out[3], out[4])
		}
	})
}

// Annealed Langevin chains fill in, too: on independent numbers the known ones do not matter to the others, whose moments
// are those without them; and its levels are as documented.
func TestInpaintAnnealed(t *testing.T) {
	inner := sampler.AnnealedLangevin{Sigmas: []float64{2, 0.5}, StepsPerLevel: 2, StepSize: 0.1, Denoise: true}
	levels, err := inner.NoiseLevels()
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(levels); got != "[{1 2} {1 2} {1 2} {1 0.5} {1 0.5} {1 0}]" {
		t.Errorf("levels %s", got)
	}
	p, err := density.Diagonal([]float64{1, -1}, []float64{0.5, 2})
	if err != nil {
		t.Fatal(err)
	}
	b := testbackend.Go(t)
	free := sample(t, b, p, inner)
	d := sample(t, b, p, sampler.Inpaint{Sampler: inner, Known: []float64{0, 3}, Mask: []bool{false, true}})
	first := func(x []float64) float64 { return x[0] }
	a, f := column(t, d.X, first), column(t, free.X, first)
	gap := make([]float64, len(a)) // of independent runs
	for i := range a {
		gap[i] = a[i] - f[i]
	}
	testvalues.MeanWithin(t, "mean beside that without known numbers", gap, 0)
	for _, v := range column(t, d.X, func(x []float64) float64 { return x[1] }) {
		if v != 3 {
			t.Fatalf("a known number became %v, want 3", v)
		}
	}
}
