package net

import (
	"math"

	"github.com/scorekit/lab/scorekit"
)

// picture is an image of plain numbers, [height, width, channels].
type picture struct {
	height, width, channels int
	v                       []float64
}

func blank(height, width, channels int) picture {
	return picture{height, width, channels, make([]float64, height*width*channels)}
}

// at is a value, and 0 beyond the edges.
func (p picture) at(row, column, channel int) float64 {
	if row < 0 || row >= p.height || column < 0 || column >= p.width {
		return 0
	}
	return p.v[(row*p.width+column)*p.channels+channel]
}

// each makes a picture from a rule for every value.
func each(height, width, channels int, f func(row, column, channel int) float64) picture {
	p := blank(height, width, channels)
	for i := range p.v {
		p.v[i] = f(i/channels/width, i/channels%width, i%channels)
	}
	return p
}

func (p picture) silu() picture {
	return picture{p.height, p.width, p.channels, activate(SiLU, p.v)}
}

func (p picture) plus(q picture) picture {
	return each(p.height, p.width, p.channels, func(i, j, c int) float64 { return p.at(i, j, c) + q.at(i, j, c) })
}

// filter is W ∗ p, 3×3, without a bias.
func (w weights) filter(scope string, p picture) picture {
	w.t.Helper()
	kernel, dims := w.flat(scope, "weights")
	return each(p.height, p.width, dims[3], func(i, j, to int) float64 {
		sum := 0.0
		for a := range 3 {
			for b := range 3 {
				for from := range p.channels {
					sum += kernel[((a*3+b)*p.channels+from)*dims[3]+to] * p.at(i+a-1, j+b-1, from)
				}
			}
		}
		return sum
	})
}

// pixels applies a matrix to the channels of each pixel.
func (w weights) pixels(scope string, p picture) picture {
	w.t.Helper()
	_, dims := w.flat(scope, "weights")
	out := picture{p.height, p.width, dims[1], nil}
	for i := 0; i < len(p.v); i += p.channels {
		out.v = append(out.v, w.linear(scope, p.v[i:i+p.channels])...)
	}
	return out
}

// norm is the group norm by its definition; e is nil for one without an embedding.
func (w weights) norm(scope string, p picture, groups int, e []float64) picture {
	w.t.Helper()
	scales, _ := w.flat(scope, "scales")
	biases, _ := w.flat(scope, "biases")
	var ab []float64
	if e != nil {
		ab = w.dense(scope+"/level", e)
	}
	size := p.channels / groups
	return each(p.height, p.width, p.channels, func(i, j, c int) float64 {
		mean, variance, n := 0.0, 0.0, float64(p.height*p.width*size)
		group := func(f func(v float64)) {
			for k, v := range p.v {
				if k%p.channels/size == c/size {
					f(v)
				}
			}
		}
		group(func(v float64) { mean += v / n })
		group(func(v float64) { variance += (v - mean) * (v - mean) / n })
		y := (p.at(i, j, c)-mean)/math.Sqrt(variance+1e-5)*scales[c] + biases[c]
		if e != nil {
			y = y*(1+ab[c]) + ab[p.channels+c]
		}
		return y
	})
}

// squares moves the pixels of squares to the channels.
func (p picture) squares(side int) picture {
	return each((p.height+side-1)/side, (p.width+side-1)/side, side*side*p.channels, func(i, j, c int) float64 {
		place := c / p.channels
		return p.at(i*side+place/side, j*side+place%side, c%p.channels)
	})
}

// spread moves them back.
func (p picture) spread(side, height, width int) picture {
	channels := p.channels / (side * side)
	return each(height, width, channels, func(i, j, c int) float64 {
		return p.at(i/side, j/side, (i%side*side+j%side)*channels+c)
	})
}

// attend is the attention of one head.
func (w weights) attend(scope string, p picture, groups int) picture {
	w.t.Helper()
	n := w.norm(scope+"/norm", p, groups, nil)
	q, k, v := w.pixels(scope+"/query", n), w.pixels(scope+"/key", n), w.pixels(scope+"/value", n)
	taken, c := blank(p.height, p.width, p.channels), p.channels
	for i := 0; i < len(p.v); i += c {
		total := 0.0
		for j := 0; j < len(p.v); j += c {
			fit := 0.0
			for l := range c {
				fit += q.v[i+l] * k.v[j+l]
			}
			share := math.Exp(fit / math.Sqrt(float64(c)))
			total += share
			for l := range c {
				taken.v[i+l] += share * v.v[j+l]
			}
		}
		for l := range c {
			taken.v[i+l] /= total
		}
	}
	return p.plus(w.pixels(scope+"/out", taken))
}

// imageBlock is a residual block.
func (w weights) imageBlock(scope string, p picture, groups int, e []float64) picture {
	w.t.Helper()
	h := w.filter(scope+"/in", w.norm(scope+"/in", p, groups, nil).silu())
	return p.plus(w.filter(scope+"/out", w.norm(scope+"/out", h, groups, e).silu()))
}

// condition is the embedding of level and class.
func (w weights) condition(sigma float64, class int) []float64 {
	w.t.Helper()
	inner := weights{w.t, w.vars, w.scope + "/embedding"}
	e := inner.dense("/out", inner.embedding(SiLU, sigma))
	if class >= 0 {
		table, _ := inner.flat("", "classes")
		for i := range e {
			e[i] += table[class*len(e)+i]
		}
	}
	return activate(SiLU, e)
}

// imageScore is the score of a picture by a UNet of two resolutions with one block each, or a ResidualConv of two blocks.
func (w weights) imageScore(m scorekit.Model, x picture, sigma float64, class int) []float64 {
	w.t.Helper()
	e := w.condition(sigma, class)
	switch m := m.(type) {
	case UNet:
		groups := func(p picture) int { return groupsOf(m.Groups, p.channels) }
		return preconditioned(m.DataStd, x.v, sigma, func(u []float64) []float64 {
			h := w.filter("/in", picture{x.height, x.width, x.channels, u}.squares(m.Patch))
			h = w.imageBlock("/down_0/block_0", h, groups(h), e)
			low := w.pixels("/down_1", h.squares(2))
			low = w.imageBlock("/down_1/block_0", low, groups(low), e)
			if m.Attention {
				low = w.attend("/attention", low, groups(low))
			}
			low = w.imageBlock("/up_1/block_0", low, groups(low), e)
			h = h.plus(w.pixels("/up_0", low).spread(2, h.height, h.width))
			h = w.imageBlock("/up_0/block_0", h, groups(h), e)
			return w.filter("/out", w.norm("/out", h, groups(h), nil).silu()).spread(m.Patch, x.height, x.width).v
		})
	case ResidualConv:
		groups := groupsOf(m.Groups, m.Channels)
		return preconditioned(m.DataStd, x.v, sigma, func(u []float64) []float64 {
			h := w.filter("/in", picture{x.height, x.width, x.channels, u})
			for _, block := range []string{"/block_0", "/block_1"} {
				h = w.imageBlock(block, h, groups, e)
			}
			return w.filter("/out", w.norm("/out", h, groups, nil).silu()).v
		})
	}
	return nil
}
