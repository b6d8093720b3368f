package scorekit

import (
	"fmt"
	"strconv"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit/random"
)

// WithClassDropout sets how often the class of an example is left out while a [Conditional] model is trained, a
// probability from 0 up to but not 1 (default 0.1, Ho and Salimans 2022, algorithm 1). It is what makes such a model know
// the score of all classes together, which guidance needs (see [Given]); with 0 it learns the score of each class alone.
//
// A model that has classes is always trained with them: its data must be [Labelled].
func WithClassDropout(p float64) FitOption {
	return fitOption(func(s *fitSettings) error {
		if !(p >= 0 && p < 1) {
			return fmt.Errorf("class dropout %v: must be at least 0 and below 1", p)
		}
		s.classDropout = &p
		return nil
	})
}

const defaultClassDropout = 0.1

// numClasses returns how many classes a model knows, 0 for one that is not conditional.
func numClasses(model Model) int {
	if c, ok := model.(Conditional); ok {
		return c.NumClasses()
	}
	return 0
}

// labelsFor returns the number of classes of a model whose examples must come with theirs, 0 for a model that has none. It
// returns an error for data without classes, and for data with more than the model has.
func labelsFor(model Model, data Data) (int, error) {
	n := numClasses(model)
	if n == 0 {
		return 0, nil
	}
	if !hasClasses(data) {
		return 0, fmt.Errorf("model %T has %d classes but the data %T have none: must be data with labels, such as LabelledExamples, or a model without classes", model, n, data)
	}
	// A stream that does not tell has 0 here: it is found out batch by batch.
	if classes := data.(Labelled).Classes(); classes > n {
		return 0, fmt.Errorf("data with %d classes for a model %T of %d: must not be more", classes, model, n)
	}
	return n, nil
}

// hasClasses says whether the examples of data may have classes.
func hasClasses(data Data) bool {
	if s, ok := streamOf(data); ok {
		n, told := s.told()
		return n > 0 || !told
	}
	l, ok := data.(Labelled)
	return ok && l.Classes() > 0
}

// dropClasses leaves out the classes, int32 [batch], each with probability p.
func dropClasses(rng *random.Source, classes *Node, p float64) *Node {
	if p == 0 {
		return classes
	}
	u := rng.Uniform(classes.Shape().Dimensions...)
	return graph.Where(graph.LessThan(u, graph.Scalar(u.Graph(), u.DType(), p)), unknown(classes), classes)
}

// unknown is NoClass in the shape of classes.
func unknown(classes *Node) *Node {
	return graph.AddScalar(graph.ZerosLike(classes), NoClass)
}

// scoreGiven is the score of a model given the classes of a batch, int32 [batch], and the plain score where they are nil.
type scoreGiven struct {
	model   Model
	classes *Node
}

func (s scoreGiven) of() Model { return s.model }

func (s scoreGiven) Score(vars *mlctx.Context, x, sigma *Node) *Node {
	if s.classes == nil {
		return s.model.Score(vars, x, sigma)
	}
	if n, want := x.Shape().Dimensions[0], s.classes.Shape().Dimensions[0]; n != want {
		panic(fmt.Errorf("score of %d points for a batch of %d examples with classes: which has which cannot be told; must be an objective that asks for as many, or a model without classes", n, want))
	}
	return s.model.(Conditional).ScoreGiven(vars, x, sigma, s.classes)
}

func checkClasses(data Data, classes *Node, n int) {
	if classes == nil || classes.DType() != dtypes.Int32 || classes.Rank() != 1 || classes.Shape().Dimensions[0] != n {
		got := "nil"
		if classes != nil {
			got = classes.Shape().String()
		}
		panic(fmt.Errorf("data %T gave classes %s: must be Int32 [%d]", data, got, n))
	}
}

// dropoutText is a class dropout as a header has it.
func dropoutText(p *float64) string {
	if p == nil {
		return "none, without classes"
	}
	return strconv.FormatFloat(*p, 'g', -1, 64)
}
