package plots

import (
	"image/color"
	"math"
)

// sequential is the palette of density maps: 256 colours from paper white to a mid blue, at equal steps of perceived
// colour. Its lightness falls steadily, so it reads the same with any colour vision and in grey; it stays light enough
// for near-black arrows on top.
var sequential = func() (p [256]color.NRGBA) {
	for i := range p {
		t := float64(i) / 255
		p[i] = okLab(1-0.45*t, -0.035*t, -0.125*t)
	}
	return p
}()

// shade returns the palette's colour for v on a scale from 0 to top.
func shade(v, top float64) color.NRGBA {
	if top <= 0 {
		return sequential[0]
	}
	return sequential[int(math.Round(255*min(max(v/top, 0), 1)))]
}

// okLab returns the sRGB colour of OKLab coordinates (B. Ottosson, "A perceptual color space for image processing",
// 2020): lightness, green to red, blue to yellow. Equal distances look about equally different.
func okLab(lightness, a, b float64) color.NRGBA {
	cube := func(v float64) float64 { return v * v * v }
	l := cube(lightness + 0.3963377774*a + 0.2158037573*b)
	m := cube(lightness - 0.1055613458*a - 0.0638541728*b)
	s := cube(lightness - 0.0894841775*a - 1.2914855480*b)
	return color.NRGBA{
		R: companded(4.0767416621*l - 3.3077115913*m + 0.2309699292*s),
		G: companded(-1.2684380046*l + 2.6097574011*m - 0.3413193965*s),
		B: companded(-0.0041960863*l - 0.7034186147*m + 1.7076147010*s),
		A: 255,
	}
}

// companded turns a linear intensity into an sRGB byte (IEC 61966-2-1).
func companded(v float64) uint8 {
	if v <= 0.0031308 {
		v *= 12.92
	} else {
		v = 1.055*math.Pow(v, 1/2.4) - 0.055
	}
	return uint8(math.Round(255 * min(max(v, 0), 1)))
}
