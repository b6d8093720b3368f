package experiment

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
)

// Drawn is samples of a run's model.
type Drawn struct {
	Facts   Facts
	X       *tensors.Tensor // [n, d], in the units of the data
	Classes []int           // the class of each, or nil
	Z       *tensors.Tensor // [n, d], in those of the transformed data
	Sampler string
	Steps   int
	Seconds float64
}

// Sample draws of the model, and brings the samples back to the units of the data. progress may be nil.
//
// It returns an error for settings that are impossible or do not fit the model, for chains that run away, and one that
// wraps the cause of ctx when that stopped it.
func (r *Run) Sample(ctx context.Context, s Sampling, progress func(scorekit.Report)) (*Drawn, error) {
	b, err := r.backend(s.Backend)
	if err != nil {
		return nil, err
	}
	return r.draw(ctx, b, s, progress)
}

func (r *Run) draw(ctx context.Context, b backends.Backend, s Sampling, progress func(scorekit.Report)) (*Drawn, error) {
	if s.N < 1 {
		return nil, fmt.Errorf("n %d: must be at least 1", s.N)
	}
	if s.Batch < 0 {
		return nil, fmt.Errorf("batch %d: must be at least 1, or 0 for the usual number", s.Batch)
	}
	classes, err := r.classes(s)
	if err != nil {
		return nil, err
	}
	t := target{Sampling: s, std: r.Config.DataStd}
	t.low, t.high = r.levels()
	if s.Sigma != Auto {
		asked := Config{Sigma: s.Sigma}
		if t.low, t.high, err = asked.levels(); err != nil {
			return nil, err
		}
		if r.Config.loss().noise == noNoise {
			return nil, fmt.Errorf("sigma %s: the model was trained without noise: leave it out", s.Sigma)
		}
	}
	if e, ok := r.Fitted.Model().(interface {
		Energy(vars *mlctx.Context, x, sigma *scorekit.Node) *scorekit.Node
	}); ok {
		t.energy = e.Energy
	}
	many := r.many() && t.high > t.low
	sampler, kind, err := t.sampler(r.Config.network(), many)
	if err != nil {
		return nil, err
	}
	options := []scorekit.SampleOption{scorekit.WithShape(r.Fitted.Shape()...)}
	if !kind.many {
		options = append(options, scorekit.WithStartNormal(math.Hypot(t.std, t.low)))
	}
	began := time.Now()
	size := s.Batch
	if size == 0 {
		size = s.N
		if r.Facts.Kind == "images" {
			size = min(size, 256)
		}
	}
	var parts []*tensors.Tensor
	for from := 0; from < s.N; from += size {
		n := min(size, s.N-from)
		var model scorekit.Model = r.Fitted
		if classes != nil {
			model = scorekit.Given{Model: r.Fitted, Classes: classes[from : from+n], Guidance: s.Guidance}
		}
		drawn, err := scorekit.Sample(ctx, b, model, sampler, n, append(options, scorekit.WithSeed(s.Seed+int64(from)), scorekit.WithProgress(within(progress, from, n, s.N)))...)
		if err != nil {
			return nil, err
		}
		part, err := rows(drawn.X)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	z, err := stack(parts)
	if err != nil {
		return nil, err
	}
	x, err := r.pipe.Invert(z)
	if err != nil {
		return nil, err
	}
	schedule, err := sampler.Schedule()
	if err != nil {
		return nil, err
	}
	return &Drawn{Facts: r.Facts, X: x, Z: z, Classes: classes, Sampler: kind.name, Steps: len(schedule.Rows),
		Seconds: round(time.Since(began).Seconds(), 4)}, nil
}

// classes returns the class of each sample, nil for samples of no class in particular.
func (r *Run) classes(s Sampling) ([]int, error) {
	known := r.Fitted.NumClasses()
	switch {
	case s.Class == "" && s.Guidance != 0:
		return nil, fmt.Errorf("guidance %v: must come with a class to be guided to", s.Guidance)
	case s.Class == "":
		return nil, nil
	case known == 0:
		return nil, fmt.Errorf("class %s: the model has no classes: train it with --conditional", s.Class)
	case !(s.Guidance >= 0) || math.IsInf(s.Guidance, 0):
		return nil, fmt.Errorf("guidance %v: must be finite and not negative", s.Guidance)
	}
	chosen := make([]int, s.N)
	if s.Class == "all" {
		for i := range chosen {
			chosen[i] = i % known
		}
		return chosen, nil
	}
	class := slices.Index(r.Facts.Classes, s.Class)
	if class < 0 {
		number, err := strconv.Atoi(s.Class)
		if err != nil || number < 0 || number >= known {
			return nil, fmt.Errorf("class %q%s: must be all or one of %s", s.Class, nearest(s.Class, r.Facts.Classes), list(r.Facts.Classes))
		}
		class = number
	}
	for i := range chosen {
		chosen[i] = class
	}
	return chosen, nil
}

// within makes one report of several runs, one after another.
func within(progress func(scorekit.Report), from, n, all int) func(scorekit.Report) {
	if progress == nil {
		return nil
	}
	return func(r scorekit.Report) {
		if n < all {
			r.Verb = fmt.Sprintf("sampling %d to %d of %d:", from+1, from+n, all)
		}
		progress(r)
	}
}

// stack puts rows under one another.
func stack(parts []*tensors.Tensor) (*tensors.Tensor, error) {
	if len(parts) == 1 {
		return parts[0], nil
	}
	var narrow []float32
	var wide []float64
	n := 0
	for _, p := range parts {
		err := p.ConstFlatData(func(flat any) {
			switch f := flat.(type) {
			case []float32:
				narrow = append(narrow, f...)
			case []float64:
				wide = append(wide, f...)
			}
		})
		if err != nil {
			return nil, err
		}
		n += p.Shape().Dimensions[0]
	}
	if wide != nil {
		return tensors.FromFlatDataAndDimensions(wide, n, len(wide)/n), nil
	}
	return tensors.FromFlatDataAndDimensions(narrow, n, len(narrow)/n), nil
}
