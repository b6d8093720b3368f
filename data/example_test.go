package data_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/scorekit/lab/data"
	"github.com/scorekit/lab/scorekit/likelihood"
)

// Real images, dealt into a part to learn from and a part to compare with; the pixels are standardised for learning,
// and samples will be brought back with Invert.
func Example() {
	digits, err := data.Digits()
	if err != nil {
		log.Fatal(err)
	}
	learn, compare, err := digits.Split(0.8, 1)
	if err != nil {
		log.Fatal(err)
	}
	pixels, x, err := data.StandardizeJointly(learn.X)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("to learn from:", x.Shape())
	fmt.Println("to compare with:", compare.X.Shape())
	fmt.Printf("middle pixel: mean %.2f, std %.2f\n", pixels.Mean[36], pixels.Std[36])
	// Output:
	// to learn from: (Float32)[1438 64]
	// to compare with: (Float32)[359 64]
	// middle pixel: mean 0.64, std 0.27
}

// The ring is 8 Gaussians, so its exact covariance is (R²/2 + s²) I.
func ExampleRing() {
	p, err := data.Ring{Radius: 4, Std: 0.3}.Density()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("modes:", len(p.Components()))
	fmt.Printf("variance: %.2f\n", p.Cov()[0][0])
	// Output:
	// modes: 8
	// variance: 8.09
}

// What a model learns, and how samples and log-densities come back to the units of the data. A model that knows nothing
// but the range of the pixels needs 8 bits for each.
func ExamplePipeline() {
	digits, err := data.MNIST()
	if err != nil {
		log.Fatal(err)
	}
	learn, _, err := digits.Split(0.1, 1)
	if err != nil {
		log.Fatal(err)
	}
	p, err := data.Pipeline{
		Dequantize: data.Dequantizer{Levels: learn.Levels},
		Transforms: data.Chain{data.MinMax{Low: -1, High: 1, Joint: true}},
	}.FitSet(context.Background(), learn)
	if err != nil {
		log.Fatal(err)
	}
	z, offsets, err := p.Apply(learn.X, 1)
	if err != nil {
		log.Fatal(err)
	}
	samples, err := p.Restore(z)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("pixels come back as they were:", samples.X.Equal(learn.X))
	uniform := -784 * math.Log(2) // the log-density at any point of [−1, 1]⁷⁸⁴
	fmt.Printf("%.3f bits a pixel\n", likelihood.BitsPerDim(uniform+offsets[0], 784))
	// Output:
	// pixels come back as they were: true
	// 8.000 bits a pixel
}
