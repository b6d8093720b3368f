package bench

import (
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/gomlx/gomlx/backends"

	"github.com/scorekit/lab/data"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/backend"
	"github.com/scorekit/lab/scorekit/net"
	"github.com/scorekit/lab/scorekit/objective"
	"github.com/scorekit/lab/scorekit/sampler"
)

// BenchmarkRingTraining trains by denoising score matching on the ring of radius 4 and standard deviation 0.3: fresh
// batches of 512, σ = 0.5, the loss ½‖σs(x + σz) + z‖², a network of 2-128-128-128-2 with SiLU, Adam with 10⁻³, no
// average of the weights. It is run with the unrolling that Fit chooses for 2,000 steps, and that for 5,000 or more.
func BenchmarkRingTraining(b *testing.B) {
	for _, unroll := range []int{4, 8} {
		b.Run(fmt.Sprintf("unroll=%d", unroll), func(b *testing.B) {
			run := scorekit.FitSteps(b.Context(), open(b), net.MLP{Hidden: []int{128, 128, 128}, Activation: net.SiLU},
				objective.Denoising{Sigma: 0.5, Weighted: true}, data.Ring{},
				scorekit.WithSteps(1_000_000), scorekit.WithBatch(512), scorekit.WithEMA(0), scorekit.WithUnroll(unroll))
			reportRate(b, run, func(s *scorekit.FitStep) (int, error) {
				_, err := s.Stats()
				return s.Step, err
			})
		})
	}
}

// BenchmarkRingLangevin runs 10,000 Langevin chains with ε = 0.01 on the exact score of the ring, from N(0, 4²I).
func BenchmarkRingLangevin(b *testing.B) {
	ring, err := data.Ring{}.Density()
	if err != nil {
		b.Fatal(err)
	}
	run := scorekit.SampleSteps(b.Context(), open(b), ring, sampler.Langevin{StepSize: 0.01, Steps: 100_000}, 10_000,
		scorekit.WithStartNormal(4))
	reportRate(b, run, func(s *scorekit.SampleStep) (int, error) {
		_, err := s.X()
		return s.Step, err
	})
}

func open(b *testing.B) backends.Backend {
	opened, err := backend.Open()
	if err != nil {
		b.Fatal(err)
	}
	return opened
}

// reportRate runs for the time that the benchmark is given and reports steps per second in place of nanoseconds. wait
// waits for the device and returns the number of steps done. The first block of steps, which compiles, is not timed.
func reportRate[S any](b *testing.B, run iter.Seq2[S, error], wait func(S) (int, error)) {
	next, stop := iter.Pull2(run)
	defer stop()
	block := func() S {
		s, err, ok := next()
		if err != nil || !ok {
			b.Fatalf("the run ended early: %v", err)
		}
		return s
	}
	done := func(s S) int {
		n, err := wait(s)
		if err != nil {
			b.Fatal(err)
		}
		return n
	}
	last := block()
	first, begin := done(last), time.Now()
	for b.Loop() {
		last = block()
	}
	steps := done(last) - first
	b.ReportMetric(float64(steps)/time.Since(begin).Seconds(), "steps/s")
	b.ReportMetric(0, "ns/op")
}
