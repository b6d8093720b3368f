package kept

import (
	"slices"
	"testing"
)

type name struct {
	text string
	gone *bool
}

func (n name) Gone() bool { return *n.gone }

type thing struct {
	number    int
	finalized *[]int
}

func (t thing) Finalize() { *t.finalized = append(*t.finalized, t.number) }

// What is put away is found once, by its own key; the one not used for longest makes room; what has gone is not found, and not
// finalized, as it went with what it lived on.
func TestLast(t *testing.T) {
	var finalized []int
	here, away := false, false
	last := Last[name, thing]{Most: 2}
	a, b, c := name{"a", &here}, name{"b", &here}, name{"c", &away}
	put := func(n name, number int) { last.Put(n, thing{number, &finalized}) }
	take := func(n name, number int) {
		t.Helper()
		switch v, ok := last.Take(n); {
		case ok != (number > 0):
			t.Errorf("%s: found %t", n.text, ok)
		case v.number != number:
			t.Errorf("%s: %d, want %d", n.text, v.number, number)
		}
	}
	take(a, 0)
	put(a, 1)
	put(b, 2)
	take(b, 2)
	take(b, 0)
	put(b, 2)
	put(c, 3)
	if !slices.Equal(finalized, []int{1}) {
		t.Errorf("finalized %v, want that of a", finalized)
	}
	take(a, 0)
	away = true
	take(c, 0)
	away = false
	take(c, 0)
	put(b, 4)
	take(b, 2)
	take(b, 4)
	if !slices.Equal(finalized, []int{1}) {
		t.Errorf("finalized %v", finalized)
	}
}
