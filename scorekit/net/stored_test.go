package net

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
)

var store = flag.Bool("store", false, "store a trained model of each kind that testdata/stored has none of; what is there is never changed")

// storedDir holds what earlier versions stored and must load for ever: NAME.safetensors, a model, and NAME.json, its scores.
const storedDir = "testdata/stored"

// storedPoints gives points for a model of a shape: numbers that do not depend on a random generator.
func storedPoints(shape []int) *tensors.Tensor {
	size := 1
	for _, d := range shape {
		size *= d
	}
	x := make([]float64, 3*size)
	for i := range x {
		x[i] = float64(i*7%11)/4 - 1.2
	}
	return tensors.FromFlatDataAndDimensions(x, append([]int{3}, shape...)...)
}

func storedScores(t *testing.T, b backends.Backend, f *scorekit.Fitted) []float64 {
	t.Helper()
	scores, err := scorekit.Evaluate(context.Background(), b, f, storedPoints(f.Shape()), 0.8)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := scorekit.Rows(scores)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(rows...)
}

// TestStoredModels loads a model of each kind, as the first version with a checkpoint format stored it, and finds the
// scores that it had then. float32 rounds at 6e-8; the sums of the backends differ in their order.
func TestStoredModels(t *testing.T) {
	all := map[string]scorekit.Model{}
	shapes := map[string][]int{}
	for name, m := range models {
		all[name], shapes[name] = m, shapeOf(m)
	}
	for name, m := range imageModels {
		all["image "+name], shapes["image "+name] = m.model, m.size // Residual and residual are one name on some systems
	}
	paths := map[string]string{}
	for name := range all {
		paths[name] = filepath.Join(storedDir, strings.ReplaceAll(name, " ", "-"))
		if _, err := os.Stat(paths[name] + ".json"); *store && errors.Is(err, fs.ErrNotExist) {
			keepForEver(t, paths[name], trainedOn(t, all[name], storedPoints(shapes[name])))
		}
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for _, name := range names(all) {
			t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
				f, err := scorekit.Load(paths[name] + ".safetensors")
				if err != nil {
					t.Fatal(err)
				}
				text, err := os.ReadFile(paths[name] + ".json")
				if err != nil {
					t.Fatal(err)
				}
				var want []float64
				if err := json.Unmarshal(text, &want); err != nil {
					t.Fatal(err)
				}
				testvalues.Near(t, "score", storedScores(t, b, f), want, 2e-5)
			})
		}
	})
}

func keepForEver(t *testing.T, path string, f *scorekit.Fitted) {
	t.Helper()
	text, err := json.Marshal(storedScores(t, testbackend.Go(t), f))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Save(path + ".safetensors"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".json", append(text, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}
