package plots

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Figure is a picture of one or more panels, ready to be encoded. The same figure gives the same bytes each time.
type Figure struct {
	// Width is the width in centimetres: 37.8 pixels each on screen. 0 stands for what the panels need, at most 18.5.
	// The height follows, as panels keep their proportions.
	Width float64
	// Alt describes the picture in words, for readers who cannot see it. Every figure starts with a plain
	// description of its own.
	Alt string

	panels  []*panel
	columns int
}

// single returns the figure of one panel, described by what it shows, its title, and more where there is more to say.
func single(p *panel, what string, more ...string) *Figure {
	for _, words := range append([]string{p.title}, more...) {
		if words != "" {
			what += ": " + words
		}
	}
	return &Figure{panels: []*panel{p}, columns: 1, Alt: what + "."}
}

// Row sets the panels of all figures side by side, at one height. It returns an error where there is no figure or one
// is nil.
func Row(figures ...*Figure) (*Figure, error) {
	n := 0
	for _, f := range figures {
		if f != nil {
			n += len(f.panels)
		}
	}
	return Panels(max(n, 1), figures...)
}

// Panels sets the panels of all figures in rows of the given number of columns, all at one height. A figure's own
// panels follow one another. It returns an error where there is no figure, one is nil, or columns is below 1.
func Panels(columns int, figures ...*Figure) (*Figure, error) {
	if columns < 1 {
		return nil, fmt.Errorf("plots: panels: %d columns: must be at least 1", columns)
	}
	if len(figures) == 0 {
		return nil, errors.New("plots: panels: no figures")
	}
	out := &Figure{columns: columns}
	var alts []string
	for i, f := range figures {
		if f == nil || len(f.panels) == 0 {
			return nil, fmt.Errorf("plots: panels: figure %d: nil or empty", i)
		}
		out.panels = append(out.panels, f.panels...)
		alts = append(alts, strings.TrimSuffix(f.Alt, "."))
	}
	out.columns = min(columns, len(out.panels))
	out.Alt = strings.Join(alts, "; ") + "."
	return out, nil
}

// Size returns the figure's width and height on screen, in CSS pixels (1/96 inch). A PNG has twice as many each way.
// It returns an error where the figure's Width leaves its panels no room.
func (f *Figure) Size() (width, height int, err error) {
	page, err := f.layout()
	if err != nil {
		return 0, 0, err
	}
	return pixels(page.width), pixels(page.height), nil
}

func pixels(l vg.Length) int { return int(math.Round(float64(l) / 0.75)) }

// PNG encodes the figure at two pixels to each CSS pixel (192 an inch). It returns an error where the figure's Width
// leaves its panels no room, or a text needs a letter that the typeface lacks.
func (f *Figure) PNG() ([]byte, error) {
	page, err := f.layout()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := png.Encode(&out, page.image(dotsPerIn)); err != nil {
		return nil, fmt.Errorf("plots: PNG: %w", err)
	}
	return out.Bytes(), nil
}

// image draws the page with so many dots to an inch.
func (p *page) image(dots int) image.Image {
	canvas := vgimg.NewWith(vgimg.UseWH(p.width, p.height), vgimg.UseDPI(dots))
	p.draw(draw.New(canvas))
	return canvas.Image()
}

// SVG encodes the figure as an SVG document, its text as text, its density maps and image grids as embedded pictures.
// It returns the errors that PNG does.
func (f *Figure) SVG() ([]byte, error) {
	page, err := f.layout()
	if err != nil {
		return nil, err
	}
	canvas := vgsvg.NewWith(vgsvg.UseWH(page.width, page.height))
	page.draw(draw.New(canvas))
	var out bytes.Buffer
	if _, err := canvas.WriteTo(&out); err != nil {
		return nil, fmt.Errorf("plots: SVG: %w", err)
	}
	// The canvas knows neither a title for screen readers nor what to fall back on where the typeface is missing,
	// and gives pictures a type that is not theirs.
	s := strings.NewReplacer(
		"font-family:Liberation Sans;", "font-family:'Liberation Sans',Arial,Helvetica,sans-serif;",
		"font-variant:normal;", "",
		"data:image/jpg;", "data:image/png;",
	).Replace(out.String())
	if head, rest, ok := strings.Cut(s, `xlink">`); ok {
		s = head + `xlink" role="img">` + "\n<title>" + html.EscapeString(f.Alt) + "</title>" + rest
	}
	return []byte(s), nil
}

// Save writes the figure to a file whose name ends in .png or .svg. It returns an error for any other ending, those of
// PNG, and those of writing.
func (f *Figure) Save(path string) error {
	var data []byte
	var err error
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".png":
		data, err = f.PNG()
	case ".svg":
		data, err = f.SVG()
	default:
		return fmt.Errorf("plots: save %s: ending %q: must be .png or .svg", path, ext)
	}
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return fmt.Errorf("plots: save: %w", err)
	}
	return nil
}
