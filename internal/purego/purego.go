// Package purego tells GoMLX's pure Go backend from the others: it computes operation by operation, so that what is fast
// in a compiled graph can be slow there, and the other way round.
package purego

import "github.com/gomlx/gomlx/backends"

// Is reports whether b is the pure Go backend.
func Is(b backends.Backend) bool { return b.Name() == "SimpleGo (go)" || b.String() == "go" }
