package compare_test

import (
	"context"
	"fmt"
	"log"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/backend"
	"github.com/scorekit/lab/scorekit/compare"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/net"
	"github.com/scorekit/lab/scorekit/objective"
)

// Three objectives learn the score of N(0, 1) from the same draws. The losses cannot be compared with one another; the
// divergence from the truth can. Denoising learns the score of N(0, 1 + σ²), which is that much too flat: its
// relative divergence ends near (σ²/(1+σ²))² = 0.04 for σ = ½, where the other two go to 0.
func Example() {
	p, err := density.Isotropic([]float64{0}, 1)
	if err != nil {
		log.Fatal(err)
	}
	b, err := backend.OpenConfig("go")
	if err != nil {
		log.Fatal(err)
	}
	study := compare.Study{Model: net.MLP{Hidden: []int{16}}, Data: p, Truth: p}
	table, err := compare.Objectives(context.Background(), b, study, []compare.Entry{
		{Name: "implicit", Objective: objective.Implicit{}},
		{Name: "sliced", Objective: objective.SlicedVR{Projections: 1}},
		{Name: "denoising", Objective: objective.Denoising{Sigma: 0.5}},
	}, scorekit.WithSteps(600), scorekit.WithOptimizer(scorekit.Adam{Rate: scorekit.Rate{Peak: 0.01, Cosine: true}}))
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range table {
		fmt.Printf("%-9s  below 0.01: %5t  from 0.03 to 0.05: %t\n", r.Name, r.Fisher.Relative < 0.01,
			r.Fisher.Relative > 0.03 && r.Fisher.Relative < 0.05)
	}
	// Output:
	// implicit   below 0.01:  true  from 0.03 to 0.05: false
	// sliced     below 0.01:  true  from 0.03 to 0.05: false
	// denoising  below 0.01: false  from 0.03 to 0.05: true
}
