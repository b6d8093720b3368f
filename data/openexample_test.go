package data_test

import (
	"context"
	"fmt"
	"log"

	"github.com/scorekit/lab/data"
)

// A CSV with a class in one of its columns. Set reads it into memory; as a source for scorekit.Stream it is read while training,
// which a file larger than memory needs.
func ExampleOpen() {
	file, err := data.Open("wine.csv", data.WithLabels("cultivar"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(file.Format, "with values", file.Columns[:3], "and so on, classes", file.ClassNames)
	set, err := file.Set(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(set.X.Shape())
	train, held, err := file.Split(0.8, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(train.Rows, "rows to train with,", held.Rows, "to compare with")
	// Output:
	// CSV with values [alcohol malic_acid ash] and so on, classes [0 1 2]
	// (Float32)[178 13]
	// 145 rows to train with, 33 to compare with
}
