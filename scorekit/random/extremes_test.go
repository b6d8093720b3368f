package random

import (
	"math"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/internal/testbackend"
)

// TestExtremes feeds the ends of the generator's range through the transforms: every draw stays finite, inside its range
// and within the largest |z| that the documentation states, for every dtype.
func TestExtremes(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for _, c := range []struct {
			dtype   dtypes.DType
			largest float64
		}{
			{dtypes.Float32, math.Sqrt(66 * math.Ln2)},
			{dtypes.Float64, math.Sqrt(130 * math.Ln2)},
			{dtypes.BFloat16, math.Sqrt(28*math.Ln2) * 1.02}, // 8 bits: each operation rounds by up to 0.4 %
		} {
			exec, err := graph.NewExec(b, func(raw *graph.Node) []*graph.Node {
				u := openInterval(graph.ConvertDType(raw, c.dtype))
				var z []*graph.Node
				for i := range 4 {
					z = append(z, boxMuller(u, graph.BroadcastToDims(graph.Slice(u, graph.AxisElem(i)), 4), 8, []int{8}))
				}
				all := graph.ConvertDType(graph.Concatenate(z, 0), dtypes.Float64)
				wide := graph.ConvertDType(u, dtypes.Float64)
				return []*graph.Node{wide, all, graph.Log(u), graph.Log(graph.OneMinus(u))}
			})
			if err != nil {
				t.Fatal(err)
			}
			got, err := exec.Exec([]float64{0, math.SmallestNonzeroFloat64, math.Nextafter(1, 0), 1})
			if err != nil {
				t.Fatal(err)
			}
			for _, u := range tensors.MustCopyFlatData[float64](got[0]) {
				if !(u > 0 && u < 1) {
					t.Errorf("%s: uniform %g", c.dtype, u)
				}
			}
			top := 0.0
			for _, z := range tensors.MustCopyFlatData[float64](got[1]) {
				if !(math.Abs(z) <= c.largest*(1+1e-6)) {
					t.Errorf("%s: normal %g, at most %g", c.dtype, z, c.largest)
				}
				top = max(top, math.Abs(z))
			}
			if top < c.largest*0.96 {
				t.Errorf("%s: largest normal %g, want %g", c.dtype, top, c.largest)
			}
		}
	})
}
