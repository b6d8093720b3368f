package kde_test

import (
	"context"
	"fmt"
	"log"

	"github.com/scorekit/lab/scorekit/backend"
	"github.com/scorekit/lab/scorekit/kde"
)

// Five points on the line, with the bandwidth of the greatest leave-one-out likelihood, and their estimate at three
// places: the score points to the nearest group of points, and within one it is small.
func Example() {
	points := [][]float64{{-1.2}, {-1}, {-0.7}, {2}, {2.4}}
	ctx := context.Background()
	q, err := kde.New(points, kde.Gaussian, kde.LeaveOneOut(ctx))
	if err != nil {
		log.Fatal(err)
	}
	b, err := backend.OpenConfig("go")
	if err != nil {
		log.Fatal(err)
	}
	at := [][]float64{{-3}, {0}, {2.1}}
	logs, err := q.LogDensityAt(ctx, b, at)
	if err != nil {
		log.Fatal(err)
	}
	scores, err := q.ScoreAt(ctx, b, at)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("h %.3f\n", q.Bandwidth()[0])
	fmt.Printf("log q %.3f\n", logs)
	fmt.Printf("score %.3f\n", scores.Value())
	// Output:
	// h 0.355
	// log q [-14.267 -3.288 -0.986]
	// score [[14.322] [-5.893] [0.543]]
}
