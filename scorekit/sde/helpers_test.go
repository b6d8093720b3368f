package sde_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/pkg/core/dtypes"

	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit/sde"
)

// listed is one case of a file in testdata: schedules.json and wiener.json are reference values in closed form, parity.json
// outputs of other libraries (diffusers 0.42.1, k-diffusion 0.1.1, sbi 0.27.0, azula 0.11.1, torchebm 0.8.9,
// flow_matching 1.0.10).
type listed struct {
	ID               string
	Inputs, Expected map[string]json.RawMessage
}

// cases reads one group of a file.
func cases(t *testing.T, file, group string) []listed {
	t.Helper()
	var all map[string][]listed
	testvalues.Read(t, file, &all)
	if len(all[group]) == 0 {
		t.Fatalf("no cases %s in %s", group, file)
	}
	return all[group]
}

// get reads a field.
func get[T any](t *testing.T, fields map[string]json.RawMessage, name string) T {
	t.Helper()
	var v T
	raw, found := fields[name]
	if !found {
		t.Fatalf("no field %s", name)
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return v
}

func number(t *testing.T, fields map[string]json.RawMessage, name string) float64 {
	t.Helper()
	return get[float64](t, fields, name)
}

func numbers(t *testing.T, fields map[string]json.RawMessage, name string) []float64 {
	t.Helper()
	return get[[]float64](t, fields, name)
}

func table(t *testing.T, fields map[string]json.RawMessage, name string) [][]float64 {
	t.Helper()
	return get[[][]float64](t, fields, name)
}

// must returns v, or fails the test.
func must[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// at lists f at each of the times.
func at(times []float64, f func(t float64) float64) []float64 {
	out := make([]float64, len(times))
	for i, t := range times {
		out[i] = f(t)
	}
	return out
}

func mean(s sde.SDE) func(t float64) float64 {
	return func(t float64) float64 { return s.Marginal(t).Mean }
}

func std(s sde.SDE) func(t float64) float64 {
	return func(t float64) float64 { return s.Marginal(t).Std }
}

// pick lists the values at the indices.
func pick(values []float64, indices []int) []float64 {
	out := make([]float64, len(indices))
	for i, k := range indices {
		out[i] = values[k]
	}
	return out
}

const (
	float32Type = dtypes.Float32
	float64Type = dtypes.Float64
)

type testType = dtypes.DType

func flat(rows [][]float64) []float64 { return slices.Concat(rows...) }
