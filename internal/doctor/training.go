package doctor

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"time"

	"github.com/gomlx/gomlx/backends"

	"github.com/scorekit/lab/internal/home"
	"github.com/scorekit/lab/internal/setup"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/backend"
	"github.com/scorekit/lab/scorekit/net"
	"github.com/scorekit/lab/scorekit/objective"
)

// computing opens the backend that programs get, and trains on it.
func computing(ctx context.Context, s setup.Setup) []Finding {
	const cure = "unset GOMLX_BACKEND, or: GOMLX_BACKEND=go computes in pure Go"
	// Programs that are started in the checkout find the same folder by themselves.
	// What the backend says of its choice is in the finding.
	for name, value := range map[string]string{home.EnvVar: s.Home, "SCOREKIT_QUIET": "1"} {
		if err := os.Setenv(name, value); err != nil {
			return []Finding{{Failed, "backend", err.Error(), ""}}
		}
	}
	opened, err := backend.Open()
	if err != nil {
		return []Finding{{Failed, "backend", err.Error(), cure}}
	}
	found := []Finding{{Works, "backend", backend.Describe(opened), ""}}
	detail, err := trainingCheck(ctx, opened)
	if err != nil {
		return append(found, Finding{Failed, "training", err.Error(), cure})
	}
	return append(found, Finding{Works, "training", detail, ""})
}

// trainingCheck trains a small network by denoising score matching on draws of N(0, 1) and compares it with the score that it
// should have learned: with σ = 1 the noised data are N(0, 2), whose score is −x/2. The error says what did not work or by
// how much the network is off.
func trainingCheck(ctx context.Context, opened backends.Backend) (string, error) {
	const points, steps, allowed = 2048, 300, 0.2
	begin := time.Now()
	random := rand.New(rand.NewPCG(1, 2))
	data := make([][]float32, points)
	for k := range data {
		data[k] = []float32{float32(random.NormFloat64())}
	}
	examples, err := scorekit.Examples(data)
	if err != nil {
		return "", err
	}
	fitted, err := scorekit.Fit(ctx, opened, net.MLP{Hidden: []int{16}}, objective.Denoising{Sigma: 1}, examples,
		scorekit.WithSteps(steps), scorekit.WithBatch(256), scorekit.WithOptimizer(scorekit.Adam{Rate: scorekit.Rate{Peak: 0.01}}), scorekit.WithSeed(1), scorekit.WithUnroll(1))
	if err != nil {
		return "", err
	}
	grid := [][]float32{{-2}, {-1}, {-0.5}, {0}, {0.5}, {1}, {2}}
	scores, err := scorekit.Evaluate(ctx, opened, fitted, grid, 1)
	if err != nil {
		return "", err
	}
	rows, err := scorekit.Rows(scores)
	if err != nil {
		return "", err
	}
	worst := 0.0
	for k, row := range rows {
		// max would let a NaN through.
		if off := math.Abs(row[0] + float64(grid[k][0])/2); !(off <= worst) {
			worst = off
		}
	}
	if !(worst <= allowed) {
		return "", fmt.Errorf("a score network trained on N(0, 1) for %d steps is off by %.3f, at most %.1f is allowed", steps, worst, allowed)
	}
	return fmt.Sprintf("%d steps in %.1f s, largest error of the score %.3f", steps, time.Since(begin).Seconds(), worst), nil
}
