package net

import (
	"math"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/objective"
	"github.com/scorekit/lab/scorekit/random"
)

// imageModels are small networks of images, with settings that show when they are not used, and sizes of which some halve evenly
// and some do not.
var imageModels = map[string]struct {
	model scorekit.Conditional
	size  []int
}{
	"unet":       {UNet{Channels: []int{4, 6}, Patch: 1, Groups: 2, Attention: true, Embedding: 5, Classes: 3, DataStd: 0.7}, []int{5, 6, 1}},
	"unet patch": {UNet{Channels: []int{3, 4}, Patch: 2, Embedding: 4, Classes: 2}, []int{7, 4, 2}},
	"residual":   {ResidualConv{Channels: 4, Blocks: 2, Groups: 2, Embedding: 5, Classes: 3, DataStd: 0.7}, []int{4, 3, 2}},
}

// moved returns weights of all imageModels, each in the scope of its name, with every weight moved away from its
// start by a draw from N(0, 0.3²), so that nothing is 0 or 1 any more.
func moved(t *testing.T) *mlctx.Context {
	t.Helper()
	vars, b := mlctx.New().Checked(false), testbackend.Go(t)
	if err := vars.SetRNGStateFromSeed(4); err != nil {
		t.Fatal(err)
	}
	fill := func(move bool) {
		exec, err := mlctx.NewExec(b, vars, func(vars *mlctx.Context, state *Node) (out []*Node) {
			rng := random.New(state, dtypes.Float64, 1)
			for _, name := range names(imageModels) {
				m := imageModels[name]
				x := graph.Zeros(state.Graph(), testvalues.Shape(slices.Concat([]int{2}, m.size)...))
				sigma := graph.Const(state.Graph(), []float64{1, 1})
				own := vars.In(name)
				out = append(out, m.model.ScoreGiven(own, x, sigma, graph.Const(state.Graph(), []int32{0, 0})))
				if move {
					for v := range own.IterVariablesInScope() {
						w := v.ValueGraph(state.Graph())
						v.SetValueGraph(graph.Add(w, graph.MulScalar(rng.Normal(w.Shape().Dimensions...), 0.3)))
					}
				}
			}
			return out
		})
		if err != nil {
			t.Fatal(err)
		}
		defer exec.Finalize()
		seed, err := random.Seed(8)
		if err != nil {
			t.Fatal(err)
		}
		results, err := exec.Exec(seed)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range testvalues.FlatAll(t, results) {
			if !move && slices.ContainsFunc(r, func(v float64) bool { return v != 0 }) {
				t.Errorf("%s: scores %v at x = 0 before any training: must be 0", names(imageModels)[i], r)
			}
		}
	}
	fill(false)
	fill(true)
	return vars
}

// imagesTried lists the networks to try on a backend: all on pure Go, and on XLA, whose compiling takes long, the one that has all parts.
func imagesTried(t *testing.T, b backends.Backend) []string {
	t.Helper()
	if b == testbackend.Go(t) {
		return names(imageModels)
	}
	return []string{"unet"}
}

// points makes images of a size.
func points(n int, size ...int) []float64 {
	x := make([]float64, n*size[0]*size[1]*size[2])
	for i := range x {
		x[i] = 1.5 * math.Sin(0.7+1.9*float64(i)+0.01*float64(i*i))
	}
	return x
}

// imageCopy copies weights, so that a graph that moves them leaves the others their own.
func imageCopy(t *testing.T, vars *mlctx.Context) *mlctx.Context {
	t.Helper()
	clone := mlctx.New().Checked(false)
	for v := range vars.IterVariables() {
		value, err := v.Value()
		if err != nil {
			t.Fatal(err)
		}
		own, err := value.LocalClone()
		if err != nil {
			t.Fatal(err)
		}
		clone.InAbsPath(v.Scope()).VariableWithValue(v.Name(), own).SetTrainable(v.Trainable)
	}
	return clone
}

// The scores are those of loops over plain numbers, for every class and for none, to 1e-11 of the largest; NoClass, and a
// number that is no class, give what Score gives, to the last bit; and the rows of a batch have nothing to do with one another.
func TestImageForward(t *testing.T) {
	start := moved(t)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		vars := imageCopy(t, start)
		sigmas, classes := []float64{0.05, 1, 3.5, 0.6}, []int32{0, 1, scorekit.NoClass, 9}
		got := run(t, b, vars, func(vars *mlctx.Context, g *graph.Graph) (out []*Node) {
			sigma := graph.Const(g, sigmas)
			for _, name := range imagesTried(t, b) {
				m := imageModels[name]
				x := graph.ConstTensor(g, tensors.FromFlatDataAndDimensions(points(4, m.size...), slices.Concat([]int{4}, m.size)...))
				given := m.model.ScoreGiven(vars.In(name), x, sigma, graph.Const(g, classes))
				coupling := graph.Gradient(graph.ReduceAllSum(graph.Slice(given, graph.AxisElem(1))), x)[0]
				out = append(out, given, m.model.Score(vars.In(name), x, sigma), coupling)
			}
			return out
		})
		for k, name := range imagesTried(t, b) {
			m := imageModels[name]
			n := m.size[0] * m.size[1] * m.size[2]
			x, w := points(4, m.size...), weights{t, vars, "/" + name}
			for i, class := range []int{0, 1, -1, -1} {
				p := picture{m.size[0], m.size[1], m.size[2], x[i*n : (i+1)*n]}
				given, plain := got[3*k][i*n:(i+1)*n], got[3*k+1][i*n:(i+1)*n]
				testvalues.Near(t, name+": score given the class", given, w.imageScore(m.model, p, sigmas[i], class), 1e-11)
				testvalues.Near(t, name+": score", plain, w.imageScore(m.model, p, sigmas[i], -1), 1e-11)
				if same := slices.Equal(given, plain); same != (class < 0) {
					t.Errorf("%s: example %d: the score is that of all classes together: %v", name, i, same)
				}
				own := slices.ContainsFunc(got[3*k+2][i*n:(i+1)*n], func(v float64) bool { return v != 0 })
				if own != (i == 1) {
					t.Errorf("%s: example %d acts on the score of example 1: %v", name, i, own)
				}
			}
		}
	})
}

