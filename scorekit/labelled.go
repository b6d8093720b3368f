package scorekit

import (
	"fmt"
	"slices"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
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

// graphOf writes out what the graph knows of them.
func (l labelledExamples) graphOf() string {
	return fmt.Sprintf("labelled %s", l.examples.graphOf())
}

// place puts the examples and their classes on the device.
func (l labelledExamples) place(vars *mlctx.Context, dtype dtypes.DType) error {
	if err := l.examples.place(vars, dtype); err != nil {
		return err
	}
	return l.placeClasses(vars)
}

const classesName = "classes"

func (l labelledExamples) placeClasses(vars *mlctx.Context) error {
	return placeAs(vars, classesName, tensors.FromFlatDataAndDimensions(slices.Clone(l.labels), len(l.labels)))
}

func (l labelledExamples) LabelledBatch(vars *mlctx.Context, rng *random.Source, n int) (x, classes *Node) {
	x, rows := l.draw(vars, rng, n)
	stored := onDevice(vars, classesName, func() error { return l.placeClasses(vars) })
	return x, graph.Gather(stored.ValueGraph(rng.Graph()), rows)
}

// checkClass returns an error unless class is one of so many, or NoClass.
func checkClass(class, classes int) error {
	if class < NoClass || class >= classes {
		return fmt.Errorf("class %d: must be from 0 to %d, or NoClass", class, classes-1)
	}
	return nil
}
