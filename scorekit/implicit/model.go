package implicit

import (
	"encoding/json"
	"fmt"

	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/given"
	"github.com/scorekit/lab/scorekit"
)

// Scopes of the weights under that of the model.
const (
	generatorScope = "generator"
	networkScope   = "score"
	criticScope    = "critic"
)

// Model is what [Fit] trains, and so the Model() of its result: a generator and, where its score is learnt, the network
// that learns it. As a [scorekit.Model] it is that score, s(x) ≈ ∇ₓ log q(x); [Draws] makes points of the generator.
//
// It is registered: with the generators of this package a checkpoint carries its description and [scorekit.Load] rebuilds
// it. For a generator of your own give it to [scorekit.LoadInto].
type Model struct {
	Generator Generator
	Network   scorekit.Model // nil where the score is not learnt
}

var _ scorekit.Model = Model{}

func init() { scorekit.RegisterModel("implicit.Model", Model{}) }

// Validate returns an error for a generator that is missing or has impossible settings, and for impossible settings of the
// network.
func (m Model) Validate() error {
	if err := checkGenerator(m.Generator); err != nil {
		return err
	}
	if m.Network == nil {
		return nil
	}
	if err := given.Check("network", m.Network); err != nil {
		return err
	}
	if v, ok := m.Network.(scorekit.Validator); ok {
		return v.Validate()
	}
	return nil
}

// Score adds the learnt score of the generator's law, of the shape of x. It panics with an error, as graph functions do,
// where no network learns it.
func (m Model) Score(vars *mlctx.Context, x, sigma *Node) *Node {
	if m.Network == nil {
		panic(fmt.Errorf("implicit model: it was trained without a network for the score of its law: use Draws, and a score of these"))
	}
	return m.Network.Score(vars.In(networkScope), x, sigma)
}

// generators are those that a checkpoint can describe.
var generators = map[string]func(text []byte) (Generator, error){
	"implicit.MLP":    decode[MLP],
	"implicit.Linear": decode[Linear],
}

func decode[G Generator](text []byte) (Generator, error) {
	var g G
	err := json.Unmarshal(text, &g)
	return g, err
}

// form is a Model as a checkpoint holds it.
type form struct {
	Kind      string              `json:"kind,omitempty"` // of the generator
	Generator json.RawMessage     `json:"generator,omitempty"`
	Network   *scorekit.Described `json:"score,omitempty"`
}

// MarshalJSON returns the description of the model: {} for the generator, if it is not one of this package.
func (m Model) MarshalJSON() ([]byte, error) {
	var f form
	switch m.Generator.(type) {
	case MLP:
		f.Kind = "implicit.MLP"
	case Linear:
		f.Kind = "implicit.Linear"
	}
	if f.Kind != "" {
		text, err := json.Marshal(m.Generator)
		if err != nil {
			return nil, err
		}
		f.Generator = text
	}
	if m.Network != nil {
		f.Network = &scorekit.Described{Model: m.Network}
	}
	return json.Marshal(f)
}

// UnmarshalJSON makes the model again from its description.
func (m *Model) UnmarshalJSON(text []byte) error {
	var f form
	if err := json.Unmarshal(text, &f); err != nil {
		return err
	}
	make, known := generators[f.Kind]
	if !known { // as for a model that was not registered
		return new(scorekit.Described).UnmarshalJSON([]byte("{}"))
	}
	var err error
	if m.Generator, err = make(f.Generator); err == nil && f.Network != nil {
		m.Network = f.Network.Model
	}
	return err
}
