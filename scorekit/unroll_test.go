package scorekit

import (
	"testing"

	"github.com/scorekit/lab/internal/testbackend"
)

// Every block length is compiled on its own: by default there are at most two, and one where the steps allow it.
func TestDefaultUnroll(t *testing.T) {
	if got := defaultUnroll(testbackend.Go(t), []int{2}, 2000, 0); got != 1 {
		t.Errorf("pure Go: %d steps a call, want 1", got)
	}
	xla, ok := testbackend.XLA(t)
	if !ok {
		return
	}
	for steps, want := range map[int]int{1499: 1, 2000: 5} {
		if got := defaultUnroll(xla, []int{28, 28, 1}, steps, 0); got != want {
			t.Errorf("images, %d steps: %d a call, want %d", steps, got, want)
		}
	}
	for _, c := range []struct{ steps, every, want, lengths int }{
		{399, 0, 1, 1}, {400, 0, 5, 1}, {402, 0, 3, 1}, {1496, 0, 4, 1}, {1500, 0, 5, 1}, {2000, 0, 5, 1}, {1999, 0, 5, 2},
		{2000, 1000, 5, 1}, {2000, 25, 5, 1}, {2000, 40, 5, 1}, {2000, 7, 1, 1}, {2000, 11, 1, 1}, {2000, 1, 1, 1}, {1999, 4, 4, 2},
	} {
		tr := &training{fitSettings: &fitSettings{steps: c.steps, checkpointN: c.every}}
		if tr.unroll = defaultUnroll(xla, []int{2}, c.steps, c.every); tr.unroll != c.want {
			t.Errorf("%d steps, checkpoints every %d: %d a call, want %d", c.steps, c.every, tr.unroll, c.want)
		}
		if c.every > 0 {
			tr.store = &store{}
		}
		lengths := map[int]bool{}
		for tr.step < c.steps {
			end := tr.end(tr.step)
			lengths[end-tr.step] = true
			tr.step = end
		}
		if len(lengths) != c.lengths {
			t.Errorf("%d steps, checkpoints every %d: blocks of lengths %v, want %d of them", c.steps, c.every, lengths, c.lengths)
		}
	}
}
