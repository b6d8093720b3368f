package scorekit

import (
	"fmt"

	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"
)

// Predictor is implemented by a sampler that can tell which noiseless point each of its chains stands for.
type Predictor interface {
	// Predict adds those points, [chains, dims...], to the graph. x is where the chains are after the step with that row
	// of the schedule.
	Predict(vars *mlctx.Context, score Score, x *Node, row []*Node) *Node
}

// StatePredictor is a [Predictor] for a sampler that needs more than the points to tell: the state after the step.
type StatePredictor interface {
	PredictState(vars *mlctx.Context, score Score, state State, row []*Node) *Node
}

// foresight is what a sampler of either kind predicts.
type foresight func(vars *mlctx.Context, score Score, state State, row []*Node) *Node

func predictor(sampler Sampler) (foresight, error) {
	switch p := sampler.(type) {
	case StatePredictor:
		return p.PredictState, nil
	case Predictor:
		return func(vars *mlctx.Context, score Score, state State, row []*Node) *Node {
			return p.Predict(vars, score, state.X, row)
		}, nil
	default:
		return nil, fmt.Errorf("sampler %T makes no predictions: must be a Predictor", sampler)
	}
}

// predicted returns the sampler's predictions for the chains as they are after step; nil for the start.
func (c *chains) predicted(step int) (*tensors.Tensor, error) {
	predict, err := predictor(c.sampler)
	if err != nil || step == 0 {
		return nil, err
	}
	row, err := c.rows(step-1, step)
	if err != nil {
		return nil, err
	}
	if c.foresee == nil {
		c.foresee, err = mlctx.NewExec(c.backend, c.graphs.context, func(vars *mlctx.Context, in []*Node) *Node {
			x, row := in[1], in[0]
			y := predict(vars, complete(c.model), State{X: x, Aux: in[2:]}, rowNodes(row, 0))
			if !y.Shape().Equal(x.Shape()) {
				panic(fmt.Errorf("sampler %T predicted points of shape %s for chains of shape %s", c.sampler, y.Shape(), x.Shape()))
			}
			return graph.Identity(y) // pure Go cannot return an input as it is beside one that is not used
		})
		if err != nil {
			return nil, err
		}
	}
	var host *tensors.Tensor
	err = catch(func() error {
		args := []any{row}
		for _, part := range c.state[atX:] {
			args = append(args, part)
		}
		y, err := c.foresee.Exec1(args...)
		if err != nil {
			return err
		}
		host, err = y.LocalClone()
		return err
	})
	return host, err
}
