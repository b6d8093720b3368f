package plots

import (
	"bytes"
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"slices"
)

// IndexedPNG encodes the figure as PNG does, but with at most 256 colours, chosen for this figure: less than half the
// bytes, for where pictures are stored in numbers, as in a notebook. A figure that has no more colours than that keeps
// each of them; in any other those that cover the most keep theirs, and the rest, shades of a map and of the edges of
// lines, move to the nearest one chosen, without dithering. It returns the errors of PNG.
func (f *Figure) IndexedPNG() ([]byte, error) {
	page, err := f.layout()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&out, indexed(page.image(dotsPerIn))); err != nil {
		return nil, fmt.Errorf("plots: indexed PNG: %w", err)
	}
	return out.Bytes(), nil
}

// shade is a colour of a picture and the number of pixels that have it.
type shade struct {
	c [3]uint8
	n int
}

// indexed returns the picture in at most 256 opaque colours.
func indexed(img image.Image) *image.Paletted {
	size := img.Bounds().Size()
	at := func(x, y int) [3]uint8 {
		c := color.RGBAModel.Convert(img.At(img.Bounds().Min.X+x, img.Bounds().Min.Y+y)).(color.RGBA)
		return [3]uint8{c.R, c.G, c.B}
	}
	if rgba, ok := img.(*image.RGBA); ok { // what the canvas draws on, without a detour for each pixel
		at = func(x, y int) [3]uint8 {
			i := y*rgba.Stride + 4*x
			return [3]uint8(rgba.Pix[i : i+3])
		}
	}
	count := make(map[[3]uint8]int)
	for y := range size.Y {
		for x := range size.X {
			count[at(x, y)]++
		}
	}
	shades := make([]shade, 0, len(count))
	for c, n := range count {
		shades = append(shades, shade{c, n})
	}
	// A map has no order; the same picture shall give the same bytes.
	slices.SortFunc(shades, func(a, b shade) int {
		return cmp.Or(cmp.Compare(b.n, a.n), slices.Compare(a.c[:], b.c[:]))
	})
	chosen := choose(shades, 256)
	palette := make(color.Palette, len(chosen))
	for i, c := range chosen {
		palette[i] = color.RGBA{R: c[0], G: c[1], B: c[2], A: 255}
	}
	index := make(map[[3]uint8]uint8, len(shades))
	for _, s := range shades {
		index[s.c] = uint8(palette.Index(color.RGBA{R: s.c[0], G: s.c[1], B: s.c[2], A: 255}))
	}
	out := image.NewPaletted(image.Rectangle{Max: size}, palette)
	for y := range size.Y {
		for x := range size.X {
			out.Pix[y*out.Stride+x] = index[at(x, y)]
		}
	}
	return out
}

// choose returns at most limit colours for the given ones, which come with the most frequent first. An eighth of them are
// the most frequent as they are: paper, ink, whole areas. For the rest it halves, again and again, the group of colours
// that would lose most (Wan, Wong and Prusinkiewicz, 1988), along its longest side and at its mean.
func choose(shades []shade, limit int) [][3]uint8 {
	var out [][3]uint8
	if len(shades) <= limit {
		for _, s := range shades {
			out = append(out, s.c)
		}
		return out
	}
	kept := limit / 8
	for _, s := range shades[:kept] {
		out = append(out, s.c)
	}
	groups := []group{newGroup(slices.Clone(shades[kept:]))}
	for len(groups) < limit-kept {
		worst := 0
		for i, g := range groups {
			if g.loss[g.axis] > groups[worst].loss[groups[worst].axis] {
				worst = i
			}
		}
		if groups[worst].loss[groups[worst].axis] == 0 {
			break
		}
		low, high := groups[worst].halve()
		groups[worst] = low
		groups = append(groups, high)
	}
	for _, g := range groups {
		var c [3]uint8
		for k, m := range g.mean {
			c[k] = uint8(m + 0.5)
		}
		out = append(out, c)
	}
	return out
}

// group is a set of colours that one colour will stand for, their mean.
type group struct {
	shades []shade
	mean   [3]float64
	loss   [3]float64 // sum of squared differences from the mean, for red, green and blue
	axis   int        // the largest of them
}

func newGroup(shades []shade) group {
	g := group{shades: shades}
	total := 0.0
	for _, s := range shades {
		total += float64(s.n)
		for k, v := range s.c {
			g.mean[k] += float64(s.n) * float64(v)
		}
	}
	for k := range g.mean {
		g.mean[k] /= total
		for _, s := range shades {
			d := float64(s.c[k]) - g.mean[k]
			g.loss[k] += float64(s.n) * d * d
		}
		if g.loss[k] > g.loss[g.axis] {
			g.axis = k
		}
	}
	return g
}

// halve splits the group where its mean lies on its longest axis: both halves hold a colour, as its loss is not 0.
func (g group) halve() (low, high group) {
	var below, above []shade
	for _, s := range g.shades {
		if float64(s.c[g.axis]) <= g.mean[g.axis] {
			below = append(below, s)
		} else {
			above = append(above, s)
		}
	}
	return newGroup(below), newGroup(above)
}
