package plots_test

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/plots"
)

// The error of a mean falls as the root of the number of draws.
func ExamplePowerLaw() {
	measured := plots.Line{
		Name: "mean of n draws",
		X:    []float64{100, 400, 1600, 6400},
		Y:    []float64{0.102, 0.049, 0.0252, 0.0124},
	}
	fit, err := plots.FitPower(measured)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("slope %.3f, standard error %.3f\n", fit.Exponent, fit.StandardError)

	figure, err := plots.PowerLaw{XLabel: "n", YLabel: "error", Lines: []plots.Line{measured}, Expected: -0.5}.Figure()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(figure.Alt)
	// Output:
	// slope -0.504, standard error 0.006
	// Power law: error against n.
}

// The score of a standard normal distribution, s(x) = −x, over its density.
func Example() {
	points, lattice, err := plots.Grid(-3, 3, -3, 3, 20, 20)
	if err != nil {
		fmt.Println(err)
		return
	}
	x, err := tensors.CopyFlatData[float32](points)
	if err != nil {
		fmt.Println(err)
		return
	}
	score, logDensity := make([]float32, len(x)), make([]float32, len(x)/2)
	for i := range logDensity {
		a, b := x[2*i], x[2*i+1]
		score[2*i], score[2*i+1] = -a, -b
		logDensity[i] = -(a*a+b*b)/2 - float32(math.Log(2*math.Pi))
	}
	figure, err := plots.ScoreField{
		Lattice: lattice,
		Fields:  []plots.Field{{Title: "standard normal", Score: tensors.FromFlatDataAndDimensions(score, 400, 2)}},
		Density: plots.Density{Lattice: lattice, Log: tensors.FromFlatDataAndDimensions(logDensity, 400)},
	}.Figure()
	if err != nil {
		fmt.Println(err)
		return
	}
	picture, err := figure.PNG() // or figure.Save("score.svg")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(figure.Alt, len(picture) > 0)
	// Output: Score field: standard normal. true
}
