package kde_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/kde"
)

// slow is a context that takes its time to answer, and may end when it has been asked often enough: that makes work slow,
// and stops it at a place that is known.
type slow struct {
	context.Context
	delay time.Duration
	asked *atomic.Int64
	end   int64 // 0 for never
}

func (s slow) Err() error {
	time.Sleep(s.delay)
	if asked := s.asked.Add(1); s.end > 0 && asked >= s.end {
		return context.Canceled
	}
	return nil
}

// Of many centres, progress is told within a block of points too, and an end within one says how far it came; 2,048 points
// are two blocks, 4,097 centres three of 1,366 for a kernel that looks at all pairs, and of 1,368 where few of them count.
func TestProgressAndEndWithinABlock(t *testing.T) {
	b := testbackend.Go(t)
	for _, c := range []struct {
		d      int
		kernel kde.Kernel
		h      float64
	}{{1, kde.Logistic, 0.1}, {8, kde.Gaussian, 0.01}} {
		x := spread(2048, c.d, 3)
		q := must(t)(kde.New(spread(4097, c.d, 3), c.kernel, kde.Fixed(c.h)))
		var steps []int
		var last scorekit.Report
		report := func(r scorekit.Report) { steps, last = append(steps, r.Step), r }
		if _, err := q.LogDensityAt(slow{context.Background(), 260 * time.Millisecond, new(atomic.Int64), 0}, b, x, report); err != nil {
			t.Fatal(err)
		}
		if want := []int{0, 0, 341, 682, 1024, 1365, 1706, 2048}; !slices.Equal(steps, want) || !last.Done || last.Total != 2048 || last.Unit != "points" {
			t.Errorf("%s: reports of %v points, the last %+v, want %v", c.kernel, steps, last, want)
		}
		for _, test := range []struct {
			asked       int64
			done, worth int
		}{{1, 0, 0}, {3, 0, 341}, {5, 1024, 1024}} {
			_, err := q.LogDensityAt(slow{context.Background(), 0, new(atomic.Int64), test.asked}, b, x, report)
			if want := fmt.Sprintf("kde: LogDensityAt: stopped after %d of 2048 points: context canceled", test.done); fmt.Sprint(err) != want || !errors.Is(err, context.Canceled) {
				t.Errorf("%s: error %v, want %s", c.kernel, err, want)
			}
			if !last.Done || last.Step != test.worth {
				t.Errorf("%s: last report of a run that was stopped: %+v", c.kernel, last)
			}
		}
	}
}

// The search for a bandwidth tells how many it has tried, of at most Total.
func TestLeaveOneOutProgress(t *testing.T) {
	ctx := slow{context.Background(), 20 * time.Millisecond, new(atomic.Int64), 0}
	var reports []scorekit.Report
	must(t)(kde.New([][]float64{{0}, {1}, {1.5}, {3}}, kde.Gaussian, kde.LeaveOneOut(ctx, func(r scorekit.Report) { reports = append(reports, r) })))
	if len(reports) < 3 || reports[0].Step != 0 || !reports[len(reports)-1].Done {
		t.Fatalf("reports %+v: must be from 0 to the end", reports)
	}
	for i, r := range reports[1:] {
		if r.Step < reports[i].Step || r.Step < 1 || r.Step > r.Total || r.Total != reports[0].Total || r.Unit != "bandwidths" {
			t.Errorf("%+v after %+v", r, reports[i])
		}
	}
}
