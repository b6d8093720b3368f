package experiment_test

import (
	"context"
	"fmt"
	"log"

	"github.com/scorekit/lab/internal/experiment"
)

// What is left open follows from the data and from what is given: one noise level asks for a network and a loss of one.
func Example() {
	for _, sigma := range []string{"auto", "0.5"} {
		c := experiment.Default()
		c.Data, c.Sigma = "wine", sigma
		c, err := experiment.Prepare(context.Background(), c)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(c.Transf, c.Net, c.Objective, c.Sigma)
	}
	// Output:
	// standardize noise-mlp multinoise 0.074:20
	// standardize mlp denoising 0.5
}
