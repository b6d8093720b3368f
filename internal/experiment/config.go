package experiment

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Auto is the value of a setting that is chosen from the data or from the other settings. A run's own config.toml holds
// what it was in the end.
const Auto = "auto"

// Config is everything that decides what a training learns. Each field is a key of a config file and a flag of the
// command by the same name, described by its usage: see [Config.Fields].
type Config struct {
	Data      string   `key:"data" usage:"what to learn from: a file, a folder of images, or one of the built-in sets"`
	Rows      int      `key:"rows" usage:"examples to draw of a generated set, in rows"`
	Columns   []string `key:"columns" usage:"columns of a table to learn, by name or by number from 1, separated by commas; empty: all but the label"`
	Without   []string `key:"without" usage:"columns of a table to leave out"`
	Label     string   `key:"label" usage:"column of a table, or array of an NPZ, with the class of each example, which is then not learned itself; folders: the folders that images are in"`
	LabelFile string   `key:"label-file" usage:"file of one column with the class of each example"`
	Header    string   `key:"header" usage:"first line of a CSV or TSV: auto, yes (names) or no (data)"`
	Missing   string   `key:"missing" usage:"rows with a missing value: refuse or drop"`
	Array     string   `key:"array" usage:"array of an NPZ to learn; may be left out if it holds one"`
	Size      string   `key:"image-size" usage:"size to bring images to, HEIGHTxWIDTH or one number for both, in pixels; empty: as they are"`
	Fit       string   `key:"image-fit" usage:"how images are brought to image-size: resize or crop"`
	Images    string   `key:"images" usage:"rows of a table or array that are images, HEIGHTxWIDTH or HEIGHTxWIDTHx3, pixel by pixel; empty: by the array's own shape"`
	Colour    string   `key:"colour" usage:"images as grey or rgb; auto: as they are"`
	Stream    string   `key:"stream" usage:"read the data from the disk while training: auto (a file too large for memory), yes or no"`
	Shuffle   int      `key:"shuffle" usage:"rows from which the next one is drawn when a table is read while training; 0: 65536, or as many as 256 MiB hold"`
	Holdout   float64  `key:"holdout" usage:"share of the rows that is kept out of training, for eval; 0: none"`
	Transf    string   `key:"transform" usage:"how columns are brought to the size that networks like: standardize, whiten, minmax, logit, none, or several joined by +; auto: standardize for tables, minmax to [-1, 1] for images, none for generated sets"`
	Dequant   string   `key:"dequantize" usage:"spread whole numbers evenly over their cells, which makes a likelihood of them meaningful: uniform or gaussian noise, or no; auto: uniform for images of 256 levels"`
	Flip      bool     `key:"flip" usage:"train on images and their mirror images alike"`
	Cond      bool     `key:"conditional" usage:"learn a score for each class, too"`
	Dropout   float64  `key:"class-dropout" usage:"probability that a conditional model is not told the class of an example"`

	Net        string  `key:"net" usage:"network, one of those above; auto: by the data and the objective"`
	Hidden     []int   `key:"hidden" usage:"widths of the hidden layers of an MLP, separated by commas; empty: the network's own"`
	Width      int     `key:"width" usage:"width of a residual MLP, or channels of residual-conv; 0: the network's own"`
	Channels   []int   `key:"channels" usage:"channels of unet at each resolution, the finest first, or of conv-energy's convolutions, separated by commas; empty: the network's own"`
	Patch      int     `key:"patch" usage:"side of the squares of pixels that enter unet as one; 1 for the finest detail, at 4 times the work; 0: 2"`
	Attention  bool    `key:"attention" usage:"let unet compare all places of an image at its lowest resolution"`
	Blocks     int     `key:"blocks" usage:"residual blocks (of each level, for a U-Net), or components of mixture-energy; 0: the network's own"`
	Activation string  `key:"activation" usage:"function between layers: silu, tanh, softplus, gelu or sine"`
	DataStd    float64 `key:"data-std" usage:"root mean square of the transformed data that the network is told; 0: measured"`

	Objective string  `key:"objective" usage:"loss, one of those above; auto: by the data, the network and sigma"`
	Sigma     string  `key:"sigma" usage:"noise level, as in 0.5, or lowest and highest one, as in 0.01:10, standard deviations in the units of the transformed data; auto: from the size of the data"`
	Weighting string  `key:"weighting" usage:"how multinoise weighs its levels: sigma-squared, plain or edm"`
	Probes    int     `key:"probes" usage:"random directions of each example for hutchinson, sliced and sliced-vr"`
	CDStep    float64 `key:"chain-step" usage:"step of the chains of contrastive, in squared units of the transformed data"`
	CDSteps   int     `key:"chain-steps" usage:"steps of the chains of contrastive in each training step"`
	CDBuffer  int     `key:"chain-buffer" usage:"chains that contrastive keeps from step to step; 0: begin at the data each time"`

	Steps     int     `key:"steps" usage:"training steps; 0: 2000, but over few rows only as many as pass over them 200 times, and at least 200"`
	Batch     int     `key:"batch" usage:"examples a step"`
	Optimizer string  `key:"optimizer" usage:"adam, adamw or sgd"`
	Rate      float64 `key:"learning-rate" usage:"learning rate"`
	WarmUp    int     `key:"warm-up" usage:"steps over which the learning rate rises from 0; 0: none"`
	Cosine    bool    `key:"cosine" usage:"let the learning rate fall to 0 as a cosine"`
	Decay     float64 `key:"weight-decay" usage:"weight decay of adamw"`
	ClipNorm  float64 `key:"clip-norm" usage:"largest norm of the gradient, which is scaled down to it; 0: any"`
	EMA       float64 `key:"ema" usage:"decay of the moving average of the weights that is used in the end; 0: none"`
	Seed      int64   `key:"seed" usage:"seed of all random numbers: the split, the weights, the batches, the noise; 0 if not given"`
	DType     string  `key:"dtype" usage:"float32 or float64"`
	Backend   string  `key:"backend" usage:"what computes, as in GOMLX_BACKEND: xla, xla:cuda, go …; auto: the best that is installed"`

	CheckpointEvery int `key:"checkpoint-every" usage:"steps between checkpoints; 0: a tenth of all"`
	SamplesEvery    int `key:"samples-every" usage:"steps between the samples that are drawn while training; 0: a fifth of all, -1: none"`
	Samples         int `key:"samples" usage:"how many samples are then drawn; 0: 64 images or 500 points"`
}

