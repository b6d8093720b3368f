package plots

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// linearTicks returns about n ticks, at least 2, at multiples of 1, 2 or 5 times a power of ten.
func linearTicks(lo, hi float64, n int) []plot.Tick {
	ticks := roundTicks(lo, hi, n)
	for more := n + 1; len(ticks) < 2 && more < n+4; more++ {
		ticks = roundTicks(lo, hi, more)
	}
	return ticks
}

func roundTicks(lo, hi float64, n int) []plot.Tick {
	raw := (hi - lo) / float64(n)
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	multiple := 10.0
	switch share := raw / power; { // the multiple nearest on a logarithmic scale
	case share < math.Sqrt(1*2):
		multiple = 1
	case share < math.Sqrt(2*5):
		multiple = 2
	case share < math.Sqrt(5*10):
		multiple = 5
	}
	step := multiple * power
	decimals := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	var ticks []plot.Tick
	first := math.Ceil(lo/step - 1e-9)
	for i := range 2 * (n + 1) {
		v := (first + float64(i)) * step
		if v > hi+1e-9*step {
			break
		}
		ticks = append(ticks, plot.Tick{Value: v, Label: number(v, decimals)})
	}
	return ticks
}

// logTicks labels powers of ten, or with fewer than three of them in the range also multiples between, about n of them,
// and adds small ticks without a label. Within a factor of four or so it falls back on equal steps.
func logTicks(lo, hi float64, n int) []plot.Tick {
	decades := math.Log10(hi / lo)
	var multiples []int
	switch {
	case decades < 0.6:
		return linearTicks(lo, hi, min(n, 4))
	case decades < 1.4:
		multiples = []int{1, 2, 5}
	case decades < 3:
		multiples = []int{1, 3}
	default:
		multiples = []int{1}
	}
	every := int(math.Ceil(decades / float64(max(n, 2))))
	var ticks []plot.Tick
	for e := int(math.Floor(math.Log10(lo))); e <= int(math.Ceil(math.Log10(hi))); e++ {
		for m := 1; m < 10; m++ {
			v := float64(m) * math.Pow10(e)
			if v < lo*(1-1e-9) || v > hi*(1+1e-9) || m > 1 && decades > 8 {
				continue
			}
			label := ""
			if slices.Contains(multiples, m) && (e%every == 0 || len(multiples) > 1) {
				label = number(v, max(0, -e))
			}
			ticks = append(ticks, plot.Tick{Value: v, Label: label})
		}
	}
	return ticks
}

// namedTicks puts a name at each whole number from 0; an empty one has no tick.
func namedTicks(names []string) (ticks []plot.Tick) {
	for i, name := range names {
		if name != "" {
			ticks = append(ticks, plot.Tick{Value: float64(i), Label: name})
		}
	}
	return ticks
}

// ticksAt puts a tick at each of the values of a logarithmic axis of the given length, and a label where there is room.
func ticksAt(values []float64, lo, hi float64, length vg.Length) []plot.Tick {
	ticks := make([]plot.Tick, len(values))
	end := vg.Length(math.Inf(-1)) // of the last label
	for i, v := range values {
		label := short(v)
		at := length * vg.Length(math.Log(v/lo)/math.Log(hi/lo))
		half := textStyle(tickSize, soft).Width(label) / 2
		if at-half < end+textGap {
			label = ""
		} else {
			end = at + half
		}
		ticks[i] = plot.Tick{Value: v, Label: label}
	}
	return ticks
}

// number writes v with a true minus sign and a comma between thousands, and with an exponent where plain digits would
// be many.
func number(v float64, decimals int) string {
	a := math.Abs(v)
	var s string
	switch {
	case a == 0 && decimals > 4:
		s = "0"
	case a >= 1e6 || decimals > 4:
		s = strings.Replace(strconv.FormatFloat(a, 'e', -1, 64), "e+0", "e", 1)
		if len(s) > 7 { // a product of step and index, not exact in binary
			s = strconv.FormatFloat(a, 'e', 2, 64)
		}
		s = strings.NewReplacer("e+0", "e", "e+", "e", "e-0", "e−", "e-", "e−").Replace(s)
	default:
		s = strconv.FormatFloat(a, 'f', decimals, 64)
		whole, _, _ := strings.Cut(s, ".")
		for i := len(whole) - 3; i > 0; i -= 3 {
			s = s[:i] + "," + s[i:]
		}
	}
	if v < 0 && strings.Trim(s, "0.,") != "" {
		s = "−" + s
	}
	return s
}

// short writes v to three significant digits, without zeros at the end, for captions.
func short(v float64) string {
	if v == 0 {
		return "0"
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(math.Abs(v), 'e', 2, 64), "e")
	digits := len(strings.TrimRight(strings.TrimRight(mantissa, "0"), "."))
	if digits > 1 {
		digits-- // the point
	}
	power, err := strconv.Atoi(exponent)
	if err != nil { // infinite: checked before anything is drawn
		return number(v, 0)
	}
	return number(v, max(0, digits-1-power))
}
