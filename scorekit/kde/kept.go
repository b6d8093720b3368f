package kde

import (
	"slices"
	"sync"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
)

// kept are the compiled graphs of an estimate with its centres on the device, for the next call: compiling takes longer
// than ten thousand points. Each is out while a call uses it, so that no two calls share one.
type kept struct {
	mu  sync.Mutex
	all []*blocks // those used last come last
}

// mostKept is how many are kept: densities and scores, in two precisions or for two block sizes.
const mostKept = 4

// take returns blocks of that kind, nil if none are free.
func (k *kept) take(backend backends.Backend, dtype dtypes.DType, size int, pull bool) *blocks {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all = slices.DeleteFunc(k.all, func(b *blocks) bool { return b.backend.IsFinalized() })
	i := slices.IndexFunc(k.all, func(b *blocks) bool {
		return b.backend == backend && b.dtype == dtype && b.size == size && b.pull == pull
	})
	if i < 0 {
		return nil
	}
	b := k.all[i]
	k.all = slices.Delete(k.all, i, i+1)
	return b
}

// put keeps blocks that nobody uses any more, in place of those not used for longest.
func (k *kept) put(b *blocks) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all = append(k.all, b)
	if len(k.all) > mostKept {
		k.all[0].finalize()
		k.all = slices.Delete(k.all, 0, 1)
	}
}
