// Package kernel starts GoNB, the Go kernel of Jupyter, so that a notebook's cells can import the module that the
// notebook lies in.
//
// GoNB compiles each cell in a temporary module of its own, which knows nothing of the checkout around the notebook. The
// program built from the folder launcher closes that gap without a line in the notebook. Jupyter starts it in place of
// GoNB; it finds the module ([Module]), puts a folder in front of PATH in which "go" is the same program once more, and
// becomes GoNB ([Environment]). When GoNB then calls "go mod init", the stand-in runs the real one and adds to the new
// go.mod what the module requires, and the module itself by its folder ([Link]). All else goes to the real go unchanged.
//
// Cells see exactly the dependencies that the module's go.mod lists, in those versions. Nothing is downloaded: a cell that
// imports anything else fails with Go's error.
//
// Map: module.go finds the module, environment.go sets what GoNB and go see, link.go edits the new go.mod, gotool.go is
// the stand-in for go, launch.go starts GoNB, exec_*.go hold what differs by system, launcher is the program; gonb has
// the corrections to GoNB itself.
package kernel
