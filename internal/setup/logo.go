package setup

import (
	"image"
	"image/color"
	"math"
)

// logo draws the kernel's picture: the ring of eight Gaussians of the first notebook, as dots of light, on dark blue.
func logo(size int) image.Image {
	picture := image.NewRGBA(image.Rect(0, 0, size, size))
	ground, light := [3]float64{18, 35, 66}, [3]float64{120, 226, 255}
	scale := float64(size)
	for y := range size {
		for x := range size {
			density := 0.0
			for k := range 8 {
				sin, cos := math.Sincos(2 * math.Pi * float64(k) / 8)
				dx := (float64(x)+0.5)/scale - 0.5 - 0.33*cos
				dy := (float64(y)+0.5)/scale - 0.5 - 0.33*sin
				density += math.Exp(-(dx*dx + dy*dy) / (2 * 0.055 * 0.055))
			}
			density = min(density, 1)
			mix := func(k int) uint8 { return uint8(ground[k] + density*(light[k]-ground[k])) }
			picture.SetRGBA(x, y, color.RGBA{mix(0), mix(1), mix(2), 255})
		}
	}
	return picture
}
