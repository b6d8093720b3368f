package metric

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/gomlx/gomlx/backends"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit/density"
)

// hyppo's statistic of its FSSD is n times U, and its features are those here, [points, dimension, location]; its kernel
// exp(−‖x−y‖²/(2σ²)) is RBF with c = σ.
func TestFiniteSetSteinOfHyppo(t *testing.T) {
	var cases []struct {
		ID                string
		Mean              []float64
		Cov, X, Locations [][]float64
		Sigma2            float64
		Statistic         float64 `json:"n_fssd2"`
		Features          [][][]float64
	}
	testvalues.Read(t, "hyppo_fssd.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for _, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				p, err := density.NewGaussian(c.Mean, c.Cov)
				if err != nil {
					t.Fatal(err)
				}
				f := FiniteSetStein{Locations: c.Locations, Kernel: RBF, Scale: math.Sqrt(c.Sigma2)}
				features, err := f.features(t.Context(), b, p, c.X, nil)
				if err != nil {
					t.Fatal(err)
				}
				for i, row := range features {
					var want []float64
					for j := range c.Locations {
						for l := range c.Mean {
							want = append(want, c.Features[i][l][j])
						}
					}
					testvalues.Near(t, "features", row, want, 1e-9)
				}
				got, err := f.Squared(t.Context(), b, p, c.X)
				if err != nil {
					t.Fatal(err)
				}
				testvalues.NearNumber(t, "n·U", float64(len(c.X))*got.U, c.Statistic, 1e-9)
			})
		}
	})
}

// For a target N(0, I), draws from N(δ, I) and RBF, E ξ(x, v) = −δ E k(x, v) by Stein's identity for N(δ, I), so that
// FSSD² = ‖δ‖²/(dJ) Σⱼ (E k(x, vⱼ))² with E k = (c²/(c²+1))^{d/2} e^{−‖v−δ‖²/(2(c²+1))}. On draws U is within 5 of its
// standard errors of it; over 400 sets it has that mean and scatters as these say: the variance is known to 7 %, and 3
// of these are allowed. V is the plain mean over all pairs.
func TestFiniteSetSteinOfShiftedNormal(t *testing.T) {
	const c, n, sets = 1.3, 60, 400
	shift := []float64{0.9, -0.4}
	f := FiniteSetStein{Locations: [][]float64{{0, 0}, {1, -1}, {-0.5, 2}}, Kernel: RBF, Scale: c}
	want := 0.0
	for _, v := range f.Locations {
		k := c * c / (c*c + 1) * math.Exp(-squaredDistance(v, shift)/(2*(c*c+1)))
		want += floats.Dot(shift, shift) * k * k / 6
	}
	p, err := density.Isotropic([]float64{0, 0}, 1)
	if err != nil {
		t.Fatal(err)
	}
	b, x := testbackend.Go(t), moved(normal(1, n*sets, 2), 1, shift)
	got, err := f.Squared(t.Context(), b, p, x)
	if err != nil {
		t.Fatal(err)
	}
	if !(math.Abs(got.U-want) <= 5*got.StandardError) || !(got.StandardError < 0.05*want) {
		t.Errorf("U = %v ± %v, want %v to a twentieth", got.U, got.StandardError, want)
	}
	var values, claimed []float64
	for i := range sets {
		s, err := f.Squared(t.Context(), b, p, x[i*n:(i+1)*n])
		if err != nil {
			t.Fatal(err)
		}
		values, claimed = append(values, s.U), append(claimed, s.StandardError*s.StandardError)
	}
	testvalues.MeanWithin(t, "U", values, want)
	_, se := meanAndError(values)
	if ratio := mean(claimed) / (se * se * sets); !(ratio > 1-0.21) || !(ratio < 1.2+0.21) {
		t.Errorf("mean square of the standard error is %v of the variance, want from 1 to 1.2", ratio)
	}

	// By hand, with IMQ: of two features the slope of k is checked by differences, and V by its definition.
	f.Kernel = IMQ
	rows, err := f.features(t.Context(), b, p, x[:5], nil)
	if err != nil {
		t.Fatal(err)
	}
	k := func(x, v []float64) float64 { return 1 / math.Sqrt(c*c+squaredDistance(x, v)) }
	const h = 1e-5
	for i, row := range rows {
		for j, v := range f.Locations {
			for l := range 2 {
				up, down := []float64{x[i][0], x[i][1]}, []float64{x[i][0], x[i][1]}
				up[l], down[l] = up[l]+h, down[l]-h
				slope := (k(up, v) - k(down, v)) / (2 * h)
				testvalues.NearNumber(t, "feature", row[2*j+l], (-x[i][l]*k(x[i], v)+slope)/math.Sqrt(6), 1e-8)
			}
		}
	}
	all := make([]float64, len(rows[0]))
	for _, row := range rows {
		floats.AddScaled(all, 1.0/5, row)
	}
	small, err := f.Squared(t.Context(), b, p, x[:5])
	if err != nil {
		t.Fatal(err)
	}
	testvalues.NearNumber(t, "V", small.V, floats.Dot(all, all), 1e-12)
}
