// Package plots draws the figures of score matching: scores as arrows over a density, samples, losses, grids of images
// and runs of a sampler, for notebooks, web pages and print.
//
// Each figure is a struct whose fields are what is drawn, with a zero value for whatever has a sensible default, and
// one method, Figure, that checks the fields and returns a [Figure] or an error that names what is wrong. A Figure
// encodes itself: [Figure.PNG], [Figure.SVG], [Figure.Save]. [Row] and [Panels] set several side by side.
//
//	[ScoreField]  scores in the plane, true beside learned, over a [Density]
//	[Scatter]     sets of points in the plane
//	[LossCurve]   losses of training runs
//	[Histogram]   numbers against exact densities
//	[ImageGrid]   grey images
//	[PointStrip]  a sampling run in the plane
//	[ImageStrip]  a sampling run of images
//
// Data are tensors in host memory or on a device, Float32 or Float64, and slices; the package builds no graphs. To
// draw a function of the plane, take the points from [Grid], evaluate the function there, and hand values and lattice
// to the figure; [Interval] does the same on a line.
//
// Both axes of a plane have the same unit, colours stay apart under colour vision deficiencies, legends stand above
// the axes where they cover no data, and the same figure always encodes to the same bytes.
//
// Files: one for each figure, by its name; filmstrip.go holds both strips. lattice.go: points to evaluate at.
// tensor.go: reading and checking data. style.go, palette.go, ticks.go, legend.go, colourbar.go: the house style.
// panel.go: one set of axes with its texts. layout.go: panels on a page. figure.go: encoding. The folder inline shows
// figures in a notebook.
package plots
