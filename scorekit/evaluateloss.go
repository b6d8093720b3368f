package scorekit

import (
	"context"
	"fmt"
	"math"

	"github.com/gomlx/gomlx/backends"
	"gonum.org/v1/gonum/stat"
)

// EvaluateLoss returns the mean of objective over n fresh examples of data, and the standard error of that mean, for a
// model as it is: a trained one, or an exact score to compare it with. The same seed gives the same examples and
// noise. A model that has classes is told those of its examples, as in training but always, if the data have them; on data
// without any the loss is that of its plain score.
//
// The examples are drawn and judged in blocks of equal size, at most 131,072 examples or 262,144 numbers of theirs (on pure Go
// an eighth of both) but no fewer than 64 examples, so that the memory does not grow with n beyond one number for each. A
// block goes on with the random numbers and the stream where the one before it ended; what an objective counts or keeps
// from step to step in training is for each block what it is for the first. ctx stops it between two blocks, and while a stream
// is waited for.
//
// It returns an error for impossible settings, for fewer than two examples, for a model whose weights are missing, for
// a loss that is not finite, and one that wraps ctx's cause when it was stopped.
func EvaluateLoss(ctx context.Context, backend backends.Backend, model Model, objective Objective, data Data, n int, seed int64) (mean, standardError float64, err error) {
	err = guard("scorekit: EvaluateLoss", func() error {
		if err := given(argument{"ctx", ctx}, argument{"backend", backend}, argument{"model", model}, argument{"objective", objective}, argument{"data", data}); err != nil {
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
		l, err := newLosses(backend, model, objective, data, n)
		if err != nil {
			return err
		}
		defer l.finalize()
		losses, err := l.all(ctx, seed)
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
