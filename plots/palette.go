package plots

import (
	"image/color"
	"math"
)

// sequential is the palette of density maps: 256 colours from paper white to a mid blue, at equal steps of perceived
// colour. Its lightness falls steadily, so it reads the same with any colour vision and in grey; it stays light enough
// for near-black arrows on top.
var sequential = ramp([3]float64{1, 0, 0}, [3]float64{0.55, -0.035, -0.125})

// heat is the palette of lines and arrows by magnitude: from a light orange to a dark plum, all of it visible on white
// paper, its lightness falling steadily.
var heat = ramp([3]float64{0.83, 0.04, 0.13}, [3]float64{0.28, 0.09, -0.03})

// diverging is the palette of numbers of both signs: vermilion below zero, white at zero, blue above. In grey its two
// halves look alike, so what is drawn with it has its numbers written on it where there is room.
var diverging = func() (p [256]color.NRGBA) {
	below := ramp([3]float64{0.62, 0.13, 0.1}, [3]float64{1, 0, 0})
	above := ramp([3]float64{1, 0, 0}, [3]float64{0.55, -0.035, -0.125})
	for i := range 128 {
		p[i], p[128+i] = below[2*i], above[2*i+1]
	}
	return p
}()

// ramp returns colours on a straight line between two OKLab coordinates.
func ramp(from, to [3]float64) (p [256]color.NRGBA) {
	for i := range p {
		t := float64(i) / 255
		p[i] = okLab(from[0]+t*(to[0]-from[0]), from[1]+t*(to[1]-from[1]), from[2]+t*(to[2]-from[2]))
	}
	return p
}

// pick returns the palette's colour for a share of its range, 0 to 1.
func pick(p *[256]color.NRGBA, share float64) color.NRGBA {
	return p[int(math.Round(255*min(max(share, 0), 1)))]
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
