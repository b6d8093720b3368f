package rungekutta

import (
	"math"
	"testing"
)

// Each stage is consistent, Σⱼ aᵢⱼ = cᵢ, and the last row integrates powers of t up to t⁴ exactly, as order 5 needs; the
// companion, which is off by Error, up to t³ and no further.
func TestDormandPrince(t *testing.T) {
	near := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) < 1e-14) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	for i, row := range Stages {
		sum := 0.0
		for _, a := range row {
			sum += a
		}
		near("stage", sum, Nodes[i])
	}
	for power := range 5 {
		fifth, fourth := 0.0, 0.0
		for j, a := range append(Stages[6], 0) {
			c := math.Pow(Nodes[j], float64(power))
			fifth += a * c
			fourth += (a - Error[j]) * c
		}
		exact := 1 / float64(power+1)
		near("order 5", fifth, exact)
		if power < 4 {
			near("order 4", fourth, exact)
		} else if math.Abs(fourth-exact) < 1e-6 {
			t.Errorf("the companion integrates t⁴ to %v, want it to be off", fourth)
		}
	}
}
