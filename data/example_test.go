package data_test

import (
	"fmt"
	"log"

	"github.com/scorekit/lab/data"
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
	pixels, x, err := data.Standardize(learn.X)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("to learn from:", x.Shape())
	fmt.Println("to compare with:", compare.X.Shape())
	fmt.Printf("middle pixel: mean %.2f, std %.2f\n", pixels.Mean[36], pixels.Std[36])
	// Output:
	// to learn from: (Float32)[1438 64]
	// to compare with: (Float32)[359 64]
	// middle pixel: mean 0.64, std 0.37
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
