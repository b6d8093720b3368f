package scorekit_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/net"
)

// times is a model with another one among its settings.
type times struct {
	Factor float64            `json:"factor"`
	Inner  scorekit.Described `json:"inner"`
}

func (m times) Score(vars *mlctx.Context, x, sigma *Node) *Node {
	return graph.MulScalar(m.Inner.Score(vars, x, sigma), m.Factor)
}

func init() { scorekit.RegisterModel("scorekit_test.times", times{}) }

func holding(factor float64, inner scorekit.Model) times {
	return times{factor, scorekit.Described{Model: inner}}
}

// A model inside a model comes back with its type and its settings, to any depth, from Save and from checkpoints.
func TestModelInsideAModel(t *testing.T) {
	be := testbackend.Go(t)
	model := holding(2, holding(0.5, net.MLP{Hidden: []int{3}, Activation: net.Tanh}))
	text, err := json.Marshal(model)
	if err != nil {
		t.Fatal(err)
	}
	const form = `{"factor":2,"inner":{"kind":"scorekit_test.times","config":{"factor":0.5,"inner":{"kind":"net.MLP","config":{"hidden":[3],"activation":"tanh"}}}}}`
	if string(text) != form {
		t.Errorf("JSON form %s, want %s", text, form)
	}
	dir := t.TempDir()
	fit := func(m scorekit.Model, steps int) (*scorekit.Fitted, error) {
		return scorekit.Fit(background, be, m, regression{2}, examples(t, [][]float64{{1, 2}}), scorekit.WithSteps(steps),
			scorekit.WithCheckpoints(dir, 2), scorekit.WithResume())
	}
	if _, err := fit(model, 2); err != nil {
		t.Fatal(err)
	}
	f, err := fit(model, 4)
	if err != nil || len(f.History()) != 2 {
		t.Fatalf("the run did not go on: %v", err)
	}
	_, err = fit(holding(2, holding(0.5, net.MLP{Hidden: []int{3}})), 6)
	wantError(t, err, "model: the checkpoint has scorekit_test.times ", `"activation":"tanh"`, "this run scorekit_test.times ")
	path := filepath.Join(t.TempDir(), "model")
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{path, dir} {
		g, err := scorekit.Load(from)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(g.Model(), model) {
			t.Errorf("loaded %#v, want %#v", g.Model(), model)
		}
		if a, b := fmt.Sprint(scoresAt(t, be, f)), fmt.Sprint(scoresAt(t, be, g)); a != b {
			t.Errorf("saved %s, loaded %s", a, b)
		}
	}
}

// With a function inside, a model is trained, saved, resumed and loaded into; what can be compared still is.
func TestUnregisteredModelInsideAModel(t *testing.T) {
	be := testbackend.Go(t)
	dir := t.TempDir()
	fit := func(factor float64, steps int) (*scorekit.Fitted, error) {
		return scorekit.Fit(background, be, holding(factor, scorekit.Score(linear)), regression{2}, examples(t, [][]float64{{1, 2}}),
			scorekit.WithSteps(steps), scorekit.WithCheckpoints(dir, 2), scorekit.WithResume())
	}
	if _, err := fit(2, 2); err != nil {
		t.Fatal(err)
	}
	f, err := fit(2, 4)
	if err != nil || len(f.History()) != 2 {
		t.Fatalf("the run did not go on: %v", err)
	}
	_, err = fit(3, 6)
	wantError(t, err, `model: the checkpoint has scorekit_test.times {"factor":2,"inner":{}}, this run scorekit_test.times {"factor":3,"inner":{}}`)
	_, err = scorekit.Load(dir)
	wantError(t, err, "scorekit: Load: ", "model scorekit_test.times: the checkpoint does not describe its model: give it to LoadInto")
	g, err := scorekit.LoadInto(dir, holding(2, scorekit.Score(linear)))
	if err != nil {
		t.Fatal(err)
	}
	if a, b := fmt.Sprint(scoresAt(t, be, f)), fmt.Sprint(scoresAt(t, be, g)); a != b {
		t.Errorf("saved %s, loaded %s", a, b)
	}
}

// A description that would build another model than it was made of is refused inside a model as it is outside.
func TestDescribedErrors(t *testing.T) {
	_, err := scorekit.Fit(background, testbackend.Go(t), holding(1, secretive{secret: 7}), regression{2}, examples(t, [][]float64{{1}}))
	wantError(t, err, "scorekit: Fit: ", "model scorekit_test.secretive: its JSON form", "loses settings")
	for text, want := range map[string]string{
		`{}`:              "does not describe its model",
		`{"kind":"none"}`: `model kind "none" is not known to this program`,
		`{"kind":1}`:      "cannot unmarshal number",
		`{"kind":"net.MLP","config":{"hidden":[3],"depth":2}}`: `model net.MLP: json: unknown field "depth"`,
		`{"kind":"net.MLP","config":{"hidden":[0]}}`:           "MLP: hidden widths [0]: each must be at least 1",
	} {
		var d scorekit.Described
		wantError(t, json.Unmarshal([]byte(text), &d), want)
	}
}
