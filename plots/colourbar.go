package plots

import (
	"image"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// colourBar explains the colours of a map, from low to top.
type colourBar struct {
	low, top float64
	label    string
	palette  *[256]color.NRGBA
	reverse  bool      // the palette's last colour stands for low
	levels   []float64 // marked by ticks and lines, where there are any
}

func (b *colourBar) ticks(height vg.Length) []plot.Tick {
	if len(b.levels) == 0 {
		return linearTicks(b.low, b.top, min(max(int(height/40), 2), 5))
	}
	var ticks []plot.Tick
	for _, v := range b.levels {
		ticks = append(ticks, plot.Tick{Value: v, Label: level(v, b.levels)})
	}
	return ticks
}

// colour returns the colour of a value.
func (b *colourBar) colour(v float64) color.NRGBA {
	share := (v - b.low) / (b.top - b.low)
	if b.reverse {
		share = 1 - share
	}
	return pick(b.palette, share)
}

const barGap = 8

func (b *colourBar) width(height vg.Length) vg.Length {
	return barGap + barWidth + tickLength + 2 + b.tickWidth(height) + textGap + labelSize
}

func (b *colourBar) tickWidth(height vg.Length) (w vg.Length) {
	for _, t := range b.ticks(height) {
		w = max(w, textStyle(tickSize, soft).Width(t.Label))
	}
	return w
}

// draw puts the bar right of x, as high as the body.
func (b *colourBar) draw(c draw.Canvas, x vg.Length, body vg.Rectangle) {
	height := body.Size().Y
	left := snap(x + barGap)
	box := draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
		Min: vg.Point{X: left, Y: body.Min.Y}, Max: vg.Point{X: left + barWidth, Y: body.Max.Y}}}
	raster(func(w, h int) *image.NRGBA {
		img := image.NewNRGBA(image.Rect(0, 0, w, h))
		for y := range h {
			for x := range w {
				img.SetNRGBA(x, y, b.colour(b.low+(b.top-b.low)*(float64(h-y)-0.5)/float64(h)))
			}
		}
		return img
	}).Plot(box, nil)
	frame{colour: soft}.Plot(box, nil)

	s := textStyle(tickSize, soft)
	for _, t := range b.ticks(height) {
		y := body.Min.Y + height*vg.Length((t.Value-b.low)/(b.top-b.low))
		if len(b.levels) > 0 {
			c.StrokeLine2(contourLine, box.Min.X, y, box.Max.X, y)
		}
		c.StrokeLine2(draw.LineStyle{Color: soft, Width: thinLine}, box.Max.X, y, box.Max.X+tickLength, y)
		c.FillText(s, vg.Point{X: box.Max.X + tickLength + 2, Y: y - 0.36*tickSize}, t.Label)
	}
	s = textStyle(labelSize, ink)
	s.Rotation = math.Pi / 2
	s.XAlign = draw.XCenter
	s.YAlign = draw.YTop
	c.FillText(s, vg.Point{X: box.Max.X + tickLength + 2 + b.tickWidth(height) + textGap, Y: body.Min.Y + height/2}, b.label)
}
