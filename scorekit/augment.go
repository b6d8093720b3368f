package scorekit

import (
	"fmt"

	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit/random"
)

// Augment is data with each batch changed in the graph: mirrored at random, with noise, and so on. change gets a batch x,
// [batch, dims...], and random numbers drawn afresh each time, and returns one of the same shape. The classes of
// [Labelled] data stay with their examples, and data of [Stream] are still streamed.
//
// A nil argument is an error of the verb that the result is given to, as is another shape or dtype of what change returns.
func Augment(data Data, change func(rng *random.Source, x *Node) *Node) Data {
	return augmented{data, change}
}

type augmented struct {
	data   Data
	change func(rng *random.Source, x *Node) *Node
}

var _ Labelled = augmented{}

func (a augmented) inner() Data { return a.data }

func (a augmented) Validate() error {
	if err := given(argument{"data", a.data}, argument{"change", a.change}); err != nil {
		return fmt.Errorf("Augment: %w", err)
	}
	return validate(a.data)
}

func (a augmented) Shape() []int { return a.data.Shape() }

// Classes returns how many the data have, 0 if they are not Labelled.
func (a augmented) Classes() int {
	if l, ok := a.data.(Labelled); ok {
		return l.Classes()
	}
	return 0
}

func (a augmented) Batch(vars *mlctx.Context, rng *random.Source, n int) *Node {
	return a.changed(rng, a.data.Batch(vars, rng, n))
}

func (a augmented) LabelledBatch(vars *mlctx.Context, rng *random.Source, n int) (x, classes *Node) {
	l, ok := a.data.(Labelled)
	if !ok {
		panic(fmt.Errorf("Augment: data %T have no classes", a.data))
	}
	x, classes = l.LabelledBatch(vars, rng, n)
	return a.changed(rng, x), classes
}

func (a augmented) changed(rng *random.Source, x *Node) *Node {
	y := a.change(rng, x)
	if y == nil || !y.Shape().Equal(x.Shape()) {
		got := "nil"
		if y != nil {
			got = y.Shape().String()
		}
		panic(fmt.Errorf("Augment: change returned %s for examples of %s: must be equal", got, x.Shape()))
	}
	return y
}
