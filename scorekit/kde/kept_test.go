package kde_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gomlx/gomlx/backends"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/kde"
)

// What an estimate keeps between calls changes no result: not that of the next call, of calls at the same time, of one
// after a call that was stopped, or of an estimate that was made of this one.
func TestCallsOfOneEstimate(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		q := must(t)(kde.New(spread(300, 1, 3), kde.Gaussian, kde.Fixed(0.4)))
		scores := func(q kde.Estimate) []float64 {
			s, err := q.ScoreAt(context.Background(), b, spread(1300, 1, 4))
			if err != nil {
				t.Error(err)
				return nil
			}
			rows, err := scorekit.Rows(s)
			if err != nil {
				t.Error(err)
			}
			return slices.Concat(rows...)
		}
		first := scores(q)
		noised, err := q.Noised(0.5)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Equal(scores(noised), first) {
			t.Error("noise changes nothing")
		}
		stopped := slow{context.Background(), 0, new(atomic.Int64), 2}
		if _, err := q.ScoreAt(stopped, b, spread(1300, 1, 4)); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				if !slices.Equal(scores(q), first) {
					t.Error("a call at the same time as others gives other scores")
				}
			})
		}
		all.Wait()
	})
}
