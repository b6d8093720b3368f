package scorekit_test

import (
	"slices"
	"testing"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/random"
)

// descending takes 1 from x until it is 0. Its predictions are x plus the number of steps, which only the state knows.
type descending struct{ most int }

func (s descending) Schedule() (scorekit.Schedule, error) {
	return scorekit.Schedule{Rows: make([][]float64, s.most)}, nil
}

func (s descending) Init(_ *mlctx.Context, _ *random.Source, _ scorekit.Score, x *Node) scorekit.State {
	return scorekit.State{X: x, Aux: []*Node{graph.ScalarZero(x.Graph(), x.DType())}}
}

func (s descending) Step(_ *mlctx.Context, _ *random.Source, _ scorekit.Score, state scorekit.State, _ []*Node) (scorekit.State, scorekit.Info) {
	x := graph.MaxScalar(graph.AddScalar(state.X, -1), 0)
	return scorekit.State{X: x, Aux: []*Node{graph.AddScalar(state.Aux[0], 1)}}, nil
}

func (s descending) Waiting(state scorekit.State) *Node {
	return graph.ReduceAllSum(graph.ConvertDType(graph.GreaterThan(state.X, graph.ZerosLike(state.X)), state.X.DType()))
}

func (s descending) PredictState(_ *mlctx.Context, _ scorekit.Score, state scorekit.State, _ []*Node) *Node {
	return graph.Add(state.X, state.Aux[0])
}

var (
	_ scorekit.Finisher       = descending{}
	_ scorekit.StatePredictor = descending{}
)

// A run of a Finisher stops with the block in which its last chain arrives, and what is kept ends there; chains that are
// still on their way after all steps are an error that counts them, with the state they have reached.
func TestFinisher(t *testing.T) {
	be := testbackend.Go(t)
	start := [][]float64{{1}, {5}, {3}}
	model := gaussian(t, 1, 0)
	options := func(unroll int) []scorekit.SampleOption {
		return []scorekit.SampleOption{scorekit.WithStart(start), scorekit.WithDType(dtypes.Float64), scorekit.WithUnroll(unroll), scorekit.WithPredictions()}
	}
	d, err := scorekit.Sample(background, be, model, descending{100}, 3, append(options(1), scorekit.WithTrajectory(3))...)
	if err != nil {
		t.Fatal(err)
	}
	var steps []int
	for _, s := range d.Trajectory {
		steps = append(steps, s.Step)
	}
	if want := []int{0, 3, 5}; !slices.Equal(steps, want) {
		t.Errorf("states kept after steps %v, want %v", steps, want)
	}
	if got := d.Predicted.Value().([][]float64); got[0][0] != 5 || got[2][0] != 5 {
		t.Errorf("predictions %v, want the number of steps, 5", got)
	}
	last, total := 0, 0
	for s, err := range scorekit.SampleSteps(background, be, model, descending{100}, 3, options(2)...) {
		if err != nil {
			t.Fatal(err)
		}
		last, total = s.Step, s.Total
	}
	if last != 6 || total != 6 { // three blocks of two steps
		t.Errorf("the last step was %d of %d, want 6 of 6", last, total)
	}
	d, err = scorekit.Sample(background, be, model, descending{4}, 3, options(1)...)
	wantError(t, err, "scorekit: Sample: sampler scorekit_test.descending: 1 of 3 chains are not at the end after all 4 steps")
	if d == nil || d.X.Value().([][]float64)[1][0] != 1 {
		t.Errorf("draws %v, want the state after 4 steps", d)
	}
}
