// Package plots draws the figures of score matching: scores as arrows over a density, samples, losses, grids of images
// and runs of a sampler, for notebooks, web pages and print.
//
// Each figure is a struct whose fields are what is drawn, with a zero value for whatever has a sensible default, and
// one method, Figure, that checks the fields and returns a [Figure] or an error that names what is wrong. A Figure
// encodes itself: [Figure.PNG], [Figure.IndexedPNG], [Figure.SVG], [Figure.Save]. [Row] and [Panels] set several side
// by side.
//
// In the plane:
//
//	[ScoreField]     scores as arrows, true beside learned, over a [Density]
//	[DensityMap]     a density, with contour lines
//	[EnergySurface]  an energy, flat and as a surface
//	[Trajectories]   paths of chains over a density
//	[Scatter]        sets of points
//
// Runs of a sampler or a process:
//
//	[PointStrip]      points of the plane, moment beside moment
//	[HistogramStrip]  numbers
//	[ImageStrip]      images
//	[Animation]       any figures, one after another, as a GIF
//
// Numbers:
//
//	[Histogram]  a sample against exact densities
//	[Lines]      how quantities depend on another, with bands of standard errors
//	[PowerLaw]   the same on logarithmic axes, with fitted slopes: convergence, cost against dimension
//	[LossCurve]  losses of training runs
//	[Paths]      a bundle of functions, such as random paths
//	[Bars]       one number for each of several things
//	[Violins]    many numbers for each
//	[HeatMap]    a matrix, such as a covariance
//	[ImageGrid]  grey images
//
// Data are tensors in host memory or on a device, Float32 or Float64, and slices; the package builds no graphs. To
// draw a function of the plane, take the points from [Grid], evaluate the function there, and hand values and lattice
// to the figure; [Interval] does the same on a line.
//
// Both axes of a plane have the same unit. Colours stay apart under colour vision deficiencies, and in a grey print
// curves by their dashes and measured values by their marks. Legends stand above the axes where they cover no data. The
// same figure always encodes to the same bytes.
//
// Files: one for each figure, by its name; filmstrip.go holds [PointStrip] and [ImageStrip]. contour.go: contour lines.
// lattice.go: points to evaluate at. tensor.go: reading and checking data. style.go, palette.go, ticks.go, legend.go,
// colourbar.go: the house style. panel.go: one set of axes with its texts. layout.go: panels on a page. figure.go,
// indexed.go: encoding. The folder inline shows figures in a notebook.
package plots
