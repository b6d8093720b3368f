package plots

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
)

// linearTicks returns about n ticks at multiples of 1, 2 or 5 times a power of ten.
func linearTicks(lo, hi float64, n int) []plot.Tick {
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

// logTicks labels powers of ten, and 2 and 5 times them where the range spans fewer than two.
func logTicks(lo, hi float64) []plot.Tick {
	decades := math.Log10(hi / lo)
	multiples := []float64{1, 2, 5}
	if decades >= 2 {
		multiples = multiples[:1]
	}
	every := 1 + int(decades/7)
	var ticks []plot.Tick
	for e := int(math.Floor(math.Log10(lo))); e <= int(math.Ceil(math.Log10(hi))); e++ {
		if e%every != 0 {
			continue
		}
		for _, m := range multiples {
			v := m * math.Pow10(e)
			if v >= lo*(1-1e-9) && v <= hi*(1+1e-9) {
				ticks = append(ticks, plot.Tick{Value: v, Label: number(v, max(0, -e))})
			}
		}
	}
	if len(ticks) < 3 {
		return linearTicks(lo, hi, 4)
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

// short writes v to three significant digits, for captions.
func short(v float64) string {
	if v == 0 {
		return "0"
	}
	return number(v, max(0, 2-int(math.Floor(math.Log10(math.Abs(v))))))
}
