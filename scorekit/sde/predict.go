package sde

import (
	"fmt"
	"math"
)

// Prediction is what a network tells of a state x = a·x₀ + b·ε at the level {a, b}. All five are the same knowledge: each
// follows from any other and x.
type Prediction int

const (
	// Score is ∇ₓ log p(x) of the state: −ε/b.
	Score Prediction = iota
	// Noise is ε, the mean of the noise given the state (Ho et al. 2020).
	Noise
	// Data is x₀, the mean of the data given the state: the denoiser. (x + b²·score)/a is Tweedie's formula (Robbins 1956;
	// Efron 2011).
	Data
	// V is v = a·ε − b·x₀ (Salimans and Ho 2022).
	V
	// Flow is ε − x₀, the velocity of the straight path (Liu et al. 2023). Other texts let time run from noise to data,
	// and have it with the other sign.
	Flow
)

var predictions = []string{"score", "noise", "data", "v", "flow"}

// String returns the name of p.
func (p Prediction) String() string {
	if p < 0 || int(p) >= len(predictions) {
		return fmt.Sprintf("Prediction(%d)", int(p))
	}
	return predictions[p]
}

func (p Prediction) validate() error {
	if p < 0 || int(p) >= len(predictions) {
		return fmt.Errorf("%v: must be Score, Noise, Data, V or Flow", p)
	}
	return nil
}

// noiseOf returns ε from the prediction y of the state x.
func noiseOf[N number[N]](p Prediction, a, b, x, y N) N {
	switch p {
	case Score:
		return b.times(y).scaled(-1)
	case Data:
		return x.minus(a.times(y)).over(b)
	case V:
		return b.times(x).plus(a.times(y)).over(a.times(a).plus(b.times(b)))
	case Flow:
		return x.plus(a.times(y)).over(a.plus(b))
	default:
		return y
	}
}

// dataOf returns x₀ from the prediction y of the state x.
func dataOf[N number[N]](p Prediction, a, b, x, y N) N {
	switch p {
	case Score:
		return x.plus(b.times(b).times(y)).over(a)
	case Data:
		return y
	case V:
		return a.times(x).minus(b.times(y)).over(a.times(a).plus(b.times(b)))
	case Flow:
		return x.minus(b.times(y)).over(a.plus(b))
	default:
		return x.minus(b.times(y)).over(a)
	}
}

func convert[N number[N]](from, to Prediction, a, b, x, y N) N {
	switch {
	case from == to:
		return y
	case to == Score:
		return noiseOf(from, a, b, x, y).over(b).scaled(-1)
	case to == Data:
		return dataOf(from, a, b, x, y)
	case to == V:
		return a.times(noiseOf(from, a, b, x, y)).minus(b.times(dataOf(from, a, b, x, y)))
	case to == Flow:
		return noiseOf(from, a, b, x, y).minus(dataOf(from, a, b, x, y))
	default:
		return noiseOf(from, a, b, x, y)
	}
}

// Convert turns the prediction y of one kind, of the state x at a level, into one of another kind, coordinate by
// coordinate. x and y must be as many. It returns an error where the level does not determine the result, such as data
// from noise at Mean = 0 or noise from data at Std = 0.
func Convert(from, to Prediction, at Level, x, y []float64) ([]float64, error) {
	for _, err := range []error{from.validate(), to.validate(), at.Validate()} {
		if err != nil {
			return nil, fmt.Errorf("sde: Convert: %w", err)
		}
	}
	if len(x) != len(y) {
		return nil, fmt.Errorf("sde: Convert: prediction of %d coordinates for a state of %d: must be as many", len(y), len(x))
	}
	out := make([]float64, len(x))
	for i := range x {
		out[i] = float64(convert(from, to, real(at.Mean), real(at.Std), real(x[i]), real(y[i])))
		if math.IsNaN(out[i]) || math.IsInf(out[i], 0) {
			return nil, fmt.Errorf("sde: Convert: from %v to %v at level %+v, state[%d] = %v, prediction[%d] = %v: the result is not a finite number", from, to, at, i, x[i], i, y[i])
		}
	}
	return out, nil
}

// ConvertNode is [Convert] in a graph: x and y are [batch, dims...]. What a level does not determine comes out as NaN or
// Inf. It panics, as graph functions do, for a kind that is none of the five.
func ConvertNode(from, to Prediction, at NodeLevel, x, y *Node) *Node {
	for _, p := range []Prediction{from, to} {
		if err := p.validate(); err != nil {
			panic(fmt.Errorf("sde: ConvertNode: %w", err))
		}
	}
	return convert(from, to, node{alike(at.Mean, x)}, node{alike(at.Std, x)}, node{x}, node{y}).Node
}
