package data

import (
	"fmt"
	"iter"
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
)

// Logit brings numbers from 0 to 1 to the whole line, and back:
//
//	z = log(p/(1−p)),  p = α + (1−2α)x,  log|det ∂z/∂x| = Σ log(1−2α) − log p − log(1−p)
//
// with the margin α that keeps z finite at 0 and 1: |z| ≤ log((1−α)/α), which is 2.9 for α = 0.05 (Dinh, Sohl-Dickstein
// and Bengio 2017, Density estimation using Real NVP, §4.1; this form as in Papamakarios, Pavlakou and Murray 2017,
// Masked autoregressive flow, whose margin for MNIST is 10⁻⁶). What a model draws further out comes back as x below 0
// or above 1, by at most α/(1−2α). Values outside [0, 1] are refused: bring them there with [MinMax] first.
type Logit struct {
	Margin float64 `json:"margin"` // α: 0 means 0.05; below ½
}

var _ Transform = Logit{}

func (l Logit) alpha() float64 { return orDefault(l.Margin, 0.05) }

// Fit returns l: it takes no numbers from data. It returns an error for an impossible margin.
func (l Logit) Fit(iter.Seq2[[]float64, error]) (Transform, error) { return l, l.Validate() }

// Validate returns an error unless the margin is above 0 and below ½.
func (l Logit) Validate() error {
	if a := l.alpha(); !(a > 0 && a < 0.5) {
		return fmt.Errorf("data: Logit: margin %v: must be above 0 and below 0.5", a)
	}
	return nil
}

// Apply returns log(p/(1−p)). Values outside [0, 1] are an error.
func (l Logit) Apply(x *tensors.Tensor) (*tensors.Tensor, error) { return apply(l, x) }

// Invert returns (1/(1+e^{−z}) − α)/(1−2α).
func (l Logit) Invert(z *tensors.Tensor) (*tensors.Tensor, error) { return invert(l, z) }

// LogDet returns Σ log(1−2α) − log p − log(1−p) for each row.
func (l Logit) LogDet(x *tensors.Tensor) ([]float64, error) { return logDets(l, x) }

// PullBack returns (1−2α)(score − (1−2p))/(p(1−p)).
func (l Logit) PullBack(x, score *tensors.Tensor) (*tensors.Tensor, error) {
	return pulledBack(l, x, score)
}

// ApplyGraph adds log(p/(1−p)) to the graph of x.
func (l Logit) ApplyGraph(x *Node) *Node {
	return onColumns(l, x, func(x *Node) *Node {
		p := graph.AddScalar(graph.MulScalar(x, 1-2*l.alpha()), l.alpha())
		return graph.Sub(graph.Log(p), graph.Log(graph.OneMinus(p)))
	})
}

func (Logit) kind() string   { return "logit" }
func (Logit) columns() int   { return 0 }
func (Logit) isFitted() bool { return true }

// shares returns p and 1−p, each without cancellation.
func (l Logit) shares(x float64) (p, q float64) {
	a := l.alpha()
	return a + (1-2*a)*x, a + (1-2*a)*(1-x)
}

func (l Logit) forward(row []float64) error {
	for j, x := range row {
		if !(x >= 0 && x <= 1) {
			return fmt.Errorf("column %d: value %v: must be from 0 to 1; a MinMax before the Logit whose range holds all data brings it there", j, x)
		}
		p, q := l.shares(x)
		row[j] = math.Log(p / q)
	}
	return nil
}

func (l Logit) backward(row []float64) {
	a := l.alpha()
	for j, z := range row {
		row[j] = (1/(1+math.Exp(-z)) - a) / (1 - 2*a)
	}
}

func (l Logit) logDet(row []float64) float64 {
	sum := 0.0
	for _, x := range row {
		p, q := l.shares(x)
		sum += math.Log((1 - 2*l.alpha()) / p / q)
	}
	return sum
}

func (l Logit) pullBack(row, score []float64) {
	for j, x := range row {
		p, q := l.shares(x)
		// d log|dz/dx| / dx = (1−2α)(p−q)/(pq)
		score[j] = (1 - 2*l.alpha()) / p / q * (score[j] + p - q)
	}
}
