package kde

import (
	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"

	keptpkg "github.com/scorekit/lab/internal/kept"
)

// kept are the compiled graphs of an estimate with its centres on the device, for the next call: compiling takes longer
// than ten thousand points.
type kept = keptpkg.Last[kind, *blocks]

// newKept has room for densities and scores, in two precisions or for two block sizes.
func newKept() *kept { return &kept{Most: 4} }

// kind is what tells blocks of one estimate apart.
type kind struct {
	backend backends.Backend
	dtype   dtypes.DType
	size    int // points in a block
	pull    bool
}

func (k kind) Gone() bool { return k.backend.IsFinalized() }
