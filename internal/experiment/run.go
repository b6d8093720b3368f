package experiment

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/data"
	"github.com/scorekit/lab/scorekit"
)

// Run is a run that was trained, as its folder holds it.
type Run struct {
	Dir    string
	Config Config
	Facts  Facts
	Fitted *scorekit.Fitted
	pipe   data.Pipeline
}

// Open returns the run in a folder, with the weights of its newest checkpoint. It returns an error for a folder that
// holds no run, one that has no checkpoint yet, and for files that are damaged.
func Open(dir string) (*Run, error) {
	c, err := ReadConfig(dir)
	if err != nil {
		return nil, err
	}
	fitted, err := scorekit.Load(filepath.Join(dir, checkpointsDir))
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", dir, err)
	}
	r := &Run{Dir: dir, Config: c, Fitted: fitted}
	if err := json.Unmarshal([]byte(fitted.Metadata()[factsKey]), &r.Facts); err != nil {
		return nil, fmt.Errorf("model %s: what its checkpoint says of the data cannot be read: %w", dir, err)
	}
	if r.pipe, err = data.PipelineOf(fitted); err != nil {
		return nil, fmt.Errorf("model %s: %w", dir, err)
	}
	return r, nil
}

// backend opens what a verb asks for, and says at once if it cannot compute the run's network.
func (r *Run) backend(name string) (backends.Backend, error) {
	b, err := openBackend(name)
	if err != nil {
		return nil, err
	}
	return b, r.Config.capable(b, name)
}

// levels returns the noise levels of the training, both 0 for an objective without.
func (r *Run) levels() (low, high float64) {
	low, high, _ = r.Config.levels()
	return low, high
}

// many says whether the model knows the scores of many noise levels.
func (r *Run) many() bool {
	low, high := r.levels()
	return r.Config.network().noise && high > low
}

// shaped brings rows, [n, d], to the shape that the network takes.
func (r *Run) shaped(x *tensors.Tensor) (*tensors.Tensor, error) {
	return reshape(x, append([]int{x.Shape().Dimensions[0]}, r.Fitted.Shape()...)...)
}

// rows brings what the network gives to rows, [n, d].
func rows(x *tensors.Tensor) (*tensors.Tensor, error) {
	n := x.Shape().Dimensions[0]
	return reshape(x, n, x.Size()/n)
}

// reshape copies a tensor of floats with other dimensions.
func reshape(x *tensors.Tensor, dims ...int) (*tensors.Tensor, error) {
	var out *tensors.Tensor
	size := 1
	for _, d := range dims {
		size *= d
	}
	if size != x.Size() {
		return nil, fmt.Errorf("examples of shape %v: must be %v", x.Shape().Dimensions, dims)
	}
	err := x.ConstFlatData(func(flat any) {
		switch f := flat.(type) {
		case []float32:
			out = tensors.FromFlatDataAndDimensions(append([]float32(nil), f...), dims...)
		case []float64:
			out = tensors.FromFlatDataAndDimensions(append([]float64(nil), f...), dims...)
		}
	})
	return out, err
}
