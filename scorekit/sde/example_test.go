package sde_test

import (
	"fmt"
	"log"

	"github.com/scorekit/lab/scorekit/sde"
)

// The DDPM chain of 1,000 steps and the variance-preserving SDE that is its limit, at the same times.
func Example() {
	chain, err := sde.Linear(1000, 1e-4, 0.02)
	if err != nil {
		log.Fatal(err)
	}
	vp := sde.VP{BetaMin: 0.1, BetaMax: 20}
	for _, i := range []int{9, 99, 499, 999} {
		t := float64(i+1) / 1000
		discrete, continuous := chain.Levels()[i], vp.Marginal(t)
		fmt.Printf("index %3d: %.3f x₀ + %.3f z   t = %.2f: %.3f x₀ + %.3f z   σ = %.2f\n",
			i, discrete.Mean, discrete.Std, t, continuous.Mean, continuous.Std, continuous.Sigma())
	}

	// A noise prediction of the state 0.9 at t = ½, as a denoiser would put it.
	at := vp.Marginal(0.5)
	data, err := sde.Convert(sde.Noise, sde.Data, at, []float64{0.9}, []float64{0.7})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("noise 0.7 in state 0.9 at t = 0.5 says data %.3f\n", data[0])
	// Output:
	// index   9: 0.999 x₀ + 0.044 z   t = 0.01: 0.999 x₀ + 0.045 z   σ = 0.04
	// index  99: 0.947 x₀ + 0.321 z   t = 0.10: 0.947 x₀ + 0.322 z   σ = 0.34
	// index 499: 0.280 x₀ + 0.960 z   t = 0.50: 0.281 x₀ + 0.960 z   σ = 3.41
	// index 999: 0.006 x₀ + 1.000 z   t = 1.00: 0.007 x₀ + 1.000 z   σ = 152.17
	// noise 0.7 in state 0.9 at t = 0.5 says data 0.812
}
