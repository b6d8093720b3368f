// Package inline shows figures, text and progress in a Jupyter notebook that runs on the GoNB kernel.
//
//	fig, err := plots.Scatter{Sets: sets}.Figure()
//	…
//	err = inline.Show(fig)
//
// What is shown is stored in the notebook and stays in its HTML export. Outside a notebook every function that shows
// something returns an error, and [Progress] does nothing.
//
// Files: figure.go shows figures, markdown.go text, progress.go the line that counts a run's steps.
package inline
