package net

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/rows"
	"github.com/scorekit/lab/scorekit"
)

// Preconditioned makes a score for many noise levels of any network F: with v = σ² + DataStd²,
//
//	s(x, σ) = −x/v + DataStd/(σ√v) · F(x/√v, σ)
//
// This is D(x, σ) = c_skip x + c_out F(c_in x, c_noise) put into s = (D − x)/σ² (Karras et al. 2022, eq. 3, 7 and
// table 1), with
//
//	c_skip = DataStd²/v,  c_out = σ DataStd/√v,  c_in = 1/√v
//
// For data whose coordinates have the root mean square DataStd, the inputs of F have it 1 at every level, and so has
// what F is to predict. F = 0 is the score of N(0, DataStd²I) with the noise added. F is given the noise level itself,
// σ, and turns it into an input of its own as it likes: the paper's c_noise is ¼ ln σ, [NoiseMLP] takes waves in ln σ.
// A network that ignores the level, as [MLP] does, can still follow it in part, through u = x/√v.
//
// Net is called with u, [batch, dims...], and σ, [batch]. It need not be registered: see [scorekit.Described].
// [NoiseMLP], [NoiseResidualMLP], [NoiseEnergyMLP], [UNet] and [ResidualConv] do this themselves when their DataStd is set.
type Preconditioned struct {
	Net     scorekit.Model // F
	DataStd float64        // root mean square of the data's coordinates; positive
}

var _ scorekit.Model = Preconditioned{}

func init() { scorekit.RegisterModel("net.Preconditioned", Preconditioned{}) }

// Validate returns an error unless DataStd is positive and finite; for no Net, or one that would count the level twice;
// and Net's own error.
func (p Preconditioned) Validate() error {
	const who = "preconditioned score"
	if !(p.DataStd > 0) || math.IsInf(p.DataStd, 0) {
		return fmt.Errorf("%s: data standard deviation %v: must be positive and finite", who, p.DataStd)
	}
	switch p.Net.(type) {
	case nil:
		return fmt.Errorf("%s: net nil: must be a model", who)
	case *scorekit.Fitted:
		return fmt.Errorf("%s: net %T: its weights would not be found: give its Model()", who, p.Net)
	case NoiseMLP, NoiseResidualMLP, NoiseEnergyMLP, UNet, ResidualConv:
		return fmt.Errorf("%s: net %T: divides by the noise level itself: set its DataStd and use it as it is", who, p.Net)
	case Preconditioned:
		return fmt.Errorf("%s: net %T: is preconditioned already: use it as it is", who, p.Net)
	}
	if v, ok := p.Net.(scorekit.Validator); ok {
		return first(who+": net", v.Validate())
	}
	return nil
}

// Score adds s(x, σ), of the shape of x. It panics, as graph functions do, when sigma is nil or what Net returns has
// not the shape of x.
func (p Preconditioned) Score(vars *mlctx.Context, x, sigma *Node) *Node {
	needLevel("preconditioned score", sigma, "its net alone")
	return precondition(x, sigma, p.DataStd, func(u *Node) *Node {
		f := p.Net.Score(vars, u, sigma)
		if !f.Shape().Equal(u.Shape()) {
			panic(fmt.Errorf("preconditioned score: net %T returned the shape %s for points of shape %s: must be equal", p.Net, f.Shape(), u.Shape()))
		}
		return f
	})
}

// preconditionedJSON is the JSON form of Preconditioned.
type preconditionedJSON struct {
	Net     scorekit.Described `json:"net"`
	DataStd float64            `json:"data_std"`
}

// MarshalJSON returns the settings, with the description of Net.
func (p Preconditioned) MarshalJSON() ([]byte, error) {
	return json.Marshal(preconditionedJSON{scorekit.Described{Model: p.Net}, p.DataStd})
}

// UnmarshalJSON reads the settings and makes Net again. It returns an error for a Net that is not described and for
// unknown settings.
func (p *Preconditioned) UnmarshalJSON(text []byte) error {
	var form preconditionedJSON
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&form); err != nil {
		return err
	}
	*p = Preconditioned{form.Net.Model, form.DataStd}
	return nil
}

// precondition is s(x, σ) of [Preconditioned] with F(u) at the levels sigma, [batch]. With dataStd 0 it is F(x)/σ.
func precondition(x, sigma *Node, dataStd float64, f func(u *Node) *Node) *Node {
	if dataStd == 0 {
		return graph.Div(f(x), rows.Like(sigma, x))
	}
	v, root := spread(rows.Like(sigma, x), dataStd)
	scale := graph.MulScalar(graph.Reciprocal(graph.Mul(rows.Like(sigma, x), root)), dataStd)
	return graph.Sub(graph.Mul(scale, f(graph.Div(x, root))), graph.Div(x, v))
}

// preconditionEnergy is the energy E(x, σ), [batch], for which −∇ₓE is the score of precondition with F = ∇f:
//
//	E(x, σ) = ½‖x‖²/v − (dataStd/σ) f(x/√v)
//
// x is [batch, d] and f of it [batch]. With dataStd 0 it is −f(x)/σ.
func preconditionEnergy(x, sigma *Node, dataStd float64, f func(u *Node) *Node) *Node {
	if dataStd == 0 {
		return graph.Neg(graph.Div(f(x), sigma))
	}
	v, root := spread(sigma, dataStd)
	deep := graph.MulScalar(graph.Div(f(graph.Div(x, rows.Like(root, x))), sigma), dataStd)
	return graph.Sub(graph.MulScalar(graph.Div(graph.ReduceSum(graph.Square(x), 1), v), 0.5), deep)
}

// spread returns v = σ² + dataStd² and its root.
func spread(sigma *Node, dataStd float64) (v, root *Node) {
	v = graph.AddScalar(graph.Square(sigma), dataStd*dataStd)
	return v, graph.Sqrt(v)
}

func checkDataStd(std float64) error {
	if !(std >= 0) || math.IsInf(std, 0) {
		return fmt.Errorf("data standard deviation %v: must be finite and not negative", std)
	}
	return nil
}
