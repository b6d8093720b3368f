package scorekit

import (
	"github.com/gomlx/gomlx/backends"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/fingerprint"
	"github.com/scorekit/lab/internal/kept"
)

// Compiling takes as long as thousands of steps of a small network, or as the scores of a million points. So what Sample and
// Evaluate compile is kept, with the weights on the device, for the next call like theirs.
var (
	keptRuns        = kept.Last[recipe, *compiled]{Most: 4}
	keptEvaluations = kept.Last[recipe, evaluation]{Most: 4}
)

// recipe says what graphs are made from.
type recipe struct {
	backend backends.Backend
	fitted  *Fitted // whose weights they hold, nil for none
	text    string  // all else
}

func (r recipe) Gone() bool { return r.backend.IsFinalized() }

// recipeOf returns the recipe of graphs for model and other settings, and false for one that is made of more than what can be
// written down: functions, types of other modules, weights from elsewhere. A model that was trained may be any: what it computes
// was settled with its weights, and these tell it apart.
func recipeOf(backend backends.Backend, model Model, settings ...any) (r recipe, ok bool) {
	const ours = "github.com/scorekit/lab/scorekit/"
	r.backend = backend
	var network any = model
	if f, is := model.(*Fitted); is {
		r.fitted, network = f, f.model
	}
	text, ok := fingerprint.Of(ours, network)
	if !ok && r.fitted == nil {
		return r, false
	}
	r.text, ok = fingerprint.Of(ours, settings...)
	r.text += text
	return r, ok
}

// compiled is what a run of Sample compiles: its start and its steps.
type compiled struct {
	recipe    recipe
	keep      bool // only what has worked is worth keeping
	context   *mlctx.Context
	init      *mlctx.Exec
	exec      *mlctx.Exec
	infoNames []string
}

// Finalize gives back the graphs.
func (c *compiled) Finalize() {
	for _, exec := range []*mlctx.Exec{c.init, c.exec} {
		if exec != nil {
			exec.Finalize()
		}
	}
}

// evaluation is what Evaluate compiles: the scores of a block of points.
type evaluation struct{ *mlctx.Exec }

// Finalize gives back the graph.
func (e evaluation) Finalize() { e.Exec.Finalize() }
