package benchmark

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Curve is how the time of a step grows with one number, all others being the same.
type Curve struct {
	Name   string
	Title  string
	Family string // curves of one family are drawn side by side
	Along  string // the number that grows
	At     []int
	Theory string // what is expected of the exponent, and why
	// same are the other numbers.
	same map[string]int
	// work is the name of what is done.
	work string
}

// Families lists the families of curves.
var Families = []string{"dimension", "batch", "chains", "kernels"}

var (
	dimensions = []int{2, 8, 32, 64, 128, 256, 512, 1024}
	batches    = []int{16, 64, 256, 512, 1024, 2048, 4096, 8192}
)

// Curves lists what there is to measure.
var Curves = []Curve{
	{Name: "exact_d", Title: "Exact trace", Family: "dimension", Along: "d", At: []int{2, 4, 8, 16, 32, 64, 128, 256, 512, 1024},
		work: "exact", same: map[string]int{"batch": 128},
		Theory: "d derivatives, each through a network of 128² + 256 d weights: 1 while d ≪ 64, 2 beyond; what leaves out the zeros of the unit vectors in the first and last layer keeps near 1"},
	{Name: "hutchinson_d", Title: "Hutchinson, 1 probe", Family: "dimension", Along: "d", At: dimensions,
		work: "hutchinson", same: map[string]int{"batch": 128},
		Theory: "one derivative whatever d is: only the network of 128² + 256 d weights grows, 0 while d ≪ 64, 1 beyond"},
	{Name: "sliced_d", Title: "Sliced, 1 projection", Family: "dimension", Along: "d", At: dimensions,
		work: "sliced", same: map[string]int{"batch": 128},
		Theory: "as with a probe: 0 while d ≪ 64, 1 beyond"},
	{Name: "denoising_d", Title: "Denoising", Family: "dimension", Along: "d", At: dimensions,
		work: "denoising", same: map[string]int{"batch": 128},
		Theory: "no second derivative: half the products of a probe, and the same exponents"},
	{Name: "denoising_batch", Title: "Denoising, d = 64", Family: "batch", Along: "batch", At: batches,
		work: "denoising", same: map[string]int{"d": 64},
		Theory: "each example is as much work: 1 once the batch is large, less while the weights' update and the calls take most of the time"},
	{Name: "hutchinson_batch", Title: "Hutchinson, 1 probe, d = 64", Family: "batch", Along: "batch", At: batches,
		work: "hutchinson", same: map[string]int{"d": 64},
		Theory: "the same"},
	{Name: "langevin_chains", Title: "Langevin on the ring", Family: "chains", Along: "chains", At: []int{64, 256, 1024, 4096, 8192, 16384, 32768, 65536},
		work:   "langevin",
		Theory: "each chain is as much work: 1 once there are many, less while the fixed cost of a step counts"},
	{Name: "kde_centres", Title: "Kernel density, 2,048 points", Family: "kernels", Along: "centres", At: []int{256, 1024, 4096, 8192, 16384, 32768, 65536},
		work: "kde", same: map[string]int{"points": 2048},
		Theory: "each pair of a point and a centre is as much work: 1"},
	{Name: "kde_points", Title: "Kernel density, 2,048 centres", Family: "kernels", Along: "points", At: []int{256, 1024, 4096, 8192, 16384, 32768, 65536},
		work: "kde", same: map[string]int{"centres": 2048},
		Theory: "the same"},
}

// CurveNames lists the names of the curves.
func CurveNames() []string {
	var names []string
	for _, c := range Curves {
		names = append(names, c.Name)
	}
	return names
}

// ChooseCurves returns the curves of those names, all for none. The error names one that does not exist.
func ChooseCurves(names []string) ([]Curve, error) {
	if len(names) == 0 {
		return Curves, nil
	}
	var chosen []Curve
	for _, name := range names {
		i := slices.IndexFunc(Curves, func(c Curve) bool { return c.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("curve %q: must be one of %s", name, strings.Join(CurveNames(), ", "))
		}
		chosen = append(chosen, Curves[i])
	}
	return chosen, nil
}

const pointPrefix = "curve_"

// point is work with its numbers, as a program is asked for it: curve_denoising:batch=128,d=64.
type point struct {
	work    string
	numbers map[string]int
}

// at is the curve's point where the number that grows is n.
func (c Curve) at(n int) point {
	numbers := map[string]int{c.Along: n}
	for key, value := range c.same {
		numbers[key] = value
	}
	return point{c.work, numbers}
}

// String is how a program is asked for it.
func (p point) String() string {
	var parts []string
	for key, value := range p.numbers {
		parts = append(parts, fmt.Sprintf("%s=%d", key, value))
	}
	slices.Sort(parts)
	return pointPrefix + p.work + ":" + strings.Join(parts, ",")
}

// parsePoint reads what String writes. The error says what is wrong.
func parsePoint(text string) (point, error) {
	name, rest, _ := strings.Cut(strings.TrimPrefix(text, pointPrefix), ":")
	want, ok := pointNumbers[name]
	if !ok || !isPoint(text) {
		return point{}, fmt.Errorf("task %q: there is none of this name", text)
	}
	p := point{name, map[string]int{}}
	for part := range strings.SplitSeq(rest, ",") {
		key, value, _ := strings.Cut(part, "=")
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return point{}, fmt.Errorf("task %q: %q: must be a name, = and a positive number", text, part)
		}
		p.numbers[key] = n
	}
	for _, key := range want {
		if p.numbers[key] == 0 || len(p.numbers) != len(want) {
			return point{}, fmt.Errorf("task %q: must set %s", text, strings.Join(want, " and "))
		}
	}
	return p, nil
}

// pointNumbers are the numbers that each work needs.
var pointNumbers = map[string][]string{
	"exact": {"batch", "d"}, "hutchinson": {"batch", "d"}, "sliced": {"batch", "d"}, "denoising": {"batch", "d"},
	"langevin": {"chains"}, "kde": {"centres", "points"},
}

func isPoint(task string) bool { return strings.HasPrefix(task, pointPrefix) }

// flops counts the products of a step as its formula is written, with no zero left out.
func (p point) flops() float64 {
	at := func(key string) float64 { return float64(p.numbers[key]) }
	network := at("batch") * mlpFlops(p.numbers["d"], curveWidth, curveWidth, p.numbers["d"])
	switch p.work {
	case "exact":
		return 3 * (1 + at("d")) * network
	case "hutchinson", "sliced":
		return 6 * network
	case "denoising":
		return 3 * network
	case "langevin": // to the shares of the eight means and back
		return at("chains") * 2 * 2 * 8 * 2
	default: // the same with the centres, in the plane
		return at("centres") * at("points") * 2 * 2 * 2
	}
}
