package fingerprint_test

import (
	"math"
	"testing"
	"time"

	"github.com/scorekit/lab/internal/fingerprint"
)

type inner struct{ list []float64 }

type outer struct {
	Name string
	any  any
	next *outer
	f    func()
}

const here = "github.com/scorekit/lab/"

func TestDifferentValuesDiffer(t *testing.T) {
	values := []any{
		nil, 1, int64(1), 1.0, float32(1), true, "1", "", []float64{}, []float64(nil), []float64{1, 2}, []float64{12}, [2]float64{1, 2},
		math.Copysign(0, -1), 0.0, inner{}, inner{[]float64{1}}, &inner{[]float64{1}}, outer{}, outer{Name: "a"}, outer{any: 1}, outer{any: inner{}},
		outer{next: &outer{}}, []any{1, "a"}, []any{1, nil},
	}
	seen := map[string]int{}
	for i, v := range values {
		text, ok := fingerprint.Of(here, v)
		if !ok {
			t.Errorf("value %d, %#v: not written", i, v)
		}
		if j, taken := seen[text]; taken {
			t.Errorf("values %d and %d, %#v and %#v, are the same: %s", j, i, values[j], v, text)
		}
		seen[text] = i
	}
}

// What is the same stays so, and what was changed in place does not.
func TestSameValues(t *testing.T) {
	make := func() any { return outer{"a", &inner{[]float64{1, math.NaN()}}, &outer{any: 2.5}, nil} }
	a, b := make(), make()
	first, _ := fingerprint.Of(here, a, 3)
	second, _ := fingerprint.Of(here, b, 3)
	if first != second {
		t.Errorf("%s\n%s", first, second)
	}
	b.(outer).any.(*inner).list[0] = 2
	if third, _ := fingerprint.Of(here, b, 3); third == first {
		t.Error("a changed slice is not seen")
	}
}

func TestUnknownValues(t *testing.T) {
	ring := &outer{}
	ring.next = ring
	for i, v := range []any{func() {}, outer{f: func() {}}, map[string]int{}, make(chan int), time.Now(), ring, outer{any: time.Second}} {
		if text, ok := fingerprint.Of(here, 1, v); ok {
			t.Errorf("value %d, %T: written as %s", i, v, text)
		}
	}
}
