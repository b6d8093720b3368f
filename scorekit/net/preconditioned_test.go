package net

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/rows"
	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
)

// The coefficients of Karras et al. (2022), table 1, as the score has them: D(x) = x + σ²s(x) is c_skip x where F = 0, and
// c_out F where x = 0; F is given c_in x and the level, of which their c_noise is ¼ ln σ.
func TestEDMPreconditioning(t *testing.T) {
	var cases []struct {
		ID     string
		Inputs struct {
			Std   float64   `json:"sigma_data"`
			Sigma []float64 `json:"sigma"`
		}
		Expected struct {
			Skip  []float64 `json:"c_skip"`
			Out   []float64 `json:"c_out"`
			In    []float64 `json:"c_in"`
			Noise []float64 `json:"c_noise"`
		}
	}
	testvalues.Read(t, "edm_preconditioning.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.Run(t, b, func(g *graph.Graph) (out []*Node) {
			for _, c := range cases {
				sigma := graph.Const(g, c.Inputs.Sigma)
				x := graph.MulScalar(graph.OnesLike(graph.InsertAxes(sigma, -1)), 1.7)
				var u, level *Node
				denoised := func(x *Node, f float64) *Node {
					p := Preconditioned{DataStd: c.Inputs.Std, Net: scorekit.Score(func(_ *mlctx.Context, x, sigma *Node) *Node {
						u, level = x, sigma
						return graph.MulScalar(graph.OnesLike(x), f)
					})}
					return graph.Add(x, graph.Mul(graph.InsertAxes(graph.Square(sigma), -1), p.Score(nil, x, sigma)))
				}
				skip, scaled := graph.DivScalar(denoised(x, 0), 1.7), graph.DivScalar(u, 1.7)
				scale := graph.DivScalar(denoised(graph.ZerosLike(x), 2.5), 2.5)
				out = append(out, skip, scale, scaled, graph.DivScalar(graph.Log(level), 4))
			}
			return out
		})
		for i, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				for k, want := range [][]float64{c.Expected.Skip, c.Expected.Out, c.Expected.In, c.Expected.Noise} {
					for j := range want {
						what := fmt.Sprintf("%s at σ = %v", []string{"c_skip", "c_out", "c_in", "c_noise"}[k], c.Inputs.Sigma[j])
						testvalues.NearNumber(t, what, got[4*i+k][j], want[j], 1e-9)
					}
				}
			})
		}
	})
}

// What the networks do themselves with their DataStd is what Preconditioned does with the rest of them, whatever the
// shape of the points.
func TestOneFormula(t *testing.T) {
	raw := func(m scorekit.Model) scorekit.Score { // F, as F/σ is without a DataStd
		return func(vars *mlctx.Context, x, sigma *Node) *Node {
			return graph.Mul(m.Score(vars, x, sigma), rows.Like(sigma, x))
		}
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		_, got := fresh(t, b, 4, func(vars *mlctx.Context, g *graph.Graph) (out []*Node) {
			x := graph.Sin(graph.IotaFull(g, testvalues.Shape(3, 2, 2)))
			sigma := graph.Const(g, []float64{0.1, 1, 20})
			for name, pair := range map[string][2]scorekit.Model{
				"mlp":      {NoiseMLP{Hidden: []int{4}}, NoiseMLP{Hidden: []int{4}, DataStd: 0.6}},
				"residual": {NoiseResidualMLP{Width: 4, Blocks: 1}, NoiseResidualMLP{Width: 4, Blocks: 1, DataStd: 0.6}},
				"energy":   {NoiseEnergyMLP{Hidden: []int{4}}, NoiseEnergyMLP{Hidden: []int{4}, DataStd: 0.6}},
			} {
				own := vars.In(name)
				out = append(out, Preconditioned{Net: raw(pair[0]), DataStd: 0.6}.Score(own, x, sigma), pair[1].Score(own, x, sigma))
			}
			return out
		})
		for i := 0; i < len(got); i += 2 {
			testvalues.Near(t, "score", got[i+1], got[i], 1e-14)
		}
	})
}

