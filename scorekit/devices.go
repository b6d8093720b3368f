package scorekit

import (
	"fmt"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/distributed"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/shapes"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"
)

// WithDevices trains on so many devices of the backend at once (default 1): data parallelism. Each device has all weights
// and does an equal part of every batch; the gradients are summed over the devices before the weights change. It is done by
// GoMLX's AutoSharding, which hands the graph to XLA with the batch split and the weights replicated.
//
// Random numbers do not depend on the number of devices, so that losses and weights are those of one device but for the order
// in which float sums are taken. Checkpoints are the same, too: a run may be resumed with another number of devices.
//
// [Fit] returns an error where the backend has fewer devices or the batch is no multiple of their number. Pure Go has one
// device; XLA opens several on the CPU when it is told to: xla:cpu,cpu_device_count=4.
func WithDevices(n int) FitOption {
	return fitOption(func(s *fitSettings) error {
		if n < 1 {
			return fmt.Errorf("%d devices: must be at least 1", n)
		}
		s.devices = n
		return nil
	})
}

// checkDevices returns an error if a batch cannot be split over so many devices of the backend.
func checkDevices(backend backends.Backend, n, batch int) error {
	if n <= 1 {
		return nil
	}
	if there := backend.NumDevices(); n > there {
		return fmt.Errorf("%d devices: must be at most the %d of the backend %s", n, there, backend.Name())
	}
	if batch%n != 0 {
		return fmt.Errorf("batch of %d on %d devices: must be a multiple of their number", batch, n)
	}
	return nil
}

// spread is how a run is spread over several devices. nil is a run on one.
type spread struct {
	replicated *distributed.ShardingSpec
	// zeros, [batch], is split over the devices. Sharding is said of inputs alone, and examples are drawn inside the graph:
	// XLA learns how to split them from this input, which is added to them.
	zeros *distributed.Tensor
}

// newSpread spreads the executor of a run over so many devices.
func newSpread(exec *mlctx.Exec, dtype dtypes.DType, batch, devices int) (*spread, error) {
	if devices <= 1 {
		return nil, nil
	}
	const axis = "batch"
	mesh, err := distributed.NewDeviceMesh([]int{devices}, []string{axis})
	if err != nil {
		return nil, err
	}
	split, err := distributed.BuildSpec(mesh).S(axis).Done()
	if err != nil {
		return nil, err
	}
	s := &spread{replicated: distributed.NewReplicatedShardingSpec(mesh)}
	if s.zeros, err = distributed.ShardTensor(split, tensors.FromShape(shapes.Make(dtype, batch))); err != nil {
		return nil, err
	}
	exec.AutoSharding(mesh)
	exec.WithInputShardingSpecs(s.replicated, split, s.replicated).WithOutputShardingSpecs(s.replicated)
	return s, nil
}

// take takes the zeros out of the inputs of a graph. It returns nil for them on one device.
func (s *spread) take(in []*Node) (rest []*Node, zeros *Node) {
	if s == nil {
		return in, nil
	}
	return append([]*Node{in[0]}, in[2:]...), in[1]
}

// splitBatch has the batch x split as the zeros are. nil leaves it whole.
func splitBatch(x, zeros *Node) *Node {
	if zeros == nil {
		return x
	}
	for zeros.Rank() < x.Rank() {
		zeros = graph.InsertAxes(zeros, -1)
	}
	return graph.Add(x, graph.BroadcastToShape(zeros, x.Shape()))
}

// arguments are those of a call: the numbers, what a stream is fed, and on several devices the zeros, device after device.
// What is fed is handed over, so that what the devices have of it ends with the call.
func (s *spread) arguments(backend backends.Backend, numbers *tensors.Tensor, fed []*tensors.Tensor) ([]any, error) {
	if s == nil {
		return appendDonated([]any{numbers}, backend, 0, fed)
	}
	copies := make([]*distributed.Tensor, 1+len(fed))
	for i, whole := range append([]*tensors.Tensor{numbers}, fed...) {
		var err error
		if copies[i], err = distributed.ShardTensor(s.replicated, whole); err != nil {
			return nil, err
		}
	}
	var args []any
	for device, zeros := range s.zeros.Shards() {
		own := make([]*tensors.Tensor, len(fed))
		for i := range own {
			own[i] = copies[1+i].Shards()[device]
		}
		var err error
		args = append(args, copies[0].Shards()[device], zeros)
		if args, err = appendDonated(args, backend, backends.DeviceNum(device), own); err != nil {
			return nil, err
		}
	}
	return args, nil
}

func appendDonated(args []any, backend backends.Backend, device backends.DeviceNum, parts []*tensors.Tensor) ([]any, error) {
	for _, part := range parts {
		donated, err := graph.DonateTensorBuffer(part, backend, device)
		if err != nil {
			return nil, err
		}
		args = append(args, donated)
	}
	return args, nil
}
