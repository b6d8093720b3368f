package ebm

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/gomlx/gomlx/backends"

	"github.com/scorekit/lab/internal/given"
	"github.com/scorekit/lab/scorekit"
)

// LogDensity returns the log-density of points, one number each, for a partition function that [LogPartition] or
// [AnnealedImportance] has found:
//
//	log p(x) = −E(x) − log Z
//
// It is −∞ where the energy is +∞. points are a tensor [n, dims...], or rows as for [scorekit.Examples]. The mean over
// held-out points is the normalised log-likelihood by which energies are compared; an error of log Z enters it in full.
// sigma is the noise level that log Z was found for, if the energy has one. ctx stops it between blocks of 65,536 points.
//
// It returns an error for a model without an energy or whose weights are missing, for points that are not finite or do not
// fit the model, for an energy that is NaN or −∞, and for a logZ that is not finite.
func LogDensity(ctx context.Context, backend backends.Backend, model scorekit.Model, points any, logZ float64, sigma ...float64) ([]float64, error) {
	var logs []float64
	err := guard("LogDensity", func() error {
		if err := cmp.Or(given.Check("ctx", ctx), given.Check("backend", backend)); err != nil {
			return err
		}
		if math.IsNaN(logZ) || math.IsInf(logZ, 0) {
			return fmt.Errorf("log Z %v: must be finite", logZ)
		}
		if len(sigma) > 1 {
			return fmt.Errorf("%d noise levels: must be one, that of log Z, or none", len(sigma))
		}
		level := 0.0
		if len(sigma) == 1 {
			level = sigma[0]
		}
		b, err := bind(model, points, level)
		if err != nil {
			return err
		}
		rows, err := scorekit.Rows(b.Points)
		if err != nil {
			return err
		}
		e, err := b.evaluator(backend)
		if err != nil {
			return err
		}
		defer e.exec.Finalize()
		logs = make([]float64, 0, len(rows))
		return e.each(ctx, len(rows), func(i int, x []float64) { copy(x, rows[i]) }, func(_ int, energies []float64) {
			for _, v := range energies {
				logs = append(logs, -v-logZ)
			}
		})
	})
	if err != nil {
		return nil, err
	}
	return logs, nil
}
