package plots

import (
	"fmt"
	"image"
	"image/color"
	"math"

	"github.com/gomlx/gomlx/pkg/core/tensors"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// ImageGrid draws grey images in rows, the first at the top left, then along each row, with thin gaps. Pixels stay
// sharp squares.
type ImageGrid struct {
	Title string
	// Images are [n, h, w], [n, h, w, 1], or [n, h·w] with row after row from the top.
	Images *tensors.Tensor
	// Columns is the number of images in a row. 0 takes the root of their number, rounded up.
	Columns int
	// Rows is the largest number of rows: images beyond them are left out. 0 draws all.
	Rows int
	// Labels stand under the images, one for each. nil: none.
	Labels []string
	Pixels
}

// Pixels says how numbers become grey images.
type Pixels struct {
	// Height and Width of images that come flat. 0 stands for square ones.
	Height, Width int
	// Min is drawn black and Max white, those below and above alike; both 0 stand for 0 and 1.
	Min, Max float64
	// Ink draws Min white and Max black, as writing on paper.
	Ink bool
}

// Figure draws the grid. It returns an error for no images, a shape that is not of images, a value that is not finite,
// a negative number of columns or rows, and Min not below Max.
func (g ImageGrid) Figure() (*Figure, error) {
	f, err := g.figure()
	if err != nil {
		return nil, fmt.Errorf("plots: image grid: %w", err)
	}
	return f, nil
}

func (g ImageGrid) figure() (*Figure, error) {
	if g.Columns < 0 {
		return nil, fmt.Errorf("%d columns: must be 0 or more", g.Columns)
	}
	if g.Rows < 0 {
		return nil, fmt.Errorf("%d rows: must be 0 or more", g.Rows)
	}
	images, err := g.read("images", g.Images)
	if err != nil {
		return nil, err
	}
	n := len(images.grey)
	if g.Labels != nil && len(g.Labels) != n {
		return nil, fmt.Errorf("%d labels for %d images: must be as many", len(g.Labels), n)
	}
	columns := g.Columns
	if columns == 0 {
		columns = int(math.Ceil(math.Sqrt(float64(n))))
	}
	columns = min(columns, n)
	if g.Rows > 0 && g.Rows*columns < n {
		n = g.Rows * columns
		images.grey = images.grey[:n]
	}
	t := tiles{pictures: images, columns: columns, rows: (n + columns - 1) / columns}
	widest := vg.Length(0) // labels wider than their images would run into each other
	if g.Labels != nil {
		t.labels, t.gap = g.Labels[:n], paper
		for _, label := range t.labels {
			widest = max(widest, textStyle(tickSize, ink).Width(label)+textGap)
		}
	}
	return single(t.panel(g.Title, widest), fmt.Sprintf("Grid of %d images", n)), nil
}

// pictures are images as bytes, row after row from the top.
type pictures struct {
	grey          [][]uint8
	width, height int
	gap           color.NRGBA
}

func (p Pixels) read(what string, t *tensors.Tensor) (pictures, error) {
	rows, err := table(what, t)
	if err != nil {
		return pictures{}, err
	}
	lo, hi := p.Min, p.Max
	if lo == 0 && hi == 0 {
		hi = 1
	}
	if !(lo < hi) || math.IsInf(hi-lo, 0) {
		return pictures{}, fmt.Errorf("range from Min %v to Max %v: must be finite, Min below Max", p.Min, p.Max)
	}
	out := pictures{height: p.Height, width: p.Width, gap: paper}
	dims := t.Shape().Dimensions
	switch {
	case len(dims) == 3 || len(dims) == 4 && dims[3] == 1:
		if p.Height != 0 && p.Height != dims[1] || p.Width != 0 && p.Width != dims[2] {
			return pictures{}, fmt.Errorf("%s: shape %v: must agree with Height %d and Width %d", what, dims, p.Height, p.Width)
		}
		out.height, out.width = dims[1], dims[2]
	case len(dims) == 2 && p.Height == 0 && p.Width == 0:
		out.height = int(math.Round(math.Sqrt(float64(dims[1]))))
		out.width = out.height
		if out.height*out.width != dims[1] {
			return pictures{}, fmt.Errorf("%s: %d pixels each: not a square: set Height and Width", what, dims[1])
		}
	case len(dims) == 2:
		if p.Height <= 0 || p.Width <= 0 || p.Height*p.Width != dims[1] {
			return pictures{}, fmt.Errorf("%s: %d pixels each: must be Height × Width, %d × %d", what, dims[1], p.Height, p.Width)
		}
	default:
		return pictures{}, fmt.Errorf("%s: shape %v: must be [n, h·w], [n, h, w] or [n, h, w, 1]", what, dims)
	}
	out.grey = make([][]uint8, len(rows))
	if p.Ink {
		out.gap = color.NRGBA{R: 0xd4, G: 0xd4, B: 0xd4, A: 0xff}
	}
	for i, row := range rows {
		out.grey[i] = make([]uint8, len(row))
		for j, v := range row {
			share := min(max((v-lo)/(hi-lo), 0), 1)
			if p.Ink {
				share = 1 - share
			}
			out.grey[i][j] = uint8(math.Round(255 * share))
		}
	}
	return out, nil
}

// tiles are pictures in rows and columns.
type tiles struct {
	pictures
	columns, rows int
	labels        []string // under the images, where there are any
	natural, tall int      // dots of the natural height, and of that of an image
}

// labelDots is the height of a label under an image.
const labelDots = 30

// panel returns a panel without axes whose natural size gives every image pixel a whole number of dots. Images are at
// least as wide as given, so that texts above them have room.
func (t tiles) panel(title string, least vg.Length) *panel {
	const room = 1360 // dots of the greatest width
	width, height := t.columns*t.width, t.rows*t.height
	gaps := imageGap * (t.columns - 1)
	// About 7 cm high, but images neither tiny nor huge: 28 to 56 screen pixels.
	tile := min(max(540/t.rows, 56), 112)
	scale := max(1, int(math.Round(float64(tile)/float64(max(t.width, t.height)))))
	scale = max(scale, int(math.Ceil(float64(least/dot)/float64(t.width))))
	scale = max(1, min(scale, (room-gaps)/width))
	w, h := scale*width+gaps, scale*height+imageGap*(t.rows-1)
	if t.labels != nil {
		h += labelDots * t.rows
	}
	t.natural, t.tall = h, scale*t.height

	axes := plot.New()
	axes.BackgroundColor = nil
	axes.X.Padding, axes.Y.Padding = 0, 0
	axes.HideAxes()
	axes.Add(raster(t.raster))
	if t.labels != nil {
		axes.Add(captions{t})
	}
	if t.gap != paper {
		axes.Add(frame{colour: t.gap})
	}
	return &panel{title: title, axes: axes, bare: true, aspect: float64(w) / float64(h), height: dot * vg.Length(h), within: t.labels}
}

// raster draws the images. Where the body is too small for a dot a pixel, a dot is the mean of the pixels under it.
func (t tiles) raster(width, height int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	for i := range img.Pix {
		img.Pix[i] = 0xff
	}
	columns := spans(width, t.columns)
	rows := t.rowSpans(height)
	for y := range height {
		for x := range width {
			img.SetNRGBA(x, y, t.gap)
		}
	}
	for r := range t.rows {
		for c := range t.columns {
			i := r*t.columns + c
			for y := rows[r][0]; y < rows[r][1]; y++ {
				y0, y1 := under(y-rows[r][0], rows[r][1]-rows[r][0], t.height)
				for x := columns[c][0]; x < columns[c][1]; x++ {
					if i >= len(t.grey) {
						img.SetNRGBA(x, y, paper)
						continue
					}
					x0, x1 := under(x-columns[c][0], columns[c][1]-columns[c][0], t.width)
					sum := 0
					for v := y0; v < y1; v++ {
						for u := x0; u < x1; u++ {
							sum += int(t.grey[i][v*t.width+u])
						}
					}
					area := (y1 - y0) * (x1 - x0)
					g := uint8((sum + area/2) / area)
					img.SetNRGBA(x, y, color.NRGBA{R: g, G: g, B: g, A: 0xff})
				}
			}
		}
	}
	return img
}

// rowSpans divides a height among the rows, each with its labels under it.
func (t tiles) rowSpans(height int) [][2]int {
	if t.labels == nil {
		return spans(height, t.rows)
	}
	scale := float64(height) / float64(t.natural) // labels keep their share of the height when the picture is scaled
	pitch := t.tall + labelDots + imageGap
	out := make([][2]int, t.rows)
	for r := range out {
		out[r] = [2]int{int(math.Round(float64(r*pitch) * scale)), int(math.Round(float64(r*pitch+t.tall) * scale))}
	}
	return out
}

// captions are the labels of images, on the body of their panel.
type captions struct{ tiles }

// Plot writes the labels, smaller where the picture is scaled down.
func (k captions) Plot(c draw.Canvas, _ *plot.Plot) {
	columns := spans(int(math.Round(float64(c.Size().X/dot))), k.columns)
	rows := k.rowSpans(int(math.Round(float64(c.Size().Y / dot))))
	s := textStyle(min(tickSize, 0.75*labelDots*c.Size().Y/vg.Length(k.natural)), ink)
	s.XAlign, s.YAlign = draw.XCenter, draw.YTop
	for i, label := range k.labels {
		column, row := columns[i%k.columns], rows[i/k.columns]
		c.FillText(s, vg.Point{X: c.Min.X + dot*vg.Length(column[0]+column[1])/2, Y: c.Max.Y - dot*vg.Length(row[1]) - 1}, label)
	}
}

// spans divides dots among n tiles with gaps between them.
func spans(dots, n int) [][2]int {
	gap := min(imageGap, dots/(4*n))
	out := make([][2]int, n)
	for i := range out {
		out[i] = [2]int{i * (dots + gap) / n, (i+1)*(dots+gap)/n - gap}
	}
	return out
}

// under returns the range of pixels, of count, that lies under a dot: one where a pixel is a dot or larger.
func under(at, dots, count int) (from, to int) {
	if dots >= count {
		from = at * count / dots
		return from, from + 1
	}
	return at * count / dots, max((at+1)*count/dots, at*count/dots+1)
}
