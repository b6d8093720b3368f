// Package notebooks holds the notebooks. Its Go files are the test that executes them and, here, the list of the modules
// that only their cells import: a cell sees what go.mod requires, and go.mod keeps what some package imports.
package notebooks

import (
	_ "github.com/janpfeifer/gonb/cache"
	_ "github.com/janpfeifer/gonb/gonbui"
	_ "gonum.org/v1/gonum/integrate"
	_ "gonum.org/v1/gonum/stat"
)
