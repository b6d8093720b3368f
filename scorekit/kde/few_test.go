package kde_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit/kde"
)

// mixture is an estimate's centres about 0, with weights and bandwidths.
type mixture struct {
	centres    [][]float64
	weights, h []float64
}

// normal are points of independent normal coordinates.
func normal(rng *rand.Rand, n, d int, scale float64) [][]float64 {
	points := make([][]float64, n)
	for i := range points {
		points[i] = make([]float64, d)
		for k := range d {
			points[i][k] = scale * rng.NormFloat64()
		}
	}
	return points
}

// at is log q and its gradient on the host: log wK as a product less what all centres share, so that far from them no digits are lost.
func (m mixture) at(x []float64) (log float64, score []float64) {
	total, largest, logs := 0.0, math.Inf(-1), make([]float64, len(m.centres))
	for j, c := range m.centres {
		total += m.weights[j]
		logs[j] = math.Log(m.weights[j])
		for k, h := range m.h {
			logs[j] += (x[k]/h - c[k]/h/2) * (c[k] / h)
		}
		largest = max(largest, logs[j])
	}
	sum, score := 0.0, make([]float64, len(x))
	for j, c := range m.centres {
		e := math.Exp(logs[j] - largest)
		sum += e
		for k := range x {
			score[k] += e * c[k]
		}
	}
	log = largest + math.Log(sum/total)
	for k, h := range m.h {
		score[k] = (score[k]/sum - x[k]) / (h * h)
		log -= math.Log(h) + 0.5*math.Log(2*math.Pi) + x[k]/h*x[k]/h/2
	}
	return log, score
}

// counts are at how many of the last 500 points few centres count, at least and at most, in float64 and float32; −1 where that is
// not tried.
type counts struct{ least, most, least32, most32 int }

var never = counts{-1, -1, -1, -1}

// TestFew evaluates estimates at points of which few centres count for all, some or none, beside sums over all centres on the host. Where
// few count a log-density is off by what is left out, 2⁻³⁰ in float32 and less in float64, and else by some 1e-6 of itself or
// of the largest square of a centre; scores, in units of 1/h, by that times what centres are apart, and by the rounding of what is returned.
func TestFew(t *testing.T) {
	const n = 2100
	rng := rand.New(rand.NewPCG(5, 6))
	weights, steep := make([]float64, n), make([]float64, n)
	for i := range weights {
		weights[i], steep[i] = math.Exp(2*rng.NormFloat64()), math.Exp(8*rng.NormFloat64())
	}
	several := func(d, times int) [][]float64 { // each centre so many times, not one after the other
		centres := normal(rng, n/times, d, 1)
		for len(centres) < n {
			centres = append(centres, centres[len(centres)-n/times])
		}
		return centres
	}
	sphere := normal(rng, n, 16, 1)
	for _, c := range sphere {
		norm := 0.0
		for _, v := range c {
			norm += v * v
		}
		for k := range c {
			c[k] *= 4 / math.Sqrt(norm)
		}
	}
	far := func(points [][]float64) [][]float64 {
		for i, scale := range []float64{1e2, 1e4, 1e6, 1e12} {
			for k := range points[i] {
				points[i][k] *= scale
			}
		}
		return points
	}
	for _, c := range []struct {
		name    string
		m       mixture
		points  [][]float64
		few     counts
		givesUp bool // as few count at none of the first
	}{
		{"concentrated", mixture{normal(rng, n, 17, 1), steep, between(17, 0.08, 0.12)}, far(normal(rng, 700, 17, 1)), counts{480, 500, 490, 500}, false},
		{"in between", mixture{normal(rng, n, 64, 1), weights, between(64, 0.24, 0.29)}, far(normal(rng, 1300, 64, 0.3)), counts{255, 480, 450, 500}, false},
		{"in between in float32", mixture{normal(rng, n, 17, 1), weights, between(17, 0.2, 0.24)}, far(normal(rng, 1300, 17, 0.6)), counts{-1, -1, 300, 450}, false},
		{"wide", mixture{normal(rng, n, 16, 1), weights, between(16, 1, 1.5)}, far(normal(rng, 500, 16, 1)), never, false},
		{"few coordinates", mixture{normal(rng, n, 7, 1), weights, between(7, 0.1, 0.2)}, far(normal(rng, 500, 7, 1)), never, false},
		{"each five times", mixture{several(16, 5), weights, between(16, 0.05, 0.05)}, far(normal(rng, 500, 16, 1)), counts{400, 500, 450, 500}, false},
		{"each twelve times", mixture{several(16, 12), weights, between(16, 0.05, 0.05)}, far(normal(rng, 500, 16, 1)), never, false},
		{"from the middle of a sphere", mixture{sphere, slices.Repeat([]float64{1}, n), between(16, 0.1, 0.1)}, append(normal(rng, 900, 16, 1), normal(rng, 500, 16, 1e-3)...), counts{0, 0, 0, 0}, false},
		{"hardly from the middle of a sphere", mixture{sphere, slices.Repeat([]float64{1}, n), between(16, 0.1, 0.1)}, append(normal(rng, 500, 16, 1e-3), normal(rng, 900, 16, 1)...), counts{450, 500, 450, 500}, true},
	} {
		t.Run(c.name, func(t *testing.T) { c.m.check(t, c.points, c.few, c.givesUp) })
	}
}

