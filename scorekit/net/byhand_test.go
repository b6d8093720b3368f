package net

import (
	"math"
	"slices"
	"testing"

	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
)

// weights reads the weights of one model as plain numbers, and is what that model computes, written out in loops.
type weights struct {
	t     *testing.T
	vars  *mlctx.Context
	scope string
}

func (w weights) flat(scope, name string) ([]float64, []int) {
	w.t.Helper()
	v := w.vars.GetVariableByScopeAndName(w.scope+scope, name)
	if v == nil {
		w.t.Fatalf("no weights %s%s/%s", w.scope, scope, name)
	}
	value, err := v.Value()
	if err != nil {
		w.t.Fatal(err)
	}
	return testvalues.Flat(w.t, value), value.Shape().Dimensions
}

// linear is x·W with W of a scope.
func (w weights) linear(scope string, x []float64) []float64 {
	w.t.Helper()
	m, dims := w.flat(scope, "weights")
	if dims[0] != len(x) {
		w.t.Fatalf("weights of %s have shape %v for %d inputs", scope, dims, len(x))
	}
	out := make([]float64, dims[1])
	for j := range out {
		for i, v := range x {
			out[j] += v * m[i*dims[1]+j]
		}
	}
	return out
}

// dense is x·W + b.
func (w weights) dense(scope string, x []float64) []float64 {
	w.t.Helper()
	out := w.linear(scope, x)
	biases, _ := w.flat(scope, "biases")
	for j := range out {
		out[j] += biases[j]
		if biases[j] == 0 {
			w.t.Fatalf("bias %d of %s is 0: it would not show", j, scope)
		}
	}
	return out
}

// layer is x·W + b, and + e·A where a level is given.
func (w weights) layer(scope string, x, e []float64) []float64 {
	w.t.Helper()
	out := w.dense(scope, x)
	if e != nil {
		for j, v := range w.linear(scope+"/level", e) {
			out[j] += v
		}
	}
	return out
}

func activate(a Activation, x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = formula(a, v)
	}
	return out
}

// waves is γ(x), with the B of the features.
func waves(f Fourier, x []float64) []float64 {
	if f.Count == 0 {
		return x
	}
	out := make([]float64, 2*f.Count)
	for k, row := range f.matrix(len(x)) {
		angle := 0.0
		for i, v := range x {
			angle += 2 * math.Pi * row[i] * v
		}
		out[k], out[f.Count+k] = math.Sin(angle), math.Cos(angle)
	}
	return out
}

// embedding is that of a noise level.
func (w weights) embedding(a Activation, sigma float64) []float64 {
	w.t.Helper()
	var phi []float64
	for _, wave := range []func(float64) float64{math.Sin, math.Cos} {
		for k := range 16 {
			phi = append(phi, wave(0.25*math.Pow(32, float64(k)/15)*math.Log(sigma)))
		}
	}
	return activate(a, w.dense("/embedding", phi))
}

// layers is two hidden layers.
func (w weights) layers(a Activation, x, e []float64) []float64 {
	w.t.Helper()
	h := activate(a, w.layer("/layer_0", x, e))
	return activate(a, w.layer("/layer_1", h, e))
}

// convolve is W ∗ h + b of an image [height, width, in] with zeros around it.
func (w weights) convolve(scope string, h []float64, height, width int) (out []float64) {
	w.t.Helper()
	kernel, dims := w.flat(scope, "weights")
	biases, _ := w.flat(scope, "biases")
	k, in := dims[0], dims[2]
	for row := range height {
		for column := range width {
			for to, sum := range biases {
				if sum == 0 {
					w.t.Fatalf("bias %d of %s is 0: it would not show", to, scope)
				}
				for i := range k {
					for j := range k {
						r, c := row+i-k/2, column+j-k/2
						if r < 0 || r >= height || c < 0 || c >= width {
							continue
						}
						for from := range in {
							sum += kernel[((i*k+j)*in+from)*len(biases)+to] * h[(r*width+c)*in+from]
						}
					}
				}
				out = append(out, sum)
			}
		}
	}
	return out
}

// blocks is the network of two residual blocks.
func (w weights) blocks(a Activation, x, e []float64) []float64 {
	w.t.Helper()
	h := w.dense("/in", x)
	for _, block := range []string{"/block_0", "/block_1"} {
		for j, v := range w.dense(block+"/out", activate(a, w.layer(block+"/in", h, e))) {
			h[j] += v
		}
	}
	return w.dense("/out", h)
}

// preconditioned is −x/v + DataStd/(σ√v)·F(x/√v), or F(x)/σ.
func preconditioned(dataStd float64, x []float64, sigma float64, f func(u []float64) []float64) []float64 {
	v := sigma*sigma + dataStd*dataStd
	u, out := make([]float64, len(x)), make([]float64, len(x))
	for i := range x {
		u[i] = x[i] / math.Sqrt(v)
	}
	if dataStd == 0 {
		copy(u, x)
	}
	for i, y := range f(u) {
		out[i] = y / sigma
		if dataStd > 0 {
			out[i] = y*dataStd/(sigma*math.Sqrt(v)) - x[i]/v
		}
	}
	return out
}

