package scorekit_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/internal/safetensors"
	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit"
)

// FuzzLoad loads files that are whole, with the tensors of a trained network, but whose description may be anything: an error,
// or a model that has finite scores or an error. Never a panic. (What is not even whole is FuzzRead's, of the file format.)
func FuzzLoad(f *testing.F) {
	be := testbackend.Go(f)
	file, err := os.Open(filepath.Join("testdata", "run-of-format-1", "end.safetensors"))
	if err != nil {
		f.Fatal(err)
	}
	defer file.Close()
	weights, metadata, err := safetensors.Read(file)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(metadata["scorekit"])
	for _, text := range []string{
		``, `{}`, `null`, `{"format":1}`, `{"format":1,"model":{"kind":"net.MLP","config":null},"shape":[2],"dtype":"float32"}`,
		`{"format":1,"model":{"kind":"net.MLP","config":{"hidden":[8]}},"shape":[],"dtype":"float32"}`,
		`{"format":1,"model":{"kind":"net.MLP","config":{"hidden":[8]}},"shape":[-2,3],"dtype":"float32"}`,
		`{"format":1,"model":{"kind":"net.MLP","config":{"hidden":[1000000000000]}},"shape":[2],"dtype":"float32"}`,
		`{"format":1,"model":{"kind":"net.MLP","config":{"hidden":[8]}},"shape":[1,2],"dtype":"int7"}`,
		`{"format":1,"model":{"kind":"net.Preconditioned","config":{"net":{},"data_std":1}},"shape":[2],"dtype":"float32"}`,
		`{"format":1,"model":{"kind":"net.Preconditioned","config":{"net":{"kind":"net.Preconditioned","config":{"net":{"kind":"net.MLP","config":{"hidden":[8]}},"data_std":1}},"data_std":1}},"shape":[2],"dtype":"float32"}`,
		`{"format":1,"step":-5,"model":{"kind":"net.UNet","config":{"channels":[4],"groups":3}},"shape":[2],"dtype":"float32","frozen":["/x"]}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "x.safetensors")
		out, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := safetensors.Write(out, weights, map[string]string{"scorekit": text}); err != nil {
			t.Fatal(err)
		}
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
		fitted, err := scorekit.Load(path)
		if err != nil {
			return
		}
		dims, size := []int{1}, 1
		for _, d := range fitted.Shape() {
			if dims, size = append(dims, d), size*d; size > 1<<12 {
				return
			}
		}
		scores, err := scorekit.Evaluate(background, be, fitted, tensors.FromFlatDataAndDimensions(make([]float64, size), dims...), 0.5)
		if err != nil {
			return
		}
		rows, err := scorekit.Rows(scores)
		if err != nil {
			return
		}
		for _, v := range rows[0] {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("score %v of %s", rows[0], text)
			}
		}
	})
}
