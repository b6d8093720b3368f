package data

import (
	"fmt"
	"math"

	"github.com/scorekit/lab/scorekit/likelihood"
)

// Levels are the values that discrete data takes, equally far apart:
//
//	x_k = Low + k·w,  k = 0 … Count−1,  w = (High−Low)/(Count−1)
//
// Low and High are the first and the last of them: {256, 0, 255} are pixels as whole numbers, {256, 0, 1} the same
// divided by 255.
type Levels struct {
	Count int     `json:"count"` // at least 2
	Low   float64 `json:"low"`
	High  float64 `json:"high"` // above Low
}

// Validate returns an error unless Count is at least 2 and the range finite and rising.
func (l Levels) Validate() error {
	if l.Count < 2 {
		return fmt.Errorf("data: Levels: count %d: must be at least 2", l.Count)
	}
	if r := l.High - l.Low; !(r > 0) || math.IsInf(r, 0) {
		return fmt.Errorf("data: Levels: from %v to %v: must be finite and rising", l.Low, l.High)
	}
	return nil
}

// Step returns w, the distance between neighbours.
func (l Levels) Step() float64 { return (l.High - l.Low) / float64(l.Count-1) }

// at returns level k.
func (l Levels) at(k float64) float64 { return l.Low + k*(l.High-l.Low)/float64(l.Count-1) }

// bins returns the cells [x_k, x_k + w) that the levels are spread over.
func (l Levels) bins() likelihood.Bins {
	return likelihood.Bins{Count: l.Count, Low: l.Low, High: l.High + l.Step()}
}

// index returns the k of a level, which the value may miss by a hundredth of a step, for the rounding of float32.
func (l Levels) index(v float64) (k float64, ok bool) {
	k = math.Round((v - l.Low) / l.Step())
	return k, k >= 0 && k < float64(l.Count) && math.Abs(v-l.at(k)) <= 0.01*l.Step()
}