// score is that of a model, or nil for one that is known by its energy.
func (w weights) score(m scorekit.Model, x []float64, sigma float64) []float64 {
	w.t.Helper()
	switch m := m.(type) {
	case Linear:
		a, _ := w.flat("", "A")
		out, _ := w.flat("", "b")
		for i := range out {
			for j, v := range x {
				out[i] += a[i*len(x)+j] * v
			}
		}
		return out
	case MLP:
		return w.dense("/out", w.layers(m.Activation, waves(m.Features, x), nil))
	case ResidualMLP:
		return w.blocks(m.Activation, waves(m.Features, x), nil)
	case NoiseMLP:
		return preconditioned(m.DataStd, x, sigma, func(u []float64) []float64 {
			return w.dense("/out", w.layers(m.Activation, waves(m.Features, u), w.embedding(m.Activation, sigma)))
		})
	case NoiseResidualMLP:
		return preconditioned(m.DataStd, x, sigma, func(u []float64) []float64 {
			return w.blocks(m.Activation, waves(m.Features, u), w.embedding(m.Activation, sigma))
		})
	case Preconditioned:
		if _, ok := m.Net.(energies); !ok {
			return preconditioned(m.DataStd, x, sigma, func(u []float64) []float64 { return w.score(m.Net, u, sigma) })
		}
	}
	return nil
}

// energy is that of a model, and whether it has one.
func (w weights) energy(m scorekit.Model, x []float64, sigma float64) (e float64, ok bool) {
	w.t.Helper()
	half := 0.0
	for _, v := range x {
		half += v * v / 2
	}
	switch m := m.(type) {
	case Quadratic:
		p, _ := w.flat("", "W")
		b, _ := w.flat("", "b")
		for i := range x {
			for j := range x {
				e += x[i] * p[i*len(x)+j] * x[j] / 2
			}
			e -= b[i] * x[i]
		}
		return e, true
	case MixtureEnergy:
		means, dims := w.flat("", "means")
		logStds, _ := w.flat("", "log_stds")
		logits, _ := w.flat("", "logits")
		p, total := 0.0, 0.0
		for k, a := range logits {
			total += math.Exp(a)
			q := math.Exp(a)
			for i, v := range x {
				std := m.spread() * math.Exp(logStds[k*dims[1]+i])
				z := (v - means[k*dims[1]+i]) / std
				q *= math.Exp(-z*z/2) / (std * math.Sqrt(2*math.Pi))
			}
			p += q
		}
		return -math.Log(p / total), true
	case ConvEnergy:
		dims := shapeOf(m)
		h := x
		for _, layer := range []string{"/layer_0", "/layer_1"} {
			h = activate(m.Activation, w.convolve(layer, h, dims[0], dims[1]))
		}
		sum := make([]float64, m.Channels[1])
		for i, v := range h {
			sum[i%len(sum)] += v
		}
		return w.linear("/out", sum)[0], true
	case EnergyMLP:
		return w.linear("/out", w.layers(m.Activation, waves(m.Features, x), nil))[0], true
	case NoiseEnergyMLP:
		v := sigma*sigma + m.DataStd*m.DataStd
		u := slices.Clone(x)
		for i := range u {
			if m.DataStd > 0 {
				u[i] /= math.Sqrt(v)
			}
		}
		f := w.linear("/out", w.layers(m.Activation, waves(m.Features, u), w.embedding(m.Activation, sigma)))[0]
		if m.DataStd == 0 {
			return -f / sigma, true
		}
		return half/v - m.DataStd/sigma*f, true
	case Preconditioned: // −∇ₓ of ½‖x‖²/v + (DataStd/σ) E(x/√v) is −x/v − DataStd/(σ√v) ∇E
		if inner, ok := m.Net.(energies); ok {
			v := sigma*sigma + m.DataStd*m.DataStd
			u := slices.Clone(x)
			for i := range u {
				u[i] /= math.Sqrt(v)
			}
			f, _ := w.energy(inner, u, sigma)
			return half/v + m.DataStd/sigma*f, true
		}
	}
	return 0, false
}

// slope is the central difference of f along coordinate i, with the step h.
func slope(f func(x []float64) float64, x []float64, i int, h float64) float64 {
	up, down := slices.Clone(x), slices.Clone(x)
	up[i] += h
	down[i] -= h
	return (f(up) - f(down)) / (2 * h)
}

// curvature is the second difference of f along coordinate i, with the step h.
func curvature(f func(x []float64) float64, x []float64, i int, h float64) float64 {
	up, down := slices.Clone(x), slices.Clone(x)
	up[i] += h
	down[i] -= h
	return (f(up) - 2*f(x) + f(down)) / (h * h)
}
