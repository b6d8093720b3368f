// Package inline shows figures, text and progress in a Jupyter notebook that runs on the GoNB kernel.
//
//	inline.Figure(plots.Scatter{Sets: sets}.Figure())
//
// A cell is a program, and what goes wrong in it must end it: Must, Figure, AtMost and Printf panic with the error, which the
// notebook shows. Show and the other functions return it.
//
// What is shown is stored in the notebook and stays in its HTML export. Outside a notebook every function that shows
// something returns an error, and [Progress] does nothing.
//
// Files: figure.go shows figures, markdown.go text, progress.go the line that counts a run's steps; cell.go is what
// cells are short with.
package inline
