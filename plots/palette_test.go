package plots

import (
	"image/color"
	"math"
	"testing"
)

// linear returns the linear intensities of an sRGB colour.
func linear(c color.NRGBA) (out [3]float64) {
	for i, v := range []uint8{c.R, c.G, c.B} {
		x := float64(v) / 255
		if x <= 0.04045 {
			out[i] = x / 12.92
		} else {
			out[i] = math.Pow((x+0.055)/1.055, 2.4)
		}
	}
	return out
}

// deutan simulates full deuteranopia in linear RGB: Machado, Oliveira and Fernandes, "A Physiologically-based Model
// for Simulation of Color Vision Deficiency", 2009, severity 1.
func deutan(c [3]float64) (out [3]float64) {
	for i, row := range [3][3]float64{
		{0.367322, 0.860646, -0.227968},
		{0.280085, 0.672501, 0.047413},
		{-0.011820, 0.042940, 0.968881},
	} {
		for j, w := range row {
			out[i] += w * c[j]
		}
		out[i] = min(max(out[i], 0), 1)
	}
	return out
}

// lab returns CIELAB coordinates under D65, the usual yardstick: a distance of 2.3 is just noticeable.
func lab(c [3]float64) [3]float64 {
	f := func(t float64) float64 {
		if t > 216.0/24389 {
			return math.Cbrt(t)
		}
		return (24389.0/27*t + 16) / 116
	}
	x := f((0.4124564*c[0] + 0.3575761*c[1] + 0.1804375*c[2]) / 0.95047)
	y := f(0.2126729*c[0] + 0.7151522*c[1] + 0.0721750*c[2])
	z := f((0.0193339*c[0] + 0.1191920*c[1] + 0.9503041*c[2]) / 1.08883)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

func distance(a, b [3]float64) float64 {
	return math.Sqrt((a[0]-b[0])*(a[0]-b[0]) + (a[1]-b[1])*(a[1]-b[1]) + (a[2]-b[2])*(a[2]-b[2]))
}

func TestSeriesColoursStayApart(t *testing.T) {
	white := lab([3]float64{1, 1, 1})
	for i, a := range series {
		for j, b := range series[:i] {
			plain := distance(lab(linear(a)), lab(linear(b)))
			seen := distance(lab(deutan(linear(a))), lab(deutan(linear(b))))
			if plain < 20 || seen < 17 {
				t.Errorf("colours %d and %d: distance %.1f, under deuteranopia %.1f", i, j, plain, seen)
			}
		}
		if d := distance(lab(deutan(linear(a))), white); d < 35 {
			t.Errorf("colour %d: distance %.1f from white", i, d)
		}
	}
}

func TestSequentialIsUniform(t *testing.T) {
	last := lab(linear(sequential[0]))
	if last[0] < 99 {
		t.Errorf("the lowest colour has lightness %.1f: want white", last[0])
	}
	var least, most float64 = math.Inf(1), 0
	for i := 15; i < 256; i += 15 {
		c := lab(linear(sequential[i]))
		if c[0] >= last[0] {
			t.Errorf("lightness rises to %.1f at colour %d", c[0], i)
		}
		seen := distance(lab(deutan(linear(sequential[i]))), lab(deutan(linear(sequential[i-15]))))
		if seen < 2 {
			t.Errorf("colours %d and %d: distance %.1f under deuteranopia", i-15, i, seen)
		}
		d := distance(c, last)
		least, most, last = min(least, d), max(most, d), c
	}
	if most > 1.6*least {
		t.Errorf("steps between %.2f and %.2f", least, most)
	}
	// Arrows by magnitude: steadily darker, and the lightest still stands out from white.
	white := lab([3]float64{1, 1, 1})
	if d := distance(lab(linear(heat[0])), white); d < 35 {
		t.Errorf("the lightest arrow: distance %.1f from white", d)
	}
	for i := 15; i < 256; i += 15 {
		if now, before := lab(linear(heat[i])), lab(linear(heat[i-15])); now[0] > before[0]-1 {
			t.Errorf("lightness %.1f after %.1f at colour %d", now[0], before[0], i)
		}
	}
	// Both signs: white in the middle, alike in strength at the ends, and far apart under deuteranopia.
	if d := distance(lab(linear(diverging[127])), white); d > 3 {
		t.Errorf("zero: distance %.1f from white", d)
	}
	below, above := lab(linear(diverging[0])), lab(linear(diverging[255]))
	if d := distance(lab(deutan(linear(diverging[0]))), lab(deutan(linear(diverging[255])))); d < 60 || math.Abs(below[0]-above[0]) > 12 {
		t.Errorf("ends: distance %.1f under deuteranopia, lightness %.1f and %.1f", d, below[0], above[0])
	}
	// Near-black arrows keep a contrast of 3 to 1 (WCAG 2.1, 1.4.11) on the darkest colour.
	luminance := func(c color.NRGBA) float64 {
		v := linear(c)
		return 0.2126*v[0] + 0.7152*v[1] + 0.0722*v[2]
	}
	if ratio := (luminance(sequential[255]) + 0.05) / (luminance(ink) + 0.05); ratio < 3 {
		t.Errorf("arrows have a contrast of %.2f on the darkest colour", ratio)
	}
}
