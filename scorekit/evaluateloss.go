package scorekit

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"
	"gonum.org/v1/gonum/stat"

	"github.com/scorekit/lab/scorekit/random"
)

// EvaluateLoss returns the mean of objective over n fresh examples of data, and the standard error of that mean, for a
// model as it is: a trained one, or an exact score to compare it with. The same seed gives the same examples and
// noise. A model that has classes is told those of its examples, as in training but always, if the data have them; on data
// without any the loss is that of its plain score.
//
// It returns an error for impossible settings, for fewer than two examples, for a model whose weights are missing, and
// for a loss that is not finite.
func EvaluateLoss(backend backends.Backend, model Model, objective Objective, data Data, n int, seed int64) (mean, standardError float64, err error) {
	err = guard("scorekit: EvaluateLoss", func() error {
		if err := given(argument{"backend", backend}, argument{"model", model}, argument{"objective", objective}, argument{"data", data}); err != nil {
			return err
		}
		if n < 2 {
			return fmt.Errorf("%d examples: must be at least 2", n)
		}
		if err := validate(model, objective, data); err != nil {
			return err
		}
		if err := fits(model, "data of shape", data.Shape()); err != nil {
			return err
		}
		dtype := dtypeOf(model, dtypes.Float32)
		vars, err := modelVars(model, nil)
		if err != nil {
			return err
		}
		classes := 0
		if hasClasses(data) { // without any the plain score is asked for
			if classes, err = labelsFor(model, data); err != nil {
				return err
			}
		}
		drawn, err := drawBatch(backend, data, n, seed, dtype, classes)
		if err != nil {
			return err
		}
		args := []any{drawn.state, drawn.x}
		if classes > 0 {
			args = append(args, drawn.classes)
		}
		exec, err := mlctx.NewExec(backend, vars, func(vars *mlctx.Context, in []*Node) *Node {
			score := complete(model)
			if len(in) > 2 {
				score = complete(scoreGiven{model, in[2]})
			}
			var loss *Node
			naming(objective, func() { loss = objective.Loss(vars, random.New(in[0], dtype, 1), score, in[1]) })
			checkLoss(objective, loss, n)
			return loss
		})
		if err != nil {
			return err
		}
		defer exec.Finalize()
		out, err := exec.Exec1(args...)
		if err != nil {
			return err
		}
		losses, err := floats(out) // the square of a finite float32 need not be one
		if err != nil {
			return err
		}
		mean, standardError = stat.MeanStdDev(losses, nil)
		standardError /= math.Sqrt(float64(n))
		if !finite(mean) || !finite(standardError) {
			return fmt.Errorf("the loss is %v with standard error %v: both must be finite", mean, standardError)
		}
		return nil
	})
	return mean, standardError, err
}
