package experiment

import (
	"fmt"
	"math"
	"strconv"
)

// resolve replaces every auto by what it means for these data, which are transformed already, so that the config says
// all.
func (c Config) resolve(f Facts) (Config, error) {
	if c.DataStd == 0 {
		c.DataStd = round(f.Std, 4)
	}
	if !(c.DataStd > 0) {
		return c, fmt.Errorf("data: all examples are the same: there is nothing to learn; must vary, or give data-std")
	}
	c.Net, c.Objective = c.pair(f)
	low, _, err := c.levels()
	if err != nil {
		return c, err
	}
	if err := c.agree(f.dim()); err != nil {
		return c, err
	}
	net := c.network()
	if net.images && f.Kind != "images" {
		return c, fmt.Errorf("net %s is for images, which data %s are not: take one of %s", net.name, f.Name, namesWhere(func(n network) bool { return !n.images }))
	}
	if c.Cond && len(f.Classes) == 0 {
		return c, fmt.Errorf("conditional: data %s have no classes: name their column with label, or leave conditional out", f.Name)
	}
	if c.Cond && !net.classes {
		return c, fmt.Errorf("conditional: net %s has no classes: take one of %s", net.name, namesWhere(func(n network) bool { return n.classes }))
	}
	if c.Flip && f.Kind != "images" {
		return c, fmt.Errorf("flip: data %s are no images: leave it out", f.Name)
	}
	if low == 0 { // auto
		switch c.loss().noise {
		case oneLevel:
			c.Sigma = number(round(0.2*c.DataStd, 2))
		case manyLevels:
			// Noise of 20 standard deviations leaves of the data what the eye cannot find in a sample.
			c.Sigma = number(round(f.finest()*c.DataStd, 2)) + ":" + number(round(20*c.DataStd, 2))
		}
	}
	if c.Steps == 0 {
		c.Steps = f.steps(c.Batch)
	}
	if c.CheckpointEvery == 0 {
		c.CheckpointEvery = max(1, c.Steps/10)
	}
	if c.SamplesEvery == 0 {
		c.SamplesEvery = max(1, c.Steps/5)
	}
	if c.Samples == 0 {
		c.Samples = 500
		if f.Kind == "images" {
			c.Samples = 64
		}
	}
	return c, nil
}

// pair chooses a network and an objective that go together: what is given decides over what is not.
func (c Config) pair(f Facts) (net, objective string) {
	net, objective = c.Net, c.Objective
	one := false // a noise level
	if low, high, err := c.levels(); err == nil {
		one = low > 0 && low == high
	}
	if net == Auto {
		switch {
		case objective == "contrastive":
			net = "energy-mlp"
		case objective != Auto && c.loss().noise != manyLevels, objective == Auto && one:
			net = "mlp"
		case f.Kind == "images":
			net = ImageNet
		default:
			net = "noise-mlp"
		}
	}
	if objective == Auto {
		switch known := (Config{Net: net}).network(); {
		case one || !known.noise && c.Sigma != Auto:
			objective = "denoising"
		case known.noise && known.images:
			objective = "edm"
		case known.noise:
			objective = "multinoise"
		case f.dim() <= 64:
			objective = "implicit"
		default:
			objective = "denoising"
		}
	}
	return net, objective
}

// finest is the lowest noise level to learn, in standard deviations of the data: a hundredth for images, which is not seen
// beside their own detail, and for tables a tenth of the width that kernels have in a density estimate of so many rows by the
// normal reference rule, n^{−1/(d+4)}: below it a network learns the rows at hand rather than what they are drawn from.
func (f Facts) finest() float64 {
	if f.Kind == "images" || f.Rows < 1 {
		return 0.01
	}
	return 0.1 * math.Pow(float64(f.Rows), -1/float64(f.dim()+4))
}

// steps is how long to train where it is not said. A network that passes over the same few rows again and again learns these
// rows by heart: its loss falls on and that of others rises. On 125 rows of wine, in one training, that began between 200 and 400
// passes.
func (f Facts) steps(batch int) int {
	const usual, least, passes = 2000, 200, 200
	if f.Rows < 0 {
		return usual
	}
	return min(usual, max(least, passes*f.Rows/batch))
}

// round keeps so many significant digits.
func round(v float64, digits int) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	if err != nil || math.IsNaN(v) {
		return v
	}
	return r
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
