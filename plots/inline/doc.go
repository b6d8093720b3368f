// Package inline shows figures, text and progress in a Jupyter notebook that runs on the GoNB kernel.
//
//	inline.Figure(plots.Scatter{Sets: sets}.Figure())
//
// A cell is a program, and what goes wrong in it must end it: Must, Figure, Animation, Table, Printf and the checks panic
// with the error, which the notebook shows. Show and the other functions return it. The checks, AtMost, AtLeast and
// Close, are what a notebook claims.
//
// What is shown is stored in the notebook and stays in its HTML export. Outside a notebook every function that shows
// something returns an error, and [Progress] does nothing.
//
// Files: figure.go shows figures, animation.go moving ones, markdown.go text and tables, progress.go the line that counts
// a run's steps; check.go compares numbers, and cell.go is what cells are short with.
package inline
