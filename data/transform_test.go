package data_test

import (
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	"gonum.org/v1/gonum/mat"

	"github.com/scorekit/lab/data"
	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
)

// scales are those of the columns of skewed data, with means beside them.
var (
	scales  = []float64{1e-8, 1, 1e8, 3, 0.02, 7}
	centers = []float64{5e-8, -2, 4e8, 0, 1, -30}
)

// skewed returns rows with dependent columns of very different units, exact in float32.
func skewed(n int, seed uint64) [][]float64 {
	rng := rand.New(rand.NewPCG(seed, 1))
	rows := make([][]float64, n)
	for i := range rows {
		common, row := rng.NormFloat64(), make([]float64, len(scales))
		for j := range row {
			row[j] = float64(float32(centers[j] + scales[j]*(0.6*common+0.8*rng.NormFloat64()+0.3*rng.ExpFloat64())))
		}
		rows[i] = row
	}
	return rows
}

func flatten(rows [][]float64) []float64 { return slices.Concat(rows...) }

// values returns those of a tensor of either dtype, in row order.
func values(t *testing.T, x *tensors.Tensor) []float64 {
	t.Helper()
	rows, err := scorekit.Rows(x)
	if err != nil {
		t.Fatal(err)
	}
	return flatten(rows)
}

// asTensor makes a tensor of rows in a dtype and shape.
func asTensor(rows [][]float64, dtype dtypes.DType, dims ...int) *tensors.Tensor {
	flat := flatten(rows)
	if dtype == dtypes.Float64 {
		return tensors.FromFlatDataAndDimensions(flat, dims...)
	}
	narrow := make([]float32, len(flat))
	for i, v := range flat {
		narrow[i] = float32(v)
	}
	return tensors.FromFlatDataAndDimensions(narrow, dims...)
}

// evened returns the rows with columns of spread 1 to 6.
func evened(rows [][]float64) (even [][]float64, spread []float64) {
	for _, row := range rows {
		changed := make([]float64, len(row))
		for j, v := range row {
			changed[j] = (v - centers[j]) / scales[j] * float64(j+1)
		}
		even = append(even, changed)
	}
	return even, []float64{1, 2, 3, 4, 5, 6}
}

// transformCases are all kinds, before they are fitted.
func transformCases() map[string]data.Chain {
	return map[string]data.Chain{
		"none":         {},
		"standardize":  {data.Standardizer{}},
		"jointly":      {data.Standardizer{Joint: true}},
		"pca":          {data.Whitener{}},
		"zca":          {data.Whitener{ZCA: true}},
		"minmax":       {data.MinMax{}},
		"minmax −1, 1": {data.MinMax{Low: -1, High: 1}},
		"minmax joint": {data.MinMax{Low: -1, High: 1, Joint: true}},
		"logit":        {data.MinMax{}, data.Logit{}},
		"long":         {data.MinMax{}, data.Logit{Margin: 0.01}, data.Chain{data.Standardizer{}, data.Whitener{ZCA: true}}},
	}
}

