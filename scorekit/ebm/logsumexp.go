package ebm

import "math"

// logSum adds numbers that are known by their logarithms, none of which need fit into a float64: log Σ eᵃ = m +
// log Σ e^{a−m} with m the largest a so far.
type logSum struct {
	largest float64
	sum     float64 // of e^{a − largest}
}

func newLogSum() logSum { return logSum{largest: math.Inf(-1)} }

// add adds weight·e^a.
func (s *logSum) add(a, weight float64) {
	switch {
	case math.IsInf(a, -1):
	case a > s.largest:
		s.sum = s.sum*math.Exp(s.largest-a) + weight
		s.largest = a
	default:
		s.sum += weight * math.Exp(a-s.largest)
	}
}

// log returns the logarithm of the sum, −∞ for none.
func (s *logSum) log() float64 {
	if s.sum == 0 {
		return math.Inf(-1)
	}
	return s.largest + math.Log(s.sum)
}