// Default returns the settings that hold where nothing is said.
func Default() Config {
	return Config{
		Rows: 10_000, Header: Auto, Missing: "refuse", Fit: "resize", Colour: Auto, Stream: Auto, Holdout: 0.1,
		Transf: Auto, Dequant: Auto, Dropout: 0.1,
		Net: Auto, Activation: "silu",
		Objective: Auto, Sigma: Auto, Weighting: "sigma-squared", Probes: 1, CDStep: 0.01, CDSteps: 10,
		Batch: 128, Optimizer: "adam", Rate: 1e-3, Decay: 0.01, EMA: 0.999, DType: "float32", Backend: Auto,
	}
}

// Validate returns an error for a setting that is impossible whatever the data: it names the key, the value and what is
// allowed. A name that is close to an allowed one is suggested.
func (c Config) Validate() error {
	if c.Data == "" {
		return fmt.Errorf("data: must be given: a file, a folder of images, or one of %s", list(BuiltIn()))
	}
	for _, f := range c.Fields() {
		switch names := Names(f.Key); f.Key {
		case "data", "transform", "backend": // not only names
		case "net", "objective":
			if err := oneOf(f.Key, f.String(), append([]string{Auto}, names...)); err != nil {
				return err
			}
		default:
			if names == nil {
				continue
			}
			if err := oneOf(f.Key, f.String(), names); err != nil {
				return err
			}
		}
	}
	if _, err := transformNames(c.Transf); err != nil {
		return err
	}
	if _, _, err := c.levels(); err != nil {
		return err
	}
	if _, _, _, err := sides("image-size", c.Size, false); err != nil {
		return err
	}
	if _, _, _, err := sides("images", c.Images, true); err != nil {
		return err
	}
	for _, number := range []struct {
		key     string
		value   float64
		ok      bool
		allowed string
	}{
		{"rows", float64(c.Rows), c.Rows >= 2, "at least 2"},
		{"shuffle", float64(c.Shuffle), c.Shuffle >= 0, "at least 1, or 0 for the usual number"},
		{"holdout", c.Holdout, c.Holdout >= 0 && c.Holdout < 1, "at least 0 and below 1"},
		{"class-dropout", c.Dropout, c.Dropout >= 0 && c.Dropout < 1, "at least 0 and below 1"},
		{"width", float64(c.Width), c.Width >= 0, "at least 1, or 0 for the network's own"},
		{"patch", float64(c.Patch), c.Patch >= 0, "at least 1, or 0 for the network's own"},
		{"blocks", float64(c.Blocks), c.Blocks >= 0, "at least 1, or 0 for the network's own"},
		{"data-std", c.DataStd, c.DataStd >= 0 && !math.IsInf(c.DataStd, 0), "positive and finite, or 0 to have it measured"},
		{"probes", float64(c.Probes), c.Probes >= 1, "at least 1"},
		{"chain-step", c.CDStep, c.CDStep > 0 && !math.IsInf(c.CDStep, 0), "positive and finite"},
		{"chain-steps", float64(c.CDSteps), c.CDSteps >= 1, "at least 1"},
		{"chain-buffer", float64(c.CDBuffer), c.CDBuffer >= 0, "not negative"},
		{"steps", float64(c.Steps), c.Steps >= 0, "at least 1, or 0 for the usual number"},
		{"batch", float64(c.Batch), c.Batch >= 1, "at least 1"},
		{"learning-rate", c.Rate, c.Rate > 0 && c.Rate <= 1e15, "positive"},
		{"warm-up", float64(c.WarmUp), c.WarmUp >= 0, "not negative"},
		{"weight-decay", c.Decay, c.Decay > 0 && !math.IsInf(c.Decay, 0), "positive and finite"},
		{"clip-norm", c.ClipNorm, c.ClipNorm >= 0 && !math.IsInf(c.ClipNorm, 0), "positive and finite, or 0 for none"},
		{"ema", c.EMA, c.EMA >= 0 && c.EMA < 1, "at least 0 and below 1"},
		{"checkpoint-every", float64(c.CheckpointEvery), c.CheckpointEvery >= 0, "at least 1, or 0 for a tenth of all steps"},
		{"samples-every", float64(c.SamplesEvery), c.SamplesEvery >= -1, "at least 1, 0 for a fifth of all steps, or -1 for none"},
		{"samples", float64(c.Samples), c.Samples >= 0, "at least 1, or 0 for the usual number"},
	} {
		if !number.ok {
			return fmt.Errorf("%s %v: must be %s", number.key, number.value, number.allowed)
		}
	}
	for key, widths := range map[string][]int{"hidden": c.Hidden, "channels": c.Channels} {
		for _, width := range widths {
			if width < 1 {
				return fmt.Errorf("%s %d: must be at least 1", key, width)
			}
		}
	}
	return nil
}

