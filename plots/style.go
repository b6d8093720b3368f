package plots

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// All sizes are in points (1/72 inch; a screen pixel is 0.75 points). A figure of the greatest width, 700 pixels, fits
// a notebook's column, a README and an A4 page, so that its letters are 11 to 14 pixels high on screen and 8 to 10.5
// points in print.
const (
	titleSize = vg.Length(10.5)
	labelSize = vg.Length(9)
	tickSize  = vg.Length(8.25)

	dot        = vg.Length(0.375)     // one pixel of a PNG, which has two a screen pixel
	dotsPerIn  = 192                  // dots in an inch
	greatest   = vg.Length(525)       // greatest width of a figure that is not told its own: 700 pixels
	bodyHeight = vg.Length(210)       // height of a panel between its axes
	smallBody  = vg.Length(96)        // the same in a filmstrip
	pageMargin = vg.Length(6)         // white around a figure
	panelGap   = vg.Length(12)        // white between two panels
	textGap    = vg.Length(4)         // white between texts
	thumbWidth = vg.Length(16)        // width of a legend's sample
	barWidth   = vg.Length(9)         // width of a colour bar
	centimetre = vg.Length(72) / 2.54 // points in a centimetre
	thinLine   = vg.Length(0.6)       // frames, ticks
	dataLine   = vg.Length(1.5)       // curves
	tickLength = vg.Length(3)         // length of a tick
	imageGap   = 4                    // dots between two images of a grid
)

var (
	ink   = color.NRGBA{R: 0x1a, G: 0x1a, B: 0x1a, A: 0xff} // titles, labels, arrows
	soft  = color.NRGBA{R: 0x55, G: 0x55, B: 0x55, A: 0xff} // ticks, frames
	paper = color.NRGBA{R: 0xff, G: 0xff, B: 0xff, A: 0xff}
	faint = color.NRGBA{R: 0xe4, G: 0xe4, B: 0xe4, A: 0xff} // grid lines
)

// series holds the colours of curves and point sets, in the order of use: the qualitative palette of Okabe and Ito
// ("Color Universal Design", 2008), which stays distinct under the common colour vision deficiencies, less black, kept
// for reference lines, and yellow, which is too light for white paper.
var series = []color.NRGBA{
	{R: 0, G: 114, B: 178, A: 255},   // blue
	{R: 213, G: 94, B: 0, A: 255},    // vermilion
	{R: 0, G: 158, B: 115, A: 255},   // bluish green
	{R: 204, G: 121, B: 167, A: 255}, // reddish purple
	{R: 230, G: 159, B: 0, A: 255},   // orange
	{R: 86, G: 180, B: 233, A: 255},  // sky blue
}

// fade returns c with the given opacity, 0 to 1.
func fade(c color.NRGBA, opacity float64) color.NRGBA {
	c.A = uint8(opacity*255 + 0.5)
	return c
}

// textStyle is the one typeface of all figures.
func textStyle(size vg.Length, c color.Color) text.Style {
	return text.Style{
		Color:   c,
		Font:    font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size),
		Handler: plot.DefaultTextHandler,
	}
}

// titleStyle is that of panel titles.
func titleStyle() text.Style {
	s := textStyle(titleSize, ink)
	s.XAlign = draw.XCenter
	return s
}

// newAxes returns an empty plot in the house style. Its panel sets the ticks.
func newAxes(xLabel, yLabel string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Padding = 0
		axis.LineStyle.Width = 0 // drawn as a frame, exactly on the edge of the data
		axis.Tick.LineStyle = draw.LineStyle{Color: soft, Width: thinLine}
		axis.Tick.Length = tickLength
		axis.Label.TextStyle.Font = textStyle(labelSize, ink).Font
		axis.Label.TextStyle.Color = ink
		axis.Label.Padding = 2
		axis.Tick.Label.Font = textStyle(tickSize, ink).Font
		axis.Tick.Label.Color = soft
	}
	p.X.Label.Text, p.Y.Label.Text = xLabel, yLabel
	return p
}