// Inside the range of noise levels that is used, and far beyond, a new network with a DataStd gives noised data a score of the size that
// it should have, 1/√(σ² + DataStd²) to 1/σ for each coordinate, in float32 too: its root mean square is at least a
// tenth of the one and at most 3 times the other.
func TestNewNetworksAtAllLevels(t *testing.T) {
	const rows, dim, std = 50, 3, 2.0
	levels := []float64{1e-3, 1e-2, 0.1, 1, 10, 100, 1e3}
	hidden := []int{64, 64, 64}
	tried := map[string]scorekit.Model{
		"mlp":            NoiseMLP{Hidden: hidden, DataStd: std},
		"energy":         NoiseEnergyMLP{Hidden: hidden, DataStd: std},
		"residual":       NoiseResidualMLP{Width: 64, DataStd: std},
		"deep":           NoiseResidualMLP{Width: 32, Blocks: 12, DataStd: std},
		"preconditioned": Preconditioned{Net: MLP{Hidden: hidden}, DataStd: std},
		"waves":          NoiseMLP{Hidden: hidden, DataStd: std, Features: Fourier{Count: 64, Scale: 0.5}},
	}
	order := names(tried)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		dtypesTried := []dtypes.DType{dtypes.Float32}
		if b == testbackend.Go(t) { // which compiles nothing
			dtypesTried = append(dtypesTried, dtypes.Float64)
		}
		for _, dtype := range dtypesTried {
			_, got := fresh(t, b, 6, func(vars *mlctx.Context, g *graph.Graph) (out []*Node) {
				sigma := graph.Reshape(graph.BroadcastToDims(graph.InsertAxes(graph.Const(g, levels), -1), len(levels), rows), -1)
				z := vars.RandomNormal(g, testvalues.Shape(len(levels)*rows, dim))
				x := graph.Mul(z, graph.InsertAxes(graph.Sqrt(graph.AddScalar(graph.Square(sigma), std*std)), -1))
				for _, name := range order {
					s := tried[name].Score(vars.In(name), graph.ConvertDType(x, dtype), graph.ConvertDType(sigma, dtype))
					if s.DType() != dtype {
						t.Errorf("%s: score of dtype %s for points of %s", name, s.DType(), dtype)
					}
					s = graph.ConvertDType(s, dtypes.Float64)
					out = append(out, graph.Sqrt(graph.ReduceMean(graph.Square(graph.Reshape(s, len(levels), -1)), 1)))
				}
				return out
			})
			for i, name := range order {
				for k, size := range got[i] {
					low, high := 0.1/math.Hypot(levels[k], std), 3/levels[k]
					if !(size >= low && size <= high) {
						t.Errorf("%s, %s: at σ = %v the score is of size %v, want %v to %v", name, dtype, levels[k], size, low, high)
					}
				}
			}
		}
	})
}

// A network that is not registered is trained, saved, and loaded into.
func TestPreconditionedFunction(t *testing.T) {
	b := testbackend.Go(t)
	model := Preconditioned{DataStd: 1, Net: scorekit.Score(func(vars *mlctx.Context, x, sigma *Node) *Node {
		return dense(vars, graph.Concatenate([]*Node{x, graph.Log(rows.Like(sigma, x))}, 1), 3)
	})}
	f := trained(t, model)
	path := filepath.Join(t.TempDir(), "model.safetensors")
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	_, err := scorekit.Load(path)
	if want := "scorekit: Load: " + path + ": model net.Preconditioned: the checkpoint does not describe its model: give it to LoadInto"; fmt.Sprint(err) != want {
		t.Errorf("error %v, want %s", err, want)
	}
	loaded, err := scorekit.LoadInto(path, model)
	if err != nil {
		t.Fatal(err)
	}
	if now, want := scoresOf(t, b, loaded, 0.5), scoresOf(t, b, f, 0.5); !slices.Equal(now, want) {
		t.Errorf("scores %v before, %v after", want, now)
	}
	_, err = scorekit.Evaluate(context.Background(), b, scorekit.Model(Preconditioned{DataStd: 1, Net: scorekit.Score(func(_ *mlctx.Context, x, _ *Node) *Node {
		return graph.ReduceSum(x, 1)
	})}), [][]float64{{1, 2, 3}}, 1)
	if want := "scorekit: Evaluate: preconditioned score: net scorekit.Score returned the shape (Float64)[1] for points of shape (Float64)[1 3]: must be equal"; fmt.Sprint(err) != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