// levels returns the noise levels of sigma: twice the same for a single one, both 0 for auto.
func (c Config) levels() (low, high float64, err error) {
	if c.Sigma == Auto {
		return 0, 0, nil
	}
	first, second, ranged := strings.Cut(c.Sigma, ":")
	low, err = strconv.ParseFloat(strings.TrimSpace(first), 64)
	high = low
	if ranged && err == nil {
		high, err = strconv.ParseFloat(strings.TrimSpace(second), 64)
	}
	if err != nil || !(low > 0) || math.IsInf(high, 0) || high < low || ranged && high == low {
		return 0, 0, fmt.Errorf("sigma %q: must be a positive number, two rising ones as in 0.01:10, or auto", c.Sigma)
	}
	return low, high, nil
}

// sides returns the height, width and, where they may be given, the channels of images; all 0 for an empty text.
func sides(key, text string, channels bool) (h, w, c int, err error) {
	if text == "" {
		return 0, 0, 0, nil
	}
	parts := strings.Split(strings.ToLower(text), "x")
	var numbers []int
	for _, part := range parts {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 {
			numbers = nil
			break
		}
		numbers = append(numbers, n)
	}
	switch {
	case len(numbers) == 1:
		return numbers[0], numbers[0], 1, nil
	case len(numbers) == 2:
		return numbers[0], numbers[1], 1, nil
	case len(numbers) == 3 && channels && (numbers[2] == 1 || numbers[2] == 3):
		return numbers[0], numbers[1], numbers[2], nil
	case channels:
		return 0, 0, 0, fmt.Errorf("%s %q: must be HEIGHTxWIDTH or HEIGHTxWIDTHx3, in pixels, as in 28x28 or 32x32x3", key, text)
	}
	return 0, 0, 0, fmt.Errorf("%s %q: must be HEIGHTxWIDTH or one number, in pixels, as in 28x28 or 28", key, text)
}
