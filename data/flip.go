package data

import (
	"fmt"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/shapes"

	"github.com/scorekit/lab/scorekit/random"
)

// Flips returns a change for [scorekit.Augment] that mirrors each image left to right with probability ½, drawn afresh
// for each batch. Images are rows [batch, height·width·channels] or [batch, height, width, channels]; a pixel keeps its
// channels (0 counts as 1). It is for images that mean the same in the mirror: faces, not digits. The change panics, as
// graph functions do, for another shape.
func Flips(height, width, channels int) func(rng *random.Source, x *Node) *Node {
	channels = max(1, channels)
	return func(rng *random.Source, x *Node) *Node {
		dims := x.Shape().Dimensions
		rows := x.Rank() == 2 && dims[1] == height*width*channels
		images := x.Rank() == 4 && dims[1] == height && dims[2] == width && dims[3] == channels
		if height < 1 || width < 1 || (!rows && !images) {
			panic(fmt.Errorf("data: Flips: images of shape %s: must be [batch, %d, %d, %d] or rows of as many values", x.Shape(), height, width, channels))
		}
		g, n := x.Graph(), dims[0]
		// Pixel (i, y, x) of the result is pixel (i, y, x) or (i, y, width−1−x) of the batch.
		at := func(axis int) *Node { return graph.Iota(g, shapes.Make(dtypes.Int32, n, height, width), axis) }
		mirrored := graph.Sub(graph.Scalar(g, dtypes.Int32, width-1), at(2))
		column := graph.Where(graph.BroadcastToDims(graph.Equal(rng.Int(2, n, 1, 1), graph.Scalar(g, dtypes.Int32, 1)), n, height, width), mirrored, at(2))
		line := graph.Add(graph.MulScalar(at(0), height), at(1))
		pixel := graph.Add(graph.MulScalar(line, width), column)
		all := graph.Reshape(x, n*height*width, channels)
		return graph.Reshape(graph.Gather(all, graph.Reshape(pixel, n*height*width, 1)), dims...)
	}
}