// TestFarTies takes scores 10⁸ bandwidths away from centres which have the same numbers as coordinates in other orders, and all are
// as far in the direction of the point: in float32 their products with it differ by thousands, and their shares are alike.
func TestFarTies(t *testing.T) {
	const d, n, ties, h = 64, 2100, 6, 0.05
	rng := rand.New(rand.NewPCG(7, 8))
	centres := normal(rng, n, d, 1)
	mean := make([]float64, d)
	for j := range ties {
		c := centres[j*n/ties]
		for k, from := range rng.Perm(d) {
			c[k] = 1 + math.Sqrt(float64(from))
			mean[k] += c[k] / ties
		}
	}
	q := must(t)(kde.New(centres, kde.Gaussian, kde.Fixed(h)))
	x := [][]float64{slices.Repeat([]float64{1 << 23}, d)}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		did, err := q.Few(b, dtypes.Float64, x)
		if err != nil || !slices.Equal(did, []bool{true}) {
			t.Fatalf("few centres count: %v, error %v", did, err)
		}
		s, err := q.ScoreAt(t.Context(), b, x)
		if err != nil {
			t.Fatal(err)
		}
		for k, got := range numbersOf(s) {
			// The shares are off by the rounding of (y−c₀)/h times t, 10⁹ times some 10² of 10⁻¹⁶; without one of the ties the mean is
			// off by tenths.
			if got = got*h*h + x[0][k]; math.Abs(got-mean[k]) > 2e-3 {
				t.Errorf("the mean of the centres that count is %v along %d, want %v", got, k, mean[k])
			}
		}
	})
}

// TestFewAlongAxes has kernels that are not aligned with the coordinates, beside sums over all centres in a graph.
func TestFewAlongAxes(t *testing.T) {
	const d, n = 9, 2100
	rng := rand.New(rand.NewPCG(9, 10))
	centres := normal(rng, n+20, d, 1)
	for _, c := range centres {
		for k := 1; k < d; k++ {
			c[k] = 3 + 0.3*c[k] + 0.9*c[k-1]
		}
	}
	centres, points := centres[:n], centres[n:]
	q := must(t)(kde.New(centres, kde.Gaussian, kde.Covariance(0.05)))
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		did, err := q.Few(b, dtypes.Float64, points)
		if err != nil || did == nil || !did[0] {
			t.Fatalf("few centres count: %v, error %v", did, err)
		}
		want := testvalues.RunIn(t, b, dtypes.Float64, func(in testvalues.Inputs) []*kde.Node {
			x := in.Of(points)
			return []*kde.Node{q.LogDensity(x), q.Score(nil, x, nil)}
		})
		logs, err := q.LogDensityAt(t.Context(), b, points)
		if err != nil {
			t.Fatal(err)
		}
		nearEach(t, "log-density", logs, want[0], 1e-10)
		scores, err := q.ScoreAt(t.Context(), b, points)
		if err != nil {
			t.Fatal(err)
		}
		nearEach(t, "score", numbersOf(scores), want[1], 1e-8)
	})
}

