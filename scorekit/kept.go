package scorekit

import (
	"slices"
	"sync"

	"github.com/gomlx/gomlx/backends"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/fingerprint"
)

// compiled is what a run of Sample compiles: its start and its steps, with the weights on the device. Compiling takes as long
// as thousands of steps of a small network, so that the last few are kept for the next run like theirs. Each is out while a
// run uses it: no two runs share one.
type compiled struct {
	backend   backends.Backend
	fitted    *Fitted // whose weights they are, nil for none
	key       string  // what else the graphs are made from; "" for one that is not kept
	context   *mlctx.Context
	init      *mlctx.Exec
	exec      *mlctx.Exec
	infoNames []string
}

func (c *compiled) finalize() {
	for _, exec := range []*mlctx.Exec{c.init, c.exec} {
		if exec != nil {
			exec.Finalize()
		}
	}
}

// keptRuns are those kept, those used last at the end.
var keptRuns struct {
	sync.Mutex
	all []*compiled
}

// mostKept is how many are kept. Each holds a copy of the weights and some megabytes of code.
const mostKept = 4

// recipe returns the key of a run, and false for one that is made of more than what can be written down: functions, types of
// other modules, weights from elsewhere. A model that was trained may be any: what it computes was settled with its weights, and
// these tell it apart.
func (c *chains) recipe(shape []int) (fitted *Fitted, key string, ok bool) {
	const ours = "github.com/scorekit/lab/scorekit/"
	if c.vars != nil {
		return nil, "", false
	}
	var model any = c.model
	if f, is := model.(*Fitted); is {
		fitted, model = f, f.model
	}
	network, ok := fingerprint.Of(ours, model)
	if !ok && fitted == nil {
		return nil, "", false
	}
	key, ok = fingerprint.Of(ours, c.sampler, c.n, shape, c.dtype.String(), c.limit, c.burnIn, c.start != nil, c.spread)
	return fitted, key + network, ok
}

// takeKept returns the graphs of an earlier run like this, nil if there are none.
func takeKept(backend backends.Backend, fitted *Fitted, key string) *compiled {
	keptRuns.Lock()
	defer keptRuns.Unlock()
	keptRuns.all = slices.DeleteFunc(keptRuns.all, func(k *compiled) bool { return k.backend.IsFinalized() })
	i := slices.IndexFunc(keptRuns.all, func(k *compiled) bool {
		return k.backend == backend && k.fitted == fitted && k.key == key
	})
	if i < 0 {
		return nil
	}
	k := keptRuns.all[i]
	keptRuns.all = slices.Delete(keptRuns.all, i, i+1)
	return k
}

// keep puts graphs away for the next run, in place of those not used for longest.
func (c *compiled) keep() {
	if c.key == "" {
		c.finalize()
		return
	}
	keptRuns.Lock()
	defer keptRuns.Unlock()
	keptRuns.all = append(keptRuns.all, c)
	if len(keptRuns.all) > mostKept {
		keptRuns.all[0].finalize()
		keptRuns.all = slices.Delete(keptRuns.all, 0, 1)
	}
}

// finalize gives back the compiled graphs, for good or for the next run.
func (c *chains) finalize() {
	if c.foresee != nil {
		c.foresee.Finalize()
	}
	c.graphs.keep()
}
