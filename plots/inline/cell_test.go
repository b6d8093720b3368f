package inline_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/scorekit/lab/plots"
	"github.com/scorekit/lab/plots/inline"
)

// ended runs f and returns the error it panics with.
func ended(t *testing.T, f func()) (err error) {
	t.Helper()
	defer func() {
		switch r := recover().(type) {
		case nil:
		case error:
			err = r
		default:
			t.Errorf("panic with %T, want an error", r)
		}
	}()
	f()
	return nil
}

func TestCellsEndWithTheirErrors(t *testing.T) {
	wrong := errors.New("wrong")
	if err := ended(t, func() { inline.Must(1, wrong) }); err != wrong {
		t.Errorf("Must: %v", err)
	}
	if err := ended(t, func() { inline.Must2(1, "a", wrong) }); err != wrong {
		t.Errorf("Must2: %v", err)
	}
	if err := ended(t, func() { inline.Figure(nil, wrong) }); err != wrong {
		t.Errorf("Figure: %v", err)
	}
	if err := ended(t, func() { inline.Figure(plots.LossCurve{}.Figure()) }); err == nil || !strings.Contains(err.Error(), "plots: loss curve") {
		t.Errorf("Figure: %v", err)
	}
	if err := ended(t, func() { inline.Animation(plots.PointStrip{}.Animation()) }); err == nil || !strings.Contains(err.Error(), "plots: point strip: no frames") {
		t.Errorf("Animation: %v", err)
	}
	if err := ended(t, func() { inline.Table(3, nil) }); err == nil || !strings.Contains(err.Error(), "no headers") {
		t.Errorf("Table: %v", err)
	}
	if v := inline.Must(3, nil); v != 3 {
		t.Errorf("Must returned %v", v)
	}
	if v, w := inline.Must2(3, "b", nil); v != 3 || w != "b" {
		t.Errorf("Must2 returned %v, %v", v, w)
	}
}

func TestContextEndsWithAnInterrupt(t *testing.T) {
	ctx := inline.Context()
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if err := self.Signal(os.Interrupt); err != nil {
		t.Logf("this system cannot interrupt a process of its own: %v", err)
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("the context did not end")
	}
	// The same press of the button, a second time.
	if err := self.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond) // in which it would end this program
}
