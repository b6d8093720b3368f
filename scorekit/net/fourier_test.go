package net

import (
	"math"
	"reflect"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
)

// The entries of B have mean 0 and standard deviation Scale: over N of them the mean is known to Scale/√N, the standard
// deviation to 1/√(2N) of itself, and the correlation of neighbours to 1/√N; 5 of these are allowed. Settings tell B.
func TestFourierMatrix(t *testing.T) {
	const scale, count, d = 3, 500, 8
	f := Fourier{Count: count, Scale: scale, Seed: 1}
	b := f.matrix(d)
	var mean, squares, neighbours float64
	for i, row := range b {
		if len(row) != d {
			t.Fatalf("a row of %d", len(row))
		}
		for j, v := range row {
			mean += v / (count * d)
			squares += v * v / (count * d)
			neighbours += v * b[(i+1)%count][j] / (count * d)
			neighbours += v * row[(j+1)%d] / (count * d)
		}
	}
	n := math.Sqrt(count * d)
	if !(math.Abs(mean) <= 5*scale/n) || !(math.Abs(math.Sqrt(squares)/scale-1) <= 5/(math.Sqrt2*n)) || !(math.Abs(neighbours) <= 5*scale*scale*math.Sqrt2/n) {
		t.Errorf("mean %v, standard deviation %v, neighbours' product %v", mean, math.Sqrt(squares), neighbours)
	}
	if again := f.matrix(d); !reflect.DeepEqual(b, again) {
		t.Error("the same settings gave another B")
	}
	f.Seed = 2
	if other := f.matrix(d); other[0][0] == b[0][0] {
		t.Error("another seed gave the same B")
	}
	// Trained networks rest on these numbers: they must not change.
	got := Fourier{Count: 2, Scale: 1}.matrix(2)
	testvalues.Near(t, "B", []float64{got[0][0], got[0][1], got[1][0], got[1][1]}, []float64{-0.7798445663014411, -1.361567517299148, 1.1993045855948687, -0.7896862961657987}, 1e-14)
}

// γ(x) is written out for one point: at x = e₁ the angles are 2π times the first column of B.
func TestFourierFeatures(t *testing.T) {
	f := Fourier{Count: 3, Scale: 0.4, Seed: 5}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.Run(t, b, func(g *graph.Graph) []*Node {
			return []*Node{f.of(graph.Const(g, [][]float64{{1, 0}, {0, 0}}))}
		})[0]
		var want []float64
		for _, wave := range []func(float64) float64{math.Sin, math.Cos} {
			for _, row := range f.matrix(2) {
				want = append(want, wave(2*math.Pi*row[0]))
			}
		}
		testvalues.Near(t, "γ", got, append(want, 0, 0, 0, 1, 1, 1), 1e-14)
	})
}