func fitted(t *testing.T, c data.Chain, rows [][]float64) data.Transform {
	t.Helper()
	f, err := c.Fit(each(rows))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func each(rows [][]float64) iter.Seq2[[]float64, error] {
	return func(yield func([]float64, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// Every transform comes back, through JSON, to rounding of the dtype, as rows and as images of the same numbers. The
// rounding of z in float32, 2⁻²⁴ of its size, comes back times the scale of the column: joint scales make it that of the
// widest column, and near the ends of a logit dx/dz ≤ ¼ of the range.
func TestTransformsComeBack(t *testing.T) {
	rows := skewed(300, 1)
	for name, c := range transformCases() {
		f := fitted(t, c, rows)
		text, err := json.Marshal(f)
		if err != nil {
			t.Fatal(name, err)
		}
		var stored data.Chain
		if err := json.Unmarshal(text, &stored); err != nil || !reflect.DeepEqual(stored, f) {
			t.Fatalf("%s: %s read as %v: %v", name, text, stored, err)
		}
		for dtype, rounding := range map[dtypes.DType]float64{dtypes.Float32: 0x1p-24, dtypes.Float64: 0x1p-53} {
			flat := asTensor(rows, dtype, 300, 6)
			z, err := f.Apply(flat)
			if err != nil {
				t.Fatal(name, err)
			}
			back, err := stored.Invert(z)
			if err != nil {
				t.Fatal(name, err)
			}
			want, got := values(t, flat), values(t, back)
			for i := range want {
				scale := 40 * (math.Abs(centers[i%6]) + 6*scales[i%6]) // 40 for the products of a whitener
				if name == "none" || name == "jointly" || name == "minmax joint" {
					scale = 40 * 1e9
				}
				if !(math.Abs(got[i]-want[i]) <= scale*rounding) {
					t.Errorf("%s, %s: row %d, column %d came back as %v, want %v", name, dtype, i/6, i%6, got[i], want[i])
					break
				}
			}
			images, err := f.Apply(asTensor(rows, dtype, 300, 1, 2, 3))
			if err != nil {
				t.Fatal(name, err)
			}
			if !slices.Equal(images.Shape().Dimensions, []int{300, 1, 2, 3}) || images.DType() != dtype || !slices.Equal(values(t, images), values(t, z)) {
				t.Errorf("%s: images of shape %s become others than rows", name, images.Shape())
			}
		}
	}
}

// log|det ∂z/∂x| is that of central differences; the score that is pulled back is the gradient of log p(z) + log|det|
// for log p(z) = −½|z|² + Σ sin zⱼ. Steps of 10⁻⁵ scales leave 10⁻⁹ of a central difference.
func TestLogDetAndPullBack(t *testing.T) {
	const step = 1e-5
	for name, c := range transformCases() {
		rows, scales := skewed(300, 2), scales
		if name == "none" || name == "jointly" || name == "minmax joint" { // beside 10⁸ a column of 10⁻⁸ does not move
			rows, scales = evened(rows)
		}
		f := fitted(t, c, rows)
		at := slices.Clone(rows[17])
		// moved returns at with column j moved by s steps.
		moved := func(j int, s float64) [][]float64 {
			x := slices.Clone(at)
			x[j] += s * step * scales[j]
			return [][]float64{x}
		}
		points := [][]float64{at}
		for j := range at {
			points = append(points, moved(j, 1)[0], moved(j, -1)[0])
		}
		x := asTensor(points, dtypes.Float64, 13, 6)
		image, err := f.Apply(x)
		if err != nil {
			t.Fatal(name, err)
		}
		dets, err := f.LogDet(x)
		if err != nil {
			t.Fatal(name, err)
		}
		z := data.Set{X: image}.Rows()
		jacobian, units := mat.NewDense(6, 6, nil), 0.0
		for j := range at {
			width := points[1+2*j][j] - points[2+2*j][j]
			units -= math.Log(scales[j])
			for i := range at {
				jacobian.Set(i, j, (z[1+2*j][i]-z[2+2*j][i])/width*scales[j])
			}
		}
		numeric, _ := mat.LogDet(jacobian)
		if math.Abs(dets[0]-numeric-units) > 1e-6 {
			t.Errorf("%s: log-determinant %v, want %v", name, dets[0], numeric+units)
		}

		score := make([]float64, 6)
		for i, v := range z[0] {
			score[i] = -v + math.Cos(v)
		}
		logp := func(k int) float64 {
			sum := dets[k]
			for _, v := range z[k] {
				sum += -v*v/2 + math.Sin(v)
			}
			return sum
		}
		pulled, err := f.PullBack(asTensor(points[:1], dtypes.Float64, 1, 6), asTensor([][]float64{score}, dtypes.Float64, 1, 6))
		if err != nil {
			t.Fatal(name, err)
		}
		for j, got := range values(t, pulled) {
			width := points[1+2*j][j] - points[2+2*j][j]
			want := (logp(1+2*j) - logp(2+2*j)) / width * scales[j]
			if !(math.Abs(got*scales[j]-want) <= 1e-6*(1+math.Abs(want))) {
				t.Errorf("%s: score in column %d: %v per scale, want %v", name, j, got*scales[j], want)
			}
		}
	}
}

// The graph does what the host does, for rows and images; the columns have one unit here, as it computes in the dtype
// of the graph.
func TestTransformsInTheGraph(t *testing.T) {
	rows, _ := evened(skewed(300, 3))
	names := []string{}
	var transforms []data.Transform
	for name, c := range transformCases() {
		names, transforms = append(names, name), append(transforms, fitted(t, c, rows))
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for dtype, tolerance := range map[dtypes.DType]float64{dtypes.Float32: 1e-4, dtypes.Float64: 1e-12} {
			x := asTensor(rows, dtype, 300, 3, 1, 2)
			exec, err := graph.NewExec(b, func(x *data.Node) []*data.Node {
				var out []*data.Node
				for _, f := range transforms {
					out = append(out, f.ApplyGraph(x))
				}
				return append(out, transforms[0].ApplyGraph(graph.Reshape(x, 300, 6)))
			})
			if err != nil {
				t.Fatal(err)
			}
			defer exec.Finalize()
			out, err := exec.Exec(x)
			if err != nil {
				t.Fatal(err)
			}
			for k, f := range append(slices.Clone(transforms), transforms[0]) {
				want, err := f.Apply(asTensor(rows, dtypes.Float64, 300, 6))
				if err != nil {
					t.Fatal(err)
				}
				got, wanted := values(t, out[k]), values(t, want)
				for i := range got {
					if !(math.Abs(got[i]-wanted[i]) <= tolerance*(1+math.Abs(wanted[i]))) {
						t.Errorf("%s, %s: number %d is %v in the graph, %v on the host", append(names, names[0])[k], dtype, i, got[i], wanted[i])
						break
					}
				}
			}
		}
	})
}

// Whitened columns have mean 0 and covariance I; those of PCA are sorted by the eigenvalues of the correlation, 1 ± ρ
// for two columns; those of ZCA have a symmetric, positive covariance with the standardised columns, the root of their
// correlation.
func TestWhitened(t *testing.T) {
	rows := skewed(1000, 4)
	x := asTensor(rows, dtypes.Float64, 1000, 6)
	standard, u, err := data.Standardize(x)
	if err != nil {
		t.Fatal(err)
	}
	covariance := func(a, b *tensors.Tensor) *mat.Dense {
		left, right := mat.NewDense(1000, 6, values(t, a)), mat.NewDense(1000, 6, values(t, b))
		var c mat.Dense
		c.Mul(left.T(), right)
		c.Scale(1.0/1000, &c)
		return &c
	}
	for _, w := range []data.Whitener{{}, {ZCA: true}} {
		fit, err := w.Fit(each(rows))
		if err != nil {
			t.Fatal(err)
		}
		z, err := fit.Apply(x)
		if err != nil {
			t.Fatal(err)
		}
		c, cross := covariance(z, z), covariance(z, u)
		for i := range 6 {
			mean := mat.Sum(mat.NewDense(1000, 6, values(t, z)).ColView(i)) / 1000
			if math.Abs(mean) > 1e-9 {
				t.Errorf("ZCA %v: mean of column %d is %v", w.ZCA, i, mean)
			}
			for j := range 6 {
				if want := map[bool]float64{true: 1}[i == j]; math.Abs(c.At(i, j)-want) > 1e-9 {
					t.Errorf("ZCA %v: covariance %d, %d is %v", w.ZCA, i, j, c.At(i, j))
				}
				if w.ZCA && math.Abs(cross.At(i, j)-cross.At(j, i)) > 1e-9 {
					t.Errorf("covariance with the columns %d, %d: %v and %v", i, j, cross.At(i, j), cross.At(j, i))
				}
			}
			if w.ZCA && cross.At(i, i) < 0.6 {
				t.Errorf("column %d has a correlation of %v with what it was", i, cross.At(i, i))
			}
		}
		got := fit.(data.Whitener)
		testvalues.Near(t, "means", got.Mean, standard.Mean, 1e-12)
		testvalues.Near(t, "deviations", got.Std, standard.Std, 1e-12)
	}
	pair := [][]float64{{1, 5}, {-1, 3}, {2, 9}, {-2, -1}, {0, 4}}
	fit, err := data.Whitener{}.Fit(each(pair))
	if err != nil {
		t.Fatal(err)
	}
	// Deviations 2, 2, 10 → variances 2 and 10.4, covariance (1 − −1 + 10 + 10 + 0)/5: see the sums below.
	rho := (1*1 + -1*-1 + 2*5 + -2*-5 + 0) / 5.0 / math.Sqrt(2*(1+1+25+25)/5.0)
	testvalues.Near(t, "eigenvalues", fit.(data.Whitener).Spread, []float64{math.Sqrt(1 + rho), math.Sqrt(1 - rho)}, 1e-14)
}

// The ends of the ranges are met exactly, so that a logit can follow.
func TestRanges(t *testing.T) {
	rows := [][]float64{{0.1, 3, -7}, {0.7, 1e9, 0.3}, {0.3, 5, 0.1}}
	for _, c := range []struct {
		m         data.MinMax
		low, high float64
	}{{data.MinMax{}, 0, 1}, {data.MinMax{Low: -1, High: 1}, -1, 1}, {data.MinMax{Low: 2, High: 2.5}, 2, 2.5}} {
		fit, err := c.m.Fit(each(rows))
		if err != nil {
			t.Fatal(err)
		}
		z, err := fit.Apply(asTensor(rows, dtypes.Float64, 3, 3))
		if err != nil {
			t.Fatal(err)
		}
		for j := range 3 {
			column := []float64{}
			for _, row := range (data.Set{X: z}).Rows() {
				column = append(column, row[j])
			}
			if slices.Min(column) != c.low || slices.Max(column) != c.high {
				t.Errorf("%+v: column %d from %v to %v", c.m, j, slices.Min(column), slices.Max(column))
			}
		}
	}
	joint, err := data.MinMax{Joint: true}.Fit(each([][]float64{{0, 5}, {0, 10}}))
	if err != nil {
		t.Fatal(err)
	}
	z, err := joint.Apply(asTensor([][]float64{{5, 10, 0}}, dtypes.Float64, 1, 3))
	if err != nil || !slices.Equal(values(t, z), []float64{0.5, 1, 0}) {
		t.Errorf("5, 10 and 0 of 10: %v, %v", z, err)
	}
	// logit(α) = −logit(1−α), and logit ½ = 0.
	z, err = data.Logit{Margin: 0.1}.Apply(asTensor([][]float64{{0, 0.5, 1}}, dtypes.Float64, 1, 3))
	if err != nil {
		t.Fatal(err)
	}
	testvalues.Near(t, "logit", values(t, z), []float64{-math.Log(9), 0, math.Log(9)}, 1e-15)
}

// One pass is enough, and rows far from 0 lose nothing by it: x + 10⁹ has the moments of x, and blocks of products add up
// to what all rows give.
func TestFitInOnePass(t *testing.T) {
	passes := 0
	var rows [][]float64
	rng := rand.New(rand.NewPCG(5, 5))
	for range 1000 {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		rows = append(rows, []float64{math.Round(a*1024) / 1024, math.Round((a+b)*1024) / 1024})
	}
	stream := func(offset float64) iter.Seq2[[]float64, error] {
		return func(yield func([]float64, error) bool) {
			passes++
			buffer := make([]float64, 2) // the rows may share their memory
			for _, row := range rows {
				buffer[0], buffer[1] = row[0]+offset, row[1]-offset
				if !yield(buffer, nil) {
					return
				}
			}
		}
	}
	for _, unfitted := range []data.Transform{data.Standardizer{}, data.Whitener{}, data.MinMax{}} {
		passes = 0
		near, err := unfitted.Fit(stream(0))
		if err != nil {
			t.Fatal(err)
		}
		far, err := unfitted.Fit(stream(1e9))
		if err != nil {
			t.Fatal(err)
		}
		if passes != 2 {
			t.Errorf("%T: %d passes to fit two", unfitted, passes)
		}
		a, err := near.Apply(asTensor(rows, dtypes.Float64, 1000, 2))
		if err != nil {
			t.Fatal(err)
		}
		moved := slices.Collect(func(yield func([]float64) bool) {
			for row := range stream(1e9) {
				yield(slices.Clone(row))
			}
		})
		b, err := far.Apply(asTensor(moved, dtypes.Float64, 1000, 2))
		if err != nil {
			t.Fatal(err)
		}
		// The mean near 10⁹ is known to 10⁻⁷.
		testvalues.Near(t, fmt.Sprintf("%T", unfitted), values(t, b), values(t, a), 1e-6)
	}
	// Two passes by the definition.
	fit, err := data.Whitener{}.Fit(stream(0))
	if err != nil {
		t.Fatal(err)
	}
	var mean, square [2]float64
	var product float64
	for _, row := range rows {
		mean[0] += row[0] / 1000
		mean[1] += row[1] / 1000
	}
	for _, row := range rows {
		square[0] += math.Pow(row[0]-mean[0], 2) / 1000
		square[1] += math.Pow(row[1]-mean[1], 2) / 1000
		product += (row[0] - mean[0]) * (row[1] - mean[1]) / 1000
	}
	rho := product / math.Sqrt(square[0]*square[1])
	testvalues.Near(t, "spread", fit.(data.Whitener).Spread, []float64{math.Sqrt(1 + rho), math.Sqrt(1 - rho)}, 1e-12)
	testvalues.Near(t, "deviations", fit.(data.Whitener).Std, []float64{math.Sqrt(square[0]), math.Sqrt(square[1])}, 1e-12)
}
