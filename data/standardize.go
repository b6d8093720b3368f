package data

import (
	"fmt"
	"iter"
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
)

// Standardizer brings each column to mean 0 and standard deviation 1, and back:
//
//	z = (x − Mean) / Std,  x = Mean + Std z,  log|det ∂z/∂x| = −Σ log Std
//
// It is plain data: stored as JSON beside a model's weights it undoes the change for samples of the model.
type Standardizer struct {
	// Joint makes one standard deviation of all columns: see [StandardizeJointly].
	Joint bool      `json:"joint,omitempty"`
	Mean  []float64 `json:"mean"`
	Std   []float64 `json:"std"`
}

var _ Transform = Standardizer{}

// Standardize fits a [Standardizer] to the columns of x, [n, dims...], and returns it with the standardised tensor, of
// x's dtype. Mean and Std are those of the rows at hand (divisor n). It returns an error when x is empty, not float32
// or float64, or holds a NaN or an infinity, which is named by row and column, and a [FlatColumnsError] for columns
// that do not vary: there is nothing to divide by. Leave those out, or use [StandardizeJointly] if the columns have one
// unit.
func Standardize(x *tensors.Tensor) (Standardizer, *tensors.Tensor, error) {
	return standardize("Standardize", x, false)
}

// StandardizeJointly is [Standardize] with one standard deviation for all columns, that of the centred matrix as a whole:
// its root mean square becomes 1, and the proportions of the columns stay as they are. It is the choice for columns of
// one unit, such as pixels, where a column that hardly varies should not be blown up and one that does not vary is only
// centred. Rows that are all equal are an error.
func StandardizeJointly(x *tensors.Tensor) (Standardizer, *tensors.Tensor, error) {
	return standardize("StandardizeJointly", x, true)
}

func standardize(verb string, x *tensors.Tensor, joint bool) (Standardizer, *tensors.Tensor, error) {
	s, err := fitStandardizer(TensorRows(x), joint)
	if err != nil {
		return Standardizer{}, nil, fmt.Errorf("data: %s: %w", verb, err)
	}
	z, err := s.Apply(x)
	return s, z, err
}

// Fit takes Mean and Std from the rows, in one pass. Its errors are those of [Standardize].
func (s Standardizer) Fit(rows iter.Seq2[[]float64, error]) (Transform, error) {
	fitted, err := fitStandardizer(rows, s.Joint)
	if err != nil {
		return nil, fitError{"Standardizer", err}
	}
	return fitted, nil
}

func fitStandardizer(rows iter.Seq2[[]float64, error], joint bool) (Standardizer, error) {
	m, err := measure(rows)
	if err != nil {
		return Standardizer{}, err
	}
	s := Standardizer{Joint: joint, Mean: m.means(), Std: m.deviations()}
	flat := m.flat()
	if !joint {
		return s, flat
	}
	all := 0.0
	for _, std := range s.Std {
		all = math.Hypot(all, std/math.Sqrt(float64(len(s.Std))))
	}
	if all == 0 {
		return Standardizer{}, flat
	}
	for j := range s.Std {
		s.Std[j] = all
	}
	return s, nil
}

// Validate returns an error when the numbers of means and deviations differ, a mean is not finite or a deviation is
// not positive and finite.
func (s Standardizer) Validate() error {
	if len(s.Mean) == 0 || len(s.Mean) != len(s.Std) {
		return fmt.Errorf("data: Standardizer: %d means and %d deviations: must be as many, and at least one", len(s.Mean), len(s.Std))
	}
	for j := range s.Mean {
		if math.IsNaN(s.Mean[j]) || math.IsInf(s.Mean[j], 0) {
			return fmt.Errorf("data: Standardizer: mean[%d] = %v: must be finite", j, s.Mean[j])
		}
		if !(s.Std[j] > 0) || math.IsInf(s.Std[j], 0) {
			return fmt.Errorf("data: Standardizer: std[%d] = %v: must be positive and finite", j, s.Std[j])
		}
	}
	return nil
}

// Apply returns (x − Mean)/Std for x [n, dims...], of x's dtype. It returns an error when x does not have d columns or
// holds a NaN or an infinity, or s is not valid.
func (s Standardizer) Apply(x *tensors.Tensor) (*tensors.Tensor, error) { return apply(s, x) }

// Invert returns Mean + Std·z for z [n, dims...], of z's dtype: what Apply was given, to rounding. Its errors are those
// of Apply.
func (s Standardizer) Invert(z *tensors.Tensor) (*tensors.Tensor, error) { return invert(s, z) }

// LogDet returns −Σ log Std for each row.
func (s Standardizer) LogDet(x *tensors.Tensor) ([]float64, error) { return logDets(s, x) }

// PullBack returns score/Std.
func (s Standardizer) PullBack(x, score *tensors.Tensor) (*tensors.Tensor, error) {
	return pulledBack(s, x, score)
}

// ApplyGraph adds (x − Mean)/Std to the graph of x.
func (s Standardizer) ApplyGraph(x *Node) *Node {
	return onColumns(s, x, func(x *Node) *Node { return graph.Div(graph.Sub(x, row(x, s.Mean)), row(x, s.Std)) })
}

func (Standardizer) kind() string     { return "standardize" }
func (s Standardizer) columns() int   { return len(s.Mean) }
func (s Standardizer) isFitted() bool { return s.Mean != nil || s.Std != nil }

func (s Standardizer) forward(row []float64) error {
	for j := range row {
		row[j] = (row[j] - s.Mean[j]) / s.Std[j]
	}
	return nil
}

func (s Standardizer) backward(row []float64) {
	for j := range row {
		row[j] = s.Mean[j] + s.Std[j]*row[j]
	}
}

func (s Standardizer) logDet([]float64) float64 {
	sum := 0.0
	for _, std := range s.Std {
		sum -= math.Log(std)
	}
	return sum
}

func (s Standardizer) pullBack(_, score []float64) {
	for j := range score {
		score[j] /= s.Std[j]
	}
}
