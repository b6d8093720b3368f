package scorekit

import (
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit/random"
)

// NoClass is the class of an example whose class is not told: a [Conditional] model then gives the score of all classes
// together.
const NoClass = -1

// Labelled is [Data] whose examples have classes.
type Labelled interface {
	Data
	// Classes returns how many there are: they are numbered from 0. It returns 0 if the examples have none after all.
	Classes() int
	// LabelledBatch is [Data.Batch] with the class of each example, int32 [n].
	LabelledBatch(vars *mlctx.Context, rng *random.Source, n int) (x, classes *Node)
}

// Conditional is a [Model] with a score for each class beside that of all together.
type Conditional interface {
	Model
	// NumClasses returns how many classes the model knows; 0 makes it an ordinary model.
	NumClasses() int
	// ScoreGiven returns ∇ₓ log p_σ(x | class), of the shape of x. classes is int32 [batch]; where it is [NoClass] the
	// score is that of p_σ(x), as Score gives it for all.
	ScoreGiven(vars *mlctx.Context, x, sigma, classes *Node) *Node
}
