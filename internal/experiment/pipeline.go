package experiment

import (
	"context"
	"fmt"
	"strings"

	"github.com/scorekit/lab/data"
	"github.com/scorekit/lab/scorekit"
)

// transforms are the names of what can be done to columns.
var transforms = []string{Auto, "none", "standardize", "whiten", "minmax", "logit"}

// transformNames returns the parts of a transform setting, in order.
func transformNames(text string) ([]string, error) {
	parts := strings.Split(text, "+")
	for _, part := range parts {
		if err := oneOf("transform", part, transforms); err != nil {
			return nil, err
		}
		if (part == Auto || part == "none") && len(parts) > 1 {
			return nil, fmt.Errorf("transform %q: %s must stand alone", text, part)
		}
	}
	return parts, nil
}

// pipeline makes the way from the data to what the network sees, not yet fitted, and puts what auto means in c.
func (d *dataset) pipeline(c Config) (data.Pipeline, Config) {
	images := d.facts.Kind == "images"
	if c.Transf == Auto {
		c.Transf = map[string]string{"points": "none", "table": "standardize", "images": "minmax"}[d.facts.Kind]
	}
	if c.Dequant == Auto {
		c.Dequant = "no"
		if images && d.levels != (data.Levels{}) {
			c.Dequant = "uniform"
		}
	}
	p := data.Pipeline{Height: d.facts.Height, Width: d.facts.Width, Channels: d.facts.Channels}
	if d.facts.Named {
		p.Columns = d.facts.Columns
	}
	switch c.Dequant {
	case "uniform":
		p.Dequantize = data.Dequantizer{Levels: d.levels}
	case "gaussian":
		p.Dequantize = data.Dequantizer{Levels: d.levels, Gaussian: 0.5}
	}
	parts, _ := transformNames(c.Transf) // checked by Validate
	for _, part := range parts {
		switch part {
		case "standardize": // pixels have one unit
			p.Transforms = append(p.Transforms, data.Standardizer{Joint: images})
		case "whiten":
			p.Transforms = append(p.Transforms, data.Whitener{})
		case "minmax":
			p.Transforms = append(p.Transforms, data.MinMax{Low: -1, High: 1, Joint: images})
		case "logit":
			p.Transforms = append(p.Transforms, data.MinMax{High: 1, Joint: images}, data.Logit{})
		}
	}
	return p, c
}

// prepare fits the pipeline to the training data and makes of them what a training takes.
func (d *dataset) prepare(ctx context.Context, c Config) (*prepared, error) {
	pipe, c := d.pipeline(c)
	if c.Dequant != "no" && d.levels == (data.Levels{}) {
		return nil, fmt.Errorf("dequantize %s: it is not known which whole numbers data %s are made of, only images of 256 levels: take dequantize no", c.Dequant, d.facts.Name)
	}
	var err error
	if d.trainFile != nil {
		if pipe, err = pipe.Fit(d.trainFile.Values(ctx)); err != nil {
			return nil, inWords(err)
		}
	} else if pipe, err = pipe.FitSet(ctx, d.train); err != nil {
		return nil, err
	}
	p := &prepared{dataset: d, pipe: pipe}
	sample, err := some(ctx, d.train, d.trainFile, 4096, c.Seed, d.facts)
	if err != nil {
		return nil, err
	}
	z, _, err := pipe.Apply(sample.X, c.Seed)
	if err != nil {
		return nil, err
	}
	if d.facts.Std, err = spread(z); err != nil {
		return nil, err
	}
	if p.config, err = c.resolve(d.facts); err != nil {
		return nil, err
	}
	p.facts = d.facts
	if d.trainFile == nil {
		p.points = z
	}
	p.data, err = d.examples(p.config, pipe)
	return p, err
}

// examples makes training data.
func (d *dataset) examples(c Config, pipe data.Pipeline) (out scorekit.Data, err error) {
	if d.trainFile != nil {
		var source scorekit.Source = pipe.Source(d.trainFile)
		if d.facts.Kind == "images" && !c.network().images {
			return nil, fmt.Errorf("net %s with images that are read while training: must be a net for images, or stream no", c.Net)
		}
		out, err = scorekit.Stream(source)
	} else {
		out, err = setExamples(c, pipe, d.train)
	}
	if err != nil {
		return nil, inWords(err)
	}
	if c.Flip {
		out = scorekit.Augment(out, data.Flips(d.facts.Height, d.facts.Width, d.facts.Channels))
	}
	return out, nil
}

// setExamples makes data of a set in memory, of the shape that the network takes.
func setExamples(c Config, pipe data.Pipeline, set data.Set) (scorekit.Data, error) {
	if c.network().images {
		return pipe.ImageExamples(set)
	}
	return pipe.Examples(set)
}
