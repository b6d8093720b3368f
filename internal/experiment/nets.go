package experiment

import (
	"fmt"
	"os"

	"github.com/gomlx/gomlx/backends"

	"github.com/scorekit/lab/internal/purego"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/net"
)

// network is a kind of model that a run can train.
type network struct {
	name   string
	noise  bool // it is told the noise level
	energy bool // it is an energy, with a score by its gradient
	images bool // it takes images, [batch, height, width, channels]

	classes bool // it can be conditional
	build   func(c Config, classes int) scorekit.Model
}

// networks are the kinds of model, those for one noise level first.
var networks = []network{
	{name: "linear", build: func(Config, int) scorekit.Model { return net.Linear{} }},
	{name: "quadratic", energy: true, build: func(Config, int) scorekit.Model { return net.Quadratic{} }},
	{name: "mixture-energy", energy: true, build: func(c Config, _ int) scorekit.Model {
		return net.MixtureEnergy{Components: orInt(c.Blocks, 8), Spread: c.DataStd}
	}},
	{name: "mlp", build: func(c Config, _ int) scorekit.Model {
		return net.MLP{Hidden: c.Hidden, Activation: net.Activation(c.Activation)}
	}},
	{name: "residual-mlp", build: func(c Config, _ int) scorekit.Model {
		return net.ResidualMLP{Width: c.Width, Blocks: c.Blocks, Activation: net.Activation(c.Activation)}
	}},
	{name: "energy-mlp", energy: true, build: func(c Config, _ int) scorekit.Model {
		return net.EnergyMLP{Hidden: c.Hidden, Activation: net.Activation(c.Activation)}
	}},
	{name: "conv-energy", energy: true, images: true, build: func(c Config, _ int) scorekit.Model {
		return net.ConvEnergy{Channels: c.Channels, Activation: net.Activation(c.Activation)}
	}},
	{name: "noise-mlp", noise: true, build: func(c Config, _ int) scorekit.Model {
		return net.NoiseMLP{Hidden: c.Hidden, Activation: net.Activation(c.Activation), DataStd: c.DataStd}
	}},
	{name: "noise-residual-mlp", noise: true, build: func(c Config, _ int) scorekit.Model {
		return net.NoiseResidualMLP{Width: c.Width, Blocks: c.Blocks, Activation: net.Activation(c.Activation), DataStd: c.DataStd}
	}},
	{name: "noise-energy-mlp", noise: true, energy: true, build: func(c Config, _ int) scorekit.Model {
		return net.NoiseEnergyMLP{Hidden: c.Hidden, Activation: net.Activation(c.Activation), DataStd: c.DataStd}
	}},
	{name: "residual-conv", noise: true, images: true, classes: true, build: func(c Config, classes int) scorekit.Model {
		return net.ResidualConv{Channels: c.Width, Blocks: c.Blocks, Classes: classes, DataStd: c.DataStd}
	}},
	{name: "unet", noise: true, images: true, classes: true, build: func(c Config, classes int) scorekit.Model {
		return net.UNet{Channels: c.Channels, Blocks: c.Blocks, Patch: c.Patch, Attention: c.Attention, Classes: classes, DataStd: c.DataStd}
	}},
}

// ImageNet is the network for images where none is named.
const ImageNet = "unet"

// model makes the network of a config for data.
func (c Config) model(f Facts) scorekit.Model {
	classes := 0
	if c.Cond {
		classes = len(f.Classes)
	}
	return c.network().build(c, classes)
}

// capable returns an error, with the cures, if the network would take for ever on a backend that was not asked for by
// name.
func (c Config) capable(b backends.Backend, asked string) error {
	n := c.network()
	if n.images && purego.Is(b) && asked == Auto && os.Getenv(backends.ConfigEnvVar) == "" {
		return fmt.Errorf("net %s needs XLA, and what computes is pure Go, which would take hundreds of times as long: install XLA (scorelab setup), take one of the nets %s, or insist with --backend go",
			n.name, namesWhere(func(o network) bool { return !o.images && o.noise == n.noise }))
	}
	return nil
}

// Nets returns the names of the networks that a run can train.
func Nets() []string { return names(networks, func(n network) string { return n.name }) }

// Activations returns the names of the functions between layers.
func Activations() []string {
	return []string{string(net.SiLU), string(net.Tanh), string(net.Softplus), string(net.GELU), string(net.Sine)}
}

func names[T any](list []T, name func(T) string) []string {
	all := make([]string, len(list))
	for i, v := range list {
		all[i] = name(v)
	}
	return all
}

// find returns the entry of a table by its name; every name was checked by [Config.Validate].
func find[T any](list []T, name func(T) string, wanted string) T {
	for _, v := range list {
		if name(v) == wanted {
			return v
		}
	}
	panic(fmt.Errorf("experiment: no entry %q", wanted))
}

func (c Config) network() network {
	return find(networks, func(n network) string { return n.name }, c.Net)
}

func orInt(v, otherwise int) int {
	if v == 0 {
		return otherwise
	}
	return v
}

// namesWhere returns the names of the networks that hold.
func namesWhere(holds func(network) bool) string {
	var all []string
	for _, n := range networks {
		if holds(n) {
			all = append(all, n.name)
		}
	}
	return list(all)
}
