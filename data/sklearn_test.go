package data_test

import (
	"math"
	"slices"
	"testing"

	"github.com/scorekit/lab/data"
	"github.com/scorekit/lab/internal/testvalues"
)

// The numbers of scikit-learn's StandardScaler, PCA and MinMaxScaler and of SciPy's logit on three of its wines, made by
// testdata/wine_sklearn.py. The sign of a principal component is free.
func TestWineAsScikitLearn(t *testing.T) {
	var want struct {
		ID                                string
		Rows                              []int
		Mean, Std, Eigenvalues            []float64
		Standard, PCA, ZCA, MinMax, Logit [][]float64
	}
	testvalues.Read(t, "wine-sklearn.json", &want)
	wine, err := data.Wine()
	if err != nil {
		t.Fatal(err)
	}
	testvalues.Case(t, want.ID, func(t *testing.T) {
		for name, c := range map[string]struct {
			chain data.Chain
			want  [][]float64
		}{
			"standard": {data.Chain{data.Standardizer{}}, want.Standard},
			"pca":      {data.Chain{data.Whitener{}}, want.PCA},
			"zca":      {data.Chain{data.Whitener{ZCA: true}}, want.ZCA},
			"minmax":   {data.Chain{data.MinMax{}}, want.MinMax},
			"logit":    {data.Chain{data.MinMax{}, data.Logit{}}, want.Logit},
		} {
			f := fitted(t, c.chain, wine.Rows())
			z, err := f.Apply(wine.X)
			if err != nil {
				t.Fatal(err)
			}
			for k, i := range want.Rows {
				got := slices.Clone(data.Set{X: z}.Rows()[i])
				for j := range got {
					if name == "pca" {
						got[j] = math.Abs(got[j])
					}
				}
				// Wines differ by about 1 in z; the least eigenvalue, 0.1, makes 10 of the rounding of the correlations.
				testvalues.Near(t, name, got, c.want[k], 1e-11)
			}
			switch f := f.(data.Chain)[0].(type) {
			case data.Standardizer:
				testvalues.Near(t, "mean", f.Mean, want.Mean, 1e-13)
				testvalues.Near(t, "std", f.Std, want.Std, 1e-13)
			case data.Whitener:
				for k, s := range f.Spread {
					testvalues.NearNumber(t, "eigenvalue", s*s, want.Eigenvalues[k], 1e-12)
				}
			}
		}
	})
}