// between are d numbers from low to high.
func between(d int, low, high float64) []float64 {
	all := make([]float64, d)
	for k := range all {
		all[k] = low + (high-low)*float64(k)/float64(d)
	}
	return all
}

func (m mixture) check(t *testing.T, points [][]float64, few counts, givesUp bool) {
	q := must(t)(kde.NewWeighted(m.centres, m.weights, kde.Gaussian, kde.PerCoordinate(m.h...)))
	d, apart := len(m.h), 0.0
	for _, c := range m.centres {
		norm := 0.0
		for k, h := range m.h {
			norm += c[k] / h * c[k] / h
		}
		apart = max(apart, norm)
	}
	apart = math.Sqrt(apart)
	single := make([][]float32, len(points))
	for i, x := range points {
		single[i] = make([]float32, d)
		for k := range x {
			single[i][k] = float32(x[k])
			x[k] = float64(single[i][k])
		}
	}
	wantLog, wantScore := make([]float64, len(points)), make([][]float64, len(points))
	for i, x := range points {
		wantLog[i], wantScore[i] = m.at(x)
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for _, dtype := range []dtypes.DType{dtypes.Float64, dtypes.Float32} {
			last := len(points) - 500
			did, err := q.Few(b, dtype, points[last:])
			if err != nil {
				t.Fatal(err)
			}
			count := -1
			if did != nil {
				count = 0
				for _, d := range did {
					if d {
						count++
					}
				}
			}
			least, most := few.least, few.most
			if dtype == dtypes.Float32 {
				least, most = few.least32, few.most32
			}
			if count < least || count > most {
				t.Errorf("%s: few centres count at %d of 500 points, want %d to %d", dtype, count, least, most)
			}
			var in any = points
			lost, rounding, sums := 0x1p-60, 0x1p-50, 1e-11
			if dtype == dtypes.Float32 {
				in, lost, rounding, sums = single, 0x1p-30, 0x1p-22, 5e-6
			}
			logs, err := q.LogDensityAt(t.Context(), b, in)
			if err != nil {
				t.Fatal(err)
			}
			out, err := q.ScoreAt(t.Context(), b, in)
			if err != nil {
				t.Fatal(err)
			}
			scores := numbersOf(out)
			ofDevice := true // are the last
			for i := range points {
				ofDevice = ofDevice && (i < last || float64(float32(logs[i])) == logs[i])
				isFew := i >= last && did != nil && did[i-last] && !givesUp
				away := math.Sqrt(2 * math.Abs(wantLog[i]))
				here := 0x1p-49 * apart * (10 + apart + away) // of what is wanted, a sum of d products
				off, slopeOff := lost+here+0x1p-50*math.Abs(wantLog[i]), (lost+here)*2*apart+rounding*away
				if !isFew {
					off, slopeOff = sums*(100+math.Abs(wantLog[i])), sums*(10+away)*2*apart
				}
				if !(math.Abs(logs[i]-wantLog[i]) <= off) {
					t.Errorf("%s, point %d (few count: %v): log-density %v, want %v", dtype, i, isFew, logs[i], wantLog[i])
				}
				for k, h := range m.h {
					if got, want := h*scores[i*d+k], h*wantScore[i][k]; !(math.Abs(got-want) <= slopeOff) {
						t.Errorf("%s, point %d (few count: %v): score %v along %d, want %v", dtype, i, isFew, got/h, k, want/h)
						break
					}
				}
			}
			if dtype == dtypes.Float32 && ofDevice != (givesUp || most <= 0) {
				t.Errorf("the last 500 points are all done by the device: %v", ofDevice)
			}
		}
	})
}

func numbersOf(t *tensors.Tensor) (all []float64) {
	if t.DType() == dtypes.Float64 {
		return tensors.MustCopyFlatData[float64](t)
	}
	for _, v := range tensors.MustCopyFlatData[float32](t) {
		all = append(all, float64(v))
	}
	return all
}