// The gradients of a denoising loss and of a sliced one, which differentiates the score, agree with central differences of the loss, along
// random directions in the space of all weights and in that of the points. The step is 10⁻⁵ of weights of size 1, the difference known
// to about 10⁻¹⁰ of a third derivative and 10⁻¹⁶/10⁻⁵ of rounding: 1e-6 of the larger of 1 and the slope is allowed.
func TestImageGradients(t *testing.T) {
	const h = 1e-5
	start := moved(t)
	objectives := []scorekit.Objective{objective.MultiNoise{Min: 0.3, Max: 3}, objective.Sliced{Projections: 1}}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		objectives := objectives
		if b != testbackend.Go(t) {
			objectives = objectives[:1] // compiling the other takes XLA minutes
		}
		vars := imageCopy(t, start)
		seed, err := random.Seed(9)
		if err != nil {
			t.Fatal(err)
		}
		// Each call moves the weights by how[0]·v and the points by how[1]·u and returns, for each network and objective,
		// the loss there and its slopes along v and u.
		exec, err := mlctx.NewExec(b, vars, func(vars *mlctx.Context, state, how *Node) (out []*Node) {
			rng := random.New(state, dtypes.Float64, 1)
			step := func(i int) *Node { return graph.Reshape(graph.Slice(how, graph.AxisElem(i))) }
			sigma := graph.Exp(rng.Normal(2))
			classes := graph.Const(how.Graph(), []int32{1, scorekit.NoClass})
			for _, name := range imagesTried(t, b) {
				m := imageModels[name]
				own, dims := vars.In(name), slices.Concat([]int{2}, m.size)
				u := rng.Normal(dims...)
				x := graph.Identity(graph.Add(rng.Normal(dims...), graph.Mul(step(1), u)))
				var at, along []*Node
				for v := range own.IterVariablesInScope() {
					old := v.ValueGraph(how.Graph())
					direction := rng.Normal(old.Shape().Dimensions...)
					shifted := graph.Add(old, graph.Mul(step(0), direction))
					v.SetValueGraph(shifted)
					at, along = append(at, shifted), append(along, direction)
				}
				for _, o := range objectives {
					score := func(vars *mlctx.Context, x, level *Node) *Node {
						if level == nil {
							level = sigma
						}
						return m.model.ScoreGiven(vars, x, level, classes)
					}
					loss := graph.ReduceAllMean(o.Loss(own, rng, score, x))
					slopes := graph.Gradient(loss, append([]*Node{x}, at...)...)
					slope := graph.ZerosLike(loss)
					for i, g := range slopes[1:] {
						slope = graph.Add(slope, graph.ReduceAllSum(graph.Mul(g, along[i])))
					}
					out = append(out, loss, slope, graph.ReduceAllSum(graph.Mul(slopes[0], u)))
				}
			}
			return out
		})
		if err != nil {
			t.Fatal(err)
		}
		defer exec.Finalize()
		var calls [5][][]float64 // weights and points are moved on from where the call before left the weights
		for i, how := range [][]float64{{0, 0}, {0, h}, {0, -h}, {h, 0}, {-2 * h, 0}} {
			results, err := exec.Exec(seed, how)
			if err != nil {
				t.Fatal(err)
			}
			calls[i] = testvalues.FlatAll(t, results)
		}
		for k, name := range imagesTried(t, b) {
			for j, o := range objectives {
				at := 3 * (k*len(objectives) + j)
				slopes := []float64{calls[0][at+1][0], calls[0][at+2][0]}
				want := []float64{(calls[3][at][0] - calls[4][at][0]) / (2 * h), (calls[1][at][0] - calls[2][at][0]) / (2 * h)}
				for i, along := range []string{"weights", "points"} {
					testvalues.NearOne(t, name+": slope along the "+along, slopes[i:i+1], want[i:i+1], 1e-6)
					if slopes[i] == 0 {
						t.Errorf("%s, %T: no slope along the %s", name, o, along)
					}
				}
			}
		}
	})
}
