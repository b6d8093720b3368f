package benchmark

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/scorekit/lab/data"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/metric"
)

// What is judged here is judged by the same formulas in bench/peers/common.py, on as many points; only the points differ.

const judgeSeed = 12345

// noised adds noise of the level of each row, sigma of its number, to points, and returns it.
func noised(x *tensors.Tensor, rng *rand.Rand, sigma func(row int) float64) (noise []float32, err error) {
	noise = make([]float32, x.Size())
	width := x.Size() / x.Shape().Dimensions[0]
	err = x.MutableFlatData(func(flat any) {
		for i, values := 0, flat.([]float32); i < len(values); i++ {
			noise[i] = float32(rng.NormFloat64())
			values[i] += float32(sigma(i/width)) * noise[i]
		}
	})
	return noise, err
}

func judgeFisher(ctx context.Context, b backends.Backend, truth, fitted scorekit.Model, x *tensors.Tensor, sigma ...float64) (float64, error) {
	f, err := metric.FisherDivergence(ctx, b, truth, fitted, x, sigma...)
	return f.Relative, err
}

// judgeRingAt judges a score of the ring at noise levels.
func judgeRingAt(ctx context.Context, b backends.Backend, fitted *scorekit.Fitted, levels map[string]float64) (map[string]float64, error) {
	truth, err := ring.Density()
	if err != nil {
		return nil, err
	}
	out := map[string]float64{}
	for name, sigma := range levels {
		set, err := ring.Sample(20_000, judgeSeed)
		if err != nil {
			return nil, err
		}
		var at []float64
		if sigma > 0 {
			at = []float64{sigma}
			if _, err := noised(set.X, rand.New(rand.NewPCG(judgeSeed, 0)), func(int) float64 { return sigma }); err != nil {
				return nil, err
			}
		}
		if out[name], err = judgeFisher(ctx, b, truth, fitted, set.X, at...); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func judgeDenoised(ctx context.Context, b backends.Backend, fitted *scorekit.Fitted) (map[string]float64, error) {
	return judgeRingAt(ctx, b, fitted, map[string]float64{"fisher_rel": 0.5})
}

func judgeRing(ctx context.Context, b backends.Backend, fitted *scorekit.Fitted) (map[string]float64, error) {
	return judgeRingAt(ctx, b, fitted, map[string]float64{"fisher_rel": 0})
}

func judgeRingNoised(ctx context.Context, b backends.Backend, fitted *scorekit.Fitted) (map[string]float64, error) {
	levels := map[string]float64{}
	for _, sigma := range []float64{0.05, 0.5, 5} {
		levels["fisher_rel_"+strconv.FormatFloat(sigma, 'g', -1, 64)] = sigma
	}
	return judgeRingAt(ctx, b, fitted, levels)
}

func judgeGauss(d int) func(ctx context.Context, b backends.Backend, fitted *scorekit.Fitted) (map[string]float64, error) {
	return func(ctx context.Context, b backends.Backend, fitted *scorekit.Fitted) (map[string]float64, error) {
		truth, err := gauss(d).Density()
		if err != nil {
			return nil, err
		}
		set, err := gauss(d).Sample(10_000, judgeSeed)
		if err != nil {
			return nil, err
		}
		f, err := judgeFisher(ctx, b, truth, fitted, set.X)
		return map[string]float64{"fisher_rel": f}, err
	}
}

// noiseError is the mean over the rows of ‖σ s(x + σz, σ) + z‖², ln σ ~ U(ln 0.01, ln 1).
func noiseError(ctx context.Context, b backends.Backend, fitted *scorekit.Fitted, x *tensors.Tensor) (float64, error) {
	rng, n := rand.New(rand.NewPCG(judgeSeed, 0)), x.Shape().Dimensions[0]
	levels := make([]float64, n)
	for i := range levels {
		levels[i] = 0.01 * math.Pow(100, rng.Float64())
	}
	noise, err := noised(x, rng, func(row int) float64 { return levels[row] })
	if err != nil {
		return 0, err
	}
	scores, err := scorekit.Evaluate(ctx, b, fitted, x, levels...)
	if err != nil {
		return 0, err
	}
	sum, width := 0.0, x.Size()/n
	err = scores.ConstFlatData(func(flat any) {
		for i, s := range flat.([]float32) {
			r := levels[i/width]*float64(s) + float64(noise[i])
			sum += r * r
		}
	})
	return sum / float64(n), err
}

func judgeDigits(ctx context.Context, b backends.Backend, fitted *scorekit.Fitted) (map[string]float64, error) {
	set, err := data.Digits()
	if err != nil {
		return nil, err
	}
	rows := slices.Repeat(set.Rows(), 4)
	loss, err := noiseError(ctx, b, fitted, toFloat32(rows))
	return map[string]float64{"denoising_loss": loss}, err
}

func judgeConv(ctx context.Context, b backends.Backend, fitted *scorekit.Fitted) (map[string]float64, error) {
	loss, err := noiseError(ctx, b, fitted, drawBlobs(rand.New(rand.NewPCG(judgeSeed, 1)), 512))
	return map[string]float64{"loss_per_pixel": loss / (blobSide * blobSide)}, err
}

func toFloat32(rows [][]float64) *tensors.Tensor {
	flat := make([]float32, 0, len(rows)*len(rows[0]))
	for _, row := range rows {
		for _, v := range row {
			flat = append(flat, float32(v))
		}
	}
	return tensors.FromFlatDataAndDimensions(flat, len(rows), len(rows[0]))
}

func judgeDrawnDigits(x *tensors.Tensor) (map[string]float64, error) {
	set, err := data.Digits()
	if err != nil {
		return nil, err
	}
	drawn, err := scorekit.Rows(x)
	if err != nil {
		return nil, err
	}
	for _, row := range drawn {
		for j := range row {
			row[j] = min(max(row[j], 0), 1)
		}
	}
	return map[string]float64{"sliced_w2": slicedW2(drawn, set.Rows())}, nil
}

func judgeDrawnRing(x *tensors.Tensor) (map[string]float64, error) {
	set, err := ring.Sample(20_000, judgeSeed)
	if err != nil {
		return nil, err
	}
	drawn, err := scorekit.Rows(x)
	if err != nil {
		return nil, err
	}
	return map[string]float64{"sliced_w2": slicedW2(drawn, set.Rows())}, nil
}

// slicedW2 is the sliced Wasserstein distance by 256 directions and 512 quantiles, as the peers take it; that of package
// metric takes all quantiles.
func slicedW2(a, b [][]float64) float64 {
	const directions, quantiles = 256, 512
	rng, sum := rand.New(rand.NewPCG(7, 0)), 0.0
	for range directions {
		v := make([]float64, len(a[0]))
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		floats.Scale(1/floats.Norm(v, 2), v)
		along := func(rows [][]float64) []float64 {
			out := make([]float64, len(rows))
			for i, row := range rows {
				out[i] = floats.Dot(row, v)
			}
			slices.Sort(out)
			return out
		}
		pa, pb := along(a), along(b)
		for k := range quantiles {
			q := (float64(k) + 0.5) / quantiles
			gap := stat.Quantile(q, stat.LinInterp, pa, nil) - stat.Quantile(q, stat.LinInterp, pb, nil)
			sum += gap * gap
		}
	}
	return math.Sqrt(sum / (directions * quantiles))
}

// judgeLangevin returns the largest error of a mode's share, and the mean variance of a coordinate within the modes.
func judgeLangevin(x *tensors.Tensor) (map[string]float64, error) {
	drawn, err := scorekit.Rows(x)
	if err != nil {
		return nil, err
	}
	const modes, radius, near = 8, 4, 1.5
	var count [modes]float64
	sum, inside := 0.0, 0.0
	for _, row := range drawn {
		nearest, least := 0, math.Inf(1)
		for k := range modes {
			sin, cos := math.Sincos(2 * math.Pi * float64(k) / modes)
			if d := math.Hypot(row[0]-radius*cos, row[1]-radius*sin); d < least {
				nearest, least = k, d
			}
		}
		count[nearest]++
		if least < near {
			sum, inside = sum+least*least, inside+1
		}
	}
	worst := 0.0
	for _, c := range count {
		worst = max(worst, math.Abs(c/float64(len(drawn))-1./modes))
	}
	return map[string]float64{"share_error": worst, "mode_variance": sum / inside / 2}, nil
}

// judgeKernels compares 400 scores with sums in float64: the root of the ratio of the squared error to the squared score.
func judgeKernels(centres, points [][]float64, scores *tensors.Tensor) (map[string]float64, error) {
	got, err := scorekit.Rows(scores)
	if err != nil {
		return nil, err
	}
	const some = 400
	wrong, all := 0.0, 0.0
	for i, y := range points[:min(some, len(points))] {
		logs, largest := make([]float64, len(centres)), math.Inf(-1)
		for m, c := range centres {
			gap := floats.Distance(c, y, 2)
			logs[m] = -gap * gap / (2 * kernelWidth * kernelWidth)
			largest = max(largest, logs[m])
		}
		mean, total := make([]float64, len(y)), 0.0
		for m, c := range centres {
			w := math.Exp(logs[m] - largest)
			total += w
			floats.AddScaled(mean, w, c)
		}
		for k := range y {
			truth := (mean[k]/total - y[k]) / (kernelWidth * kernelWidth)
			wrong += (got[i][k] - truth) * (got[i][k] - truth)
			all += truth * truth
		}
	}
	return map[string]float64{"relative_error": math.Sqrt(wrong / all)}, nil
}
