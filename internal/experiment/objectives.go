package experiment

import (
	"fmt"
	"math"
	"slices"

	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/kde"
	"github.com/scorekit/lab/scorekit/objective"
)

// noise says which noise levels an objective gives to the score.
type noise int

const (
	noNoise    noise = iota // the score of the data themselves
	oneLevel                // that of the data with noise of one level
	manyLevels              // those of many levels
)

// loss is a kind of objective that a run can minimise.
type loss struct {
	name  string
	noise noise
	build func(c Config, m material) (scorekit.Objective, error)
}

// material is what some objectives are made of beside settings.
type material struct {
	model     scorekit.Model
	points    any // the transformed training data, where they are in memory
	low, high float64
}

// losses are the kinds of objective, those without noise first.
var losses = []loss{
	{"implicit", noNoise, func(Config, material) (scorekit.Objective, error) { return objective.Implicit{}, nil }},
	{"hutchinson", noNoise, func(c Config, _ material) (scorekit.Objective, error) {
		return objective.ImplicitHutchinson{Probes: c.Probes}, nil
	}},
	{"sliced", noNoise, func(c Config, _ material) (scorekit.Objective, error) {
		return objective.Sliced{Projections: c.Probes}, nil
	}},
	{"sliced-vr", noNoise, func(c Config, _ material) (scorekit.Objective, error) {
		return objective.SlicedVR{Projections: c.Probes}, nil
	}},
	{"nonnegative", noNoise, func(Config, material) (scorekit.Objective, error) { return objective.NonNegative{}, nil }},
	{"contrastive", noNoise, func(c Config, m material) (scorekit.Objective, error) {
		energy, ok := m.model.(interface {
			Energy(vars *mlctx.Context, x, sigma *scorekit.Node) *scorekit.Node
		})
		if !ok {
			return nil, fmt.Errorf("objective contrastive trains an energy, which net %s is not: must be one of %s", c.Net,
				namesWhere(func(n network) bool { return n.energy && !n.noise }))
		}
		return objective.Contrastive{Energy: energy.Energy, StepSize: c.CDStep, Steps: c.CDSteps, Buffer: c.CDBuffer, Restart: restart(c)}, nil
	}},
	{"explicit-kde", oneLevel, func(_ Config, m material) (scorekit.Objective, error) {
		if m.points == nil {
			return nil, fmt.Errorf("objective explicit-kde needs all data in memory: must be used with stream = no")
		}
		estimate, err := kde.New(m.points, kde.Gaussian, kde.Fixed(m.low))
		return objective.ExplicitKDE{Target: estimate}, err
	}},
	{"denoising", oneLevel, func(_ Config, m material) (scorekit.Objective, error) {
		return objective.Denoising{Sigma: m.low, Weighted: true}, nil
	}},
	{"multinoise", manyLevels, func(c Config, m material) (scorekit.Objective, error) {
		o := objective.MultiNoise{Min: m.low, Max: m.high, Weighting: weighting(c.Weighting)}
		if o.Weighting == objective.EDM {
			o.DataStd = c.DataStd
		}
		return o, nil
	}},
	{"edm", manyLevels, func(c Config, _ material) (scorekit.Objective, error) {
		// The law of levels of Karras et al. (2022) is made for data of standard deviation ½.
		return objective.MultiNoise{Levels: objective.LogNormal{Mean: -1.2 + math.Log(c.DataStd/0.5), Std: 1.2},
			Weighting: objective.EDM, DataStd: c.DataStd}, nil
	}},
}

// restart is the share of kept chains that begin anew in each step, so that none of them stays where no data are.
func restart(c Config) float64 {
	if c.CDBuffer == 0 {
		return 0
	}
	return 0.05
}

// Objectives returns the names of the objectives that a run can minimise.
func Objectives() []string { return names(losses, func(l loss) string { return l.name }) }

// Weightings returns the names of the ways to weigh noise levels.
func Weightings() []string { return []string{"sigma-squared", "plain", "edm"} }

func weighting(name string) objective.Weighting {
	return []objective.Weighting{objective.SigmaSquared, objective.Plain, objective.EDM}[slices.Index(Weightings(), name)]
}

func (c Config) loss() loss {
	return find(losses, func(l loss) string { return l.name }, c.Objective)
}

// agree returns an error, with the cure, where the objective, the network and the noise levels do not go together.
func (c Config) agree(dim int) error {
	net, loss := c.network(), c.loss()
	ranged := false
	if c.Sigma != Auto {
		low, high, _ := c.levels()
		ranged = high > low
	}
	withNoise := namesWhere(func(n network) bool { return n.noise && n.images == net.images })
	without := namesWhere(func(n network) bool { return !n.noise })
	switch {
	case loss.noise == noNoise && net.noise:
		return fmt.Errorf("objective %s gives no noise level, which net %s needs: take one of the nets %s, or objective multinoise or denoising", loss.name, net.name, without)
	case loss.noise == noNoise && c.Sigma != Auto:
		return fmt.Errorf("sigma %s: objective %s has no noise level: leave sigma out, or take objective denoising or multinoise", c.Sigma, loss.name)
	case loss.noise == manyLevels && !net.noise:
		return fmt.Errorf("net %s cannot be told the noise level, of which objective %s draws many: take one of the nets %s, or objective denoising with one sigma", net.name, loss.name, withNoise)
	case loss.noise == oneLevel && ranged:
		return fmt.Errorf("sigma %s: objective %s has one noise level: give one number, or take objective multinoise", c.Sigma, loss.name)
	case loss.noise == manyLevels && !ranged && c.Sigma != Auto:
		return fmt.Errorf("sigma %s: objective %s has many noise levels: give the lowest and the highest, as in 0.01:10, or take objective denoising", c.Sigma, loss.name)
	case loss.name == "explicit-kde" && net.noise:
		return fmt.Errorf("objective explicit-kde gives no noise level, which net %s needs: take one of the nets %s, or objective denoising", net.name, without)
	case (loss.name == "implicit" || loss.name == "nonnegative") && dim > 256:
		return fmt.Errorf("objective %s takes a derivative for each of the %d numbers of an example, at most 256: take hutchinson, sliced-vr or denoising", loss.name, dim)
	case loss.name == "nonnegative" && c.Transf != "none":
		return fmt.Errorf("objective nonnegative is for data that begin at 0, which transform %s moves: take transform none", c.Transf)
	case c.CDBuffer > 0 && c.CDBuffer < c.Batch:
		return fmt.Errorf("chain-buffer %d: must be at least the batch, %d", c.CDBuffer, c.Batch)
	}
	return nil
}
