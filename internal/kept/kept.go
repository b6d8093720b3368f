// Package kept holds what took long to make, such as compiled graphs, for whoever needs the same next.
package kept

import (
	"slices"
	"sync"
)

// Key tells values apart.
type Key interface {
	comparable
	// Gone says that what the value lives on is no more, and the value with it.
	Gone() bool
}

// Value is what is kept.
type Value interface {
	// Finalize gives back what the value holds.
	Finalize()
}

// Last holds the values used last, at most Most of them. Each is out while somebody uses it, so that no two share one. It may
// be used by several goroutines.
type Last[K Key, V Value] struct {
	Most int

	mu  sync.Mutex
	all []entry[K, V] // those used last at the end
}

type entry[K Key, V Value] struct {
	key   K
	value V
}

// Take returns a value that was put away under the key, and false if there is none.
func (l *Last[K, V]) Take(key K) (value V, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = slices.DeleteFunc(l.all, func(e entry[K, V]) bool { return e.key.Gone() })
	i := slices.IndexFunc(l.all, func(e entry[K, V]) bool { return e.key == key })
	if i < 0 {
		return value, false
	}
	value = l.all[i].value
	l.all = slices.Delete(l.all, i, i+1)
	return value, true
}

// Put puts a value away under the key, in place of that not used for longest.
func (l *Last[K, V]) Put(key K, value V) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, entry[K, V]{key, value})
	if len(l.all) > l.Most {
		l.all[0].value.Finalize()
		l.all = slices.Delete(l.all, 0, 1)
	}
}
