package scorekit

import (
	"fmt"
	"slices"

	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit/random"
)

// LabelledExamples is [Examples] with the class of each point, numbered from 0; [NoClass] for one whose class is not
// known. The result is [Labelled], with as many classes as the largest number says.
//
// It returns the errors of Examples, and one for another number of labels than points and for a label below NoClass or so
// large that it is no class.
func LabelledExamples(points any, labels []int) (Data, error) {
	const who = "scorekit: LabelledExamples"
	t, err := ownTensor(points)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", who, err)
	}
	if n := t.Shape().Dimensions[0]; len(labels) != n {
		return nil, fmt.Errorf("%s: %d labels for %d points: must be one for each", who, len(labels), n)
	}
	classes := make([]int32, len(labels))
	for i, label := range labels {
		if label < NoClass || label >= maxClasses {
			return nil, fmt.Errorf("%s: row %d has label %d: must be a class from 0 to %d, or NoClass (rows count from 0)", who, i, label, maxClasses-1)
		}
		classes[i] = int32(label)
	}
	return labelledExamples{examples{t}, classes, slices.Max(labels) + 1}, nil
}

// maxClasses keeps a number that is no class, such as a year, from making a network of as many classes.
const maxClasses = 1 << 20

// labelledExamples is examples with the class of each.
type labelledExamples struct {
	examples
	labels  []int32
	classes int
}

var _ Labelled = labelledExamples{}

func (l labelledExamples) Classes() int { return l.classes }

func (l labelledExamples) LabelledBatch(vars *mlctx.Context, rng *random.Source, n int) (x, classes *Node) {
	const name = "classes"
	x, rows := l.draw(vars, rng, n)
	vars = vars.In(examplesScope)
	stored := vars.GetVariable(name)
	if stored == nil {
		stored = vars.VariableWithValue(name, tensors.FromFlatDataAndDimensions(l.labels, len(l.labels))).SetTrainable(false)
	}
	return x, graph.Gather(stored.ValueGraph(rng.Graph()), rows)
}

// checkClass returns an error unless class is one of so many, or NoClass.
func checkClass(class, classes int) error {
	if class < NoClass || class >= classes {
		return fmt.Errorf("class %d: must be from 0 to %d, or NoClass", class, classes-1)
	}
	return nil
}
