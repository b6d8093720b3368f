package compare

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/gomlx/gomlx/backends"
	"gonum.org/v1/gonum/stat"

	"github.com/scorekit/lab/scorekit"
)

// Workload makes the network and the data of a dimension d. Make both narrow when d is large, or keep the network's hidden
// widths the same for all d, so that what grows is the objective's own cost.
type Workload func(d int) (scorekit.Model, scorekit.Data, error)

// CostTable is the outcome of [Cost].
type CostTable struct {
	Dims     []int
	Names    []string          // of the objectives
	StepTime [][]time.Duration // [objective][dimension]: mean time of a training step after the first call
	// Exponents holds for each objective the slope of log time against log d by least squares: about 0 where the
	// overhead of a call rules, 1 for a cost in proportion to d, 2 for its square. NaN with fewer than two dimensions.
	Exponents []float64
}

// Cost measures the time of a training step against the dimension for each objective. The options are those of
// [scorekit.Fit]; without WithSteps each measurement takes 50 steps.
//
// It returns an error for missing or impossible settings, for a run of a single call, which cannot be timed apart from
// its compiling, and for the first run that fails, by objective and dimension; a cancelled ctx is one.
func Cost(ctx context.Context, backend backends.Backend, dims []int, workload Workload, entries []Entry, options ...scorekit.FitOption) (*CostTable, error) {
	table, err := cost(ctx, backend, dims, workload, entries, options)
	if err != nil {
		return nil, fmt.Errorf("compare: Cost: %w", err)
	}
	return table, nil
}

func cost(ctx context.Context, backend backends.Backend, dims []int, workload Workload, entries []Entry, options []scorekit.FitOption) (*CostTable, error) {
	if len(dims) == 0 || workload == nil {
		return nil, fmt.Errorf("%d dimensions, workload given: %v: both must be given", len(dims), workload != nil)
	}
	for i, d := range dims {
		if d < 1 || i > 0 && d <= dims[i-1] {
			return nil, fmt.Errorf("dimensions %v: must be positive and rising", dims)
		}
	}
	if err := checkEntries(entries); err != nil {
		return nil, err
	}
	options = append([]scorekit.FitOption{scorekit.WithSteps(50)}, options...)
	t := &CostTable{Dims: dims, StepTime: make([][]time.Duration, len(entries)), Exponents: make([]float64, len(entries))}
	for k, e := range entries {
		t.Names = append(t.Names, e.Name)
		var x, y []float64
		for _, d := range dims {
			model, data, err := workload(d)
			if err != nil {
				return nil, fmt.Errorf("workload at d = %d: %w", d, err)
			}
			run, err := train(ctx, backend, model, e, data, options)
			if err != nil {
				return nil, fmt.Errorf("%s at d = %d: %w", e.Name, d, err)
			}
			if run.step == 0 {
				return nil, fmt.Errorf("%s at d = %d: all %d steps were one call: must be more, or fewer a call (scorekit.WithUnroll)", e.Name, d, run.steps)
			}
			t.StepTime[k] = append(t.StepTime[k], run.step)
			x, y = append(x, math.Log(float64(d))), append(y, math.Log(run.step.Seconds()))
		}
		t.Exponents[k] = math.NaN()
		if len(dims) > 1 {
			_, t.Exponents[k] = stat.LinearRegression(x, y, nil, false)
		}
	}
	return t, nil
}
