package experiment

import (
	"github.com/scorekit/lab/data"
)

// builtIn is a set that needs no file.
type builtIn struct {
	name      string
	generated bool // drawn with a seed, as many rows as are asked for
	open      func(rows int, seed int64) (data.Set, error)
}

// sampled makes an entry of a set that is drawn.
func sampled(name string, set interface {
	Sample(n int, seed int64) (data.Set, error)
}) builtIn {
	return builtIn{name, true, set.Sample}
}

// embedded makes an entry of a set that is part of the program.
func embedded(name string, open func() (data.Set, error)) builtIn {
	return builtIn{name, false, func(int, int64) (data.Set, error) { return open() }}
}

// builtIns are the sets that have a name.
var builtIns = []builtIn{
	sampled("ring", data.Ring{}),
	sampled("moons", data.TwoMoons{}),
	sampled("swissroll", data.SwissRoll{}),
	sampled("checkerboard", data.Checkerboard{}),
	sampled("grid", data.Grid{}),
	sampled("circles", data.Circles{}),
	sampled("spirals", data.Spirals{}),
	sampled("pinwheel", data.Pinwheel{}),
	sampled("scurve", data.SCurve{}),
	sampled("correlated", data.Correlated{}),
	sampled("clusters", data.Clusters{}),
	embedded("digits", data.Digits),
	embedded("mnist", data.MNIST),
	embedded("wine", data.Wine),
}

// BuiltIn returns the names of the sets that need no file.
func BuiltIn() []string { return names(builtIns, func(b builtIn) string { return b.name }) }
