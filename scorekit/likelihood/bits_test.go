package likelihood_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/likelihood"
	"github.com/scorekit/lab/scorekit/sde"
)

// The listed offsets: none, 256 bins on [0, 1] and on [−1, 1], and (k+u)/255.
func TestBits(t *testing.T) {
	var cases []struct {
		ID     string
		Inputs struct {
			Nats float64 `json:"loglik_nats"`
			D    int
		}
		Expected struct {
			None   float64 `json:"no_offset"`
			Unit   float64 `json:"unit_interval_256"`
			Signed float64 `json:"minus1_1_256"`
			By255  float64 `json:"unit_interval_255"`
		}
	}
	testvalues.Read(t, "bits.json", &cases)
	for _, c := range cases {
		testvalues.Case(t, c.ID, func(t *testing.T) {
			nats, d := c.Inputs.Nats, c.Inputs.D
			for _, test := range []struct {
				name      string
				got, want float64
			}{
				{"no offset", likelihood.BitsPerDim(nats, d), c.Expected.None},
				{"0 … 256", likelihood.Bins{Count: 256, High: 256}.BitsPerDim(nats, d), c.Expected.None},
				{"0 … 1", likelihood.Bins{Count: 256, High: 1}.BitsPerDim(nats, d), c.Expected.Unit},
				{"−1 … 1", likelihood.Bins{Count: 256, Low: -1, High: 1}.BitsPerDim(nats, d), c.Expected.Signed},
				{"0 … 256/255", likelihood.Bins{Count: 256, High: 256. / 255}.BitsPerDim(nats, d), c.Expected.By255},
			} {
				testvalues.NearNumber(t, test.name, test.got, test.want, 1e-9)
			}
		})
	}
}

// A uniform density on the range has log₂ Count bits, for any number of bins and any range.
func TestUniformBits(t *testing.T) {
	for _, count := range []int{2, 7, 32, 256, 1000, 65536} {
		for _, ends := range [][2]float64{{0, 1}, {-1, 1}, {-3, 7}, {100, 100.5}, {0, 65536}} {
			b := likelihood.Bins{Count: count, Low: ends[0], High: ends[1]}
			const d = 5
			nats := -d * math.Log(ends[1]-ends[0])
			testvalues.NearNumber(t, fmt.Sprint(b), b.BitsPerDim(nats, d), math.Log2(float64(count)), 1e-12)
		}
	}
}

// Integers through dequantisation, the ODE and the offset: of N(μ, s²) on the range, the mean of 2^−bits over draws within a
// cell is the cell's probability, for which a closed form is known, within 5 standard errors. The model of another range is
// another Gaussian with another SDE, and the bits of the same draws are the same.
func TestDequantized(t *testing.T) {
	const perCell, mean, std = 200, 0.4, 0.2 // in units of the range
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		var first []float64
		for _, bins := range []likelihood.Bins{{Count: 6, High: 1}, {Count: 6, Low: -3, High: 7}, {Count: 11, Low: -1, High: 1}} {
			var points [][]float64
			for range perCell {
				for k := range bins.Count {
					points = append(points, []float64{float64(k)})
				}
			}
			x, err := bins.Dequantize(points, 3)
			if err != nil {
				t.Fatal(err)
			}
			span := bins.High - bins.Low
			model := diagonal(t, []float64{bins.Low + mean*span}, []float64{std * span})
			process := sde.VE{SigmaMin: 1e-5 * span, SigmaMax: 1e5 * span} // noise far below the cells, prior far above
			r := logDensity(t, b, model, x, likelihood.Settings{SDE: process, Chunk: 2000})
			cells := make([][]float64, bins.Count)
			var all []float64
			for i, logp := range r.LogDensity {
				bits := bins.BitsPerDim(logp, 1)
				all = append(all, bits)
				cells[i%bins.Count] = append(cells[i%bins.Count], math.Exp2(-bits))
			}
			for k, values := range cells {
				cdf := func(k int) float64 {
					return 0.5 * math.Erfc(-(float64(k)/float64(bins.Count)-mean)/std/math.Sqrt2)
				}
				testvalues.MeanWithin(t, fmt.Sprintf("%v, cell %d", bins, k), values, cdf(k+1)-cdf(k))
			}
			if first == nil {
				first = all
			} else if len(all) == len(first) {
				testvalues.NearOne(t, "bits on another range", all, first, 1e-4)
			}
		}
	})
}

func TestDequantize(t *testing.T) {
	image := tensors.FromFlatDataAndDimensions([]float32{0, 1, 2, 3, 3, 2, 1, 0}, 2, 1, 2, 2)
	b := likelihood.Bins{Count: 4, Low: -2, High: 6}
	x, err := b.Dequantize(image, 7)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(x.Shape()); got != "(Float64)[2 1 2 2]" {
		t.Errorf("shape %s", got)
	}
	before, _ := scorekit.Rows(image)
	after, err := scorekit.Rows(x)
	if err != nil {
		t.Fatal(err)
	}
	for i := range before {
		for j, k := range before[i] {
			if got := math.Floor((after[i][j] + 2) / 2); got != k {
				t.Errorf("%v is in cell %v, want %v", after[i][j], got, k)
			}
		}
	}
	again, err := b.Dequantize(image, 7)
	if err != nil || !again.Equal(x) {
		t.Errorf("the same seed gave other draws, or %v", err)
	}
	for _, test := range []struct {
		bins   likelihood.Bins
		points [][]float64
		want   string
	}{
		{likelihood.Bins{Count: 1, High: 1}, [][]float64{{0}}, "likelihood: Bins: count 1: must be at least 2"},
		{likelihood.Bins{Count: 2}, [][]float64{{0}}, "likelihood: Bins: range from 0 to 0: must be finite and rising"},
		{likelihood.Bins{Count: 2, High: math.NaN()}, [][]float64{{0}}, "likelihood: Bins: range from 0 to NaN: must be finite and rising"},
		{b, [][]float64{{0, 4}}, "likelihood: Dequantize: point 0, number 1: 4: must be an integer from 0 to 3"},
		{b, [][]float64{{0}, {-1}}, "likelihood: Dequantize: point 1, number 0: -1: must be an integer from 0 to 3"},
		{b, [][]float64{{0.5}}, "likelihood: Dequantize: point 0, number 0: 0.5: must be an integer from 0 to 3"},
		{b, nil, "likelihood: Dequantize: points: there must be at least one, with at least one column"},
	} {
		if _, err := test.bins.Dequantize(test.points, 0); err == nil || err.Error() != test.want {
			t.Errorf("error %v, want %s", err, test.want)
		}
	}
}
