package data

import (
	"fmt"
	"image"

	imagedraw "golang.org/x/image/draw"
)

// picture is what every image of a set is made to be.
type picture struct {
	height, width, channels int
	fixed                   bool // images have this size already
	crop                    bool // else: cut off what does not fit, rather than bend
	mixed                   bool // colour may be made grey, as was asked
}

// fill writes the pixels of an image to x as 0 to 255, line by line, channel fastest.
func (p picture) fill(x []float64, img image.Image) error {
	if grey, is := img.(*image.Gray); is && p.fixed && p.channels == 1 { // the usual case of digits
		for y := range p.height {
			line := grey.Pix[y*grey.Stride:]
			for i := range p.width {
				x[y*p.width+i] = float64(line[i])
			}
		}
		return nil
	}
	onWhite := image.NewRGBA(image.Rect(0, 0, p.width, p.height))
	imagedraw.Draw(onWhite, onWhite.Bounds(), image.White, image.Point{}, imagedraw.Src)
	if p.fixed {
		imagedraw.Draw(onWhite, onWhite.Bounds(), img, img.Bounds().Min, imagedraw.Over)
	} else {
		imagedraw.CatmullRom.Scale(onWhite, onWhite.Bounds(), img, p.source(img.Bounds()), imagedraw.Over, nil)
	}
	for i := range p.height * p.width {
		r, g, b := onWhite.Pix[4*i], onWhite.Pix[4*i+1], onWhite.Pix[4*i+2]
		if p.channels == 3 {
			x[3*i], x[3*i+1], x[3*i+2] = float64(r), float64(g), float64(b)
			continue
		}
		if !p.mixed && (r != g || g != b) {
			return fmt.Errorf("a colour image, but the first is grey: choose WithGrey or WithColour")
		}
		x[i] = float64(luma(r, g, b))
	}
	return nil
}

// luma is 0.299 R + 0.587 G + 0.114 B (ITU-R BT.601), rounded: the brightness of a colour.
func luma(r, g, b uint8) uint8 {
	const scale = 1 << 16
	return uint8((uint32(r)*19595 + uint32(g)*38470 + uint32(b)*7471 + scale/2) / scale)
}

// source returns the part of an image that is kept: all of it, or the largest rectangle in its middle with the
// proportions of the picture.
func (p picture) source(all image.Rectangle) image.Rectangle {
	if !p.crop {
		return all
	}
	h, w := all.Dy(), all.Dx()
	if w*p.height > h*p.width {
		w = max(1, (h*p.width+p.height/2)/p.height)
	} else {
		h = max(1, (w*p.height+p.width/2)/p.width)
	}
	corner := all.Min.Add(image.Pt((all.Dx()-w)/2, (all.Dy()-h)/2))
	return image.Rectangle{Min: corner, Max: corner.Add(image.Pt(w, h))}
}
