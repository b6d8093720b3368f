package sde_test

import (
	"math"
	"testing"

	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit/sde"
)

// A step of Euler–Maruyama has the rates of where it begins, as Itô's integral has: two uneven steps of VP, whose β is
// 0.1 + 19.9 t, by hand.
func TestEulerMaruyamaByHand(t *testing.T) {
	times, start, z := []float64{0.1, 0.15, 0.3}, []float64{1, -2}, [][]float64{{0.5, -1}, {2, 0.3}}
	got, err := sde.EulerMaruyama(sde.VP{}, times, start, z)
	if err != nil {
		t.Fatal(err)
	}
	x := start
	for k, beta := range []float64{0.1 + 19.9*0.1, 0.1 + 19.9*0.15} {
		dt := times[k+1] - times[k]
		next := make([]float64, len(x))
		for i := range x {
			next[i] = x[i] - beta/2*x[i]*dt + math.Sqrt(beta*dt)*z[k][i]
		}
		testvalues.NearOne(t, "after a step", got[k+1], next, 1e-14)
		x = next
	}
}
