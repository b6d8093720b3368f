package scorekit_test

import (
	"math"
	"testing"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/net"
	"github.com/scorekit/lab/scorekit/objective"
	"github.com/scorekit/lab/scorekit/random"
	"github.com/scorekit/lab/scorekit/sampler"
)

func TestExamplesRefusesBadData(t *testing.T) {
	for name, c := range map[string]struct {
		points any
		want   string
	}{
		"NaN":           {[][]float64{{1, 2}, {3, 4}, {5, math.NaN()}}, "row 2, column 1 is NaN"},
		"Inf":           {[][]float32{{1, 2}, {float32(math.Inf(-1)), 4}}, "row 1, column 0 is -Inf"},
		"empty":         {[][]float64{}, "there must be at least one"},
		"no columns":    {[][]float64{{}, {}}, "at least one column"},
		"ragged":        {[][]float64{{1, 2}, {3}}, "row 1 has 1 columns but row 0 has 2"},
		"wrong type":    {"points", "points of type string: must be"},
		"vector":        {tensors.FromValue([]float64{1, 2}), "must be [examples, dims...]"},
		"integers":      {tensors.FromValue([][]int32{{1, 2}}), "dtype Int32: must be Float32 or Float64"},
		"empty tensor":  {tensors.FromFlatDataAndDimensions([]float32{}, 0, 3), "there must be at least one"},
		"nil tensor":    {(*tensors.Tensor)(nil), "nil or was finalized"},
		"infinite cell": {tensors.FromValue([][][]float32{{{1}, {float32(math.Inf(1))}}}), "row 0, column 1 is +Inf"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := scorekit.Examples(c.points)
			wantError(t, err, "scorekit: Examples: ", c.want)
		})
	}
}

func TestFitRefusesBadSettings(t *testing.T) {
	be := testbackend.Go(t)
	data := examples(t, [][]float64{{1, 2}, {3, 4}})
	good := objective.Denoising{Sigma: 0.5}
	narrow := scorekit.Score(func(vars *mlctx.Context, x, _ *Node) *Node {
		return graph.ReduceAndKeep(linear(vars, x, nil), graph.ReduceSum, 1)
	})
	exact := scorekit.Score(func(_ *mlctx.Context, x, _ *Node) *Node { return graph.Neg(x) })
	total := objectiveFunc(func(vars *mlctx.Context, _ *random.Source, score scorekit.Score, x *Node) *Node {
		return graph.ReduceAllSum(score(vars, x, nil))
	})
	option := func(o ...scorekit.FitOption) []scorekit.FitOption { return o }
	for name, c := range map[string]struct {
		model     scorekit.Model
		objective scorekit.Objective
		data      scorekit.Data
		options   []scorekit.FitOption
		want      string
	}{
		"sigma 0":          {scorekit.Score(linear), objective.Denoising{}, data, nil, "sigma 0: must be positive and finite"},
		"sigma negative":   {scorekit.Score(linear), objective.Denoising{Sigma: -1}, data, nil, "sigma -1: must be positive and finite"},
		"sigma NaN":        {scorekit.Score(linear), objective.Denoising{Sigma: math.NaN()}, data, nil, "sigma NaN: must be positive and finite"},
		"noise range":      {scorekit.Score(linear), objective.MultiNoise{Min: 1, Max: 0.1}, data, nil, "largest noise level 0.1: must be finite and at least the smallest, 1"},
		"batch 0":          {scorekit.Score(linear), good, data, option(scorekit.WithBatch(0)), "batch of 0: must be at least 1"},
		"steps 0":          {scorekit.Score(linear), good, data, option(scorekit.WithSteps(0)), "steps 0: must be at least 1"},
		"unroll":           {scorekit.Score(linear), good, data, option(scorekit.WithUnroll(0)), "unroll 0: must be from 1 to 64"},
		"dtype":            {scorekit.Score(linear), good, data, option(scorekit.WithDType(dtypes.Int32)), "dtype Int32: must be Float32 or Float64"},
		"clip norm":        {scorekit.Score(linear), good, data, option(scorekit.WithClipNorm(0)), "clip norm 0: must be positive and finite"},
		"EMA":              {scorekit.Score(linear), good, data, option(scorekit.WithEMA(1)), "EMA decay 1: must be at least 0 and below 1"},
		"rate":             {scorekit.Score(linear), good, data, option(scorekit.WithOptimizer(scorekit.Adam{Rate: scorekit.Rate{Peak: -1}})), "learning rate -1: must be positive and at most 1e+15"},
		"rate too large":   {scorekit.Score(linear), good, data, option(scorekit.WithOptimizer(scorekit.SGD{Rate: scorekit.Rate{Peak: 1e38}})), "learning rate 1e+38: must be positive and at most 1e+15"},
		"rate NaN":         {scorekit.Score(linear), good, data, option(scorekit.WithOptimizer(scorekit.Adam{Rate: scorekit.Rate{Peak: math.NaN()}})), "learning rate NaN"},
		"decay too large":  {scorekit.Score(linear), good, data, option(scorekit.WithOptimizer(scorekit.AdamW{Rate: scorekit.Rate{Peak: 0.1}, Decay: 50})), "weight decay 50 at learning rate 0.1: the product must be at most 1"},
		"warm-up":          {scorekit.Score(linear), good, data, option(scorekit.WithOptimizer(scorekit.SGD{Rate: scorekit.Rate{WarmUp: -1}})), "warm-up of -1 steps"},
		"weight decay":     {scorekit.Score(linear), good, data, option(scorekit.WithOptimizer(scorekit.AdamW{Decay: -1})), "weight decay -1"},
		"no optimizer":     {scorekit.Score(linear), good, data, option(scorekit.WithOptimizer(nil)), "optimizer nil"},
		"no folder":        {scorekit.Score(linear), good, data, option(scorekit.WithCheckpoints("", 1)), "must be named"},
		"every 0":          {scorekit.Score(linear), good, data, option(scorekit.WithCheckpoints(t.TempDir(), 0)), "checkpoint every 0 steps: must be at least 1"},
		"resume alone":     {scorekit.Score(linear), good, data, option(scorekit.WithResume()), "WithResume without WithCheckpoints"},
		"metadata":         {scorekit.Score(linear), good, data, option(scorekit.WithMetadata("", "x")), "metadata key"},
		"no model":         {nil, good, data, nil, "model nil: must be given"},
		"no objective":     {scorekit.Score(linear), nil, data, nil, "objective nil: must be given"},
		"no data":          {scorekit.Score(linear), good, nil, nil, "data nil: must be given"},
		"shape of a score": {narrow, good, data, nil, "returned a score of shape (Float32)[128 1] for points of shape (Float32)[128 2]"},
		"no weights":       {exact, good, data, nil, "has no weights to train"},
		"shape of a loss":  {scorekit.Score(linear), total, data, nil, "returned a loss of shape []: must be [batch], here [128]"},
		"activation":       {net.MLP{Activation: "step"}, good, data, nil, `activation "step": must be`},
		"level missing":    {net.NoiseMLP{}, regression{0}, data, nil, "no noise level was given"},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := scorekit.Fit(background, be, c.model, c.objective, c.data, c.options...)
			wantError(t, err, "scorekit: Fit: ", c.want)
			if f != nil {
				t.Error("a result beside the error")
			}
		})
	}
	_, err := scorekit.Fit(background, nil, scorekit.Score(linear), good, data)
	wantError(t, err, "backend nil: must be given")
	huge := examples(t, [][]float64{{1e300}})
	_, err = scorekit.Fit(background, be, scorekit.Score(linear), good, huge)
	wantError(t, err, "row 0, column 0: value 1e+300 does not fit in float32")
}

func TestSampleRefusesBadSettings(t *testing.T) {
	be := testbackend.Go(t)
	g := gaussian(t, 1, 0, 0)
	good := sampler.Langevin{StepSize: 0.1, Steps: 10}
	own := scorekit.Score(func(_ *mlctx.Context, x, _ *Node) *Node { return graph.Neg(x) })
	option := func(o ...scorekit.SampleOption) []scorekit.SampleOption { return o }
	for name, c := range map[string]struct {
		model   scorekit.Model
		sampler scorekit.Sampler
		n       int
		options []scorekit.SampleOption
		want    string
	}{
		"step":          {g, sampler.Langevin{StepSize: -0.1}, 4, nil, "Langevin: step -0.1: must be positive and finite"},
		"chains":        {g, good, 0, nil, "0 chains: must be at least 1"},
		"no model":      {nil, good, 4, nil, "model nil"},
		"no sampler":    {g, nil, 4, nil, "sampler nil"},
		"burn-in":       {g, good, 4, option(scorekit.WithBurnIn(10)), "burn-in of 10 steps: must be less than the sampler's 10"},
		"burn-in < 0":   {g, good, 4, option(scorekit.WithBurnIn(-1)), "must not be negative"},
		"thinning":      {g, good, 4, option(scorekit.WithThinning(0)), "thinning 0: must be at least 1"},
		"trajectory":    {g, good, 4, option(scorekit.WithTrajectory(0)), "must be at least 1"},
		"limit":         {g, good, 4, option(scorekit.WithLimit(-1)), "limit -1: must be positive"},
		"spread":        {g, good, 4, option(scorekit.WithStartNormal(0)), "starting standard deviation 0"},
		"no shape":      {own, good, 4, nil, "give WithShape or WithStart"},
		"empty shape":   {own, good, 4, option(scorekit.WithShape()), "must have at least one dimension"},
		"zero shape":    {own, good, 4, option(scorekit.WithShape(2, 0)), "every dimension must be at least 1"},
		"start count":   {g, good, 4, option(scorekit.WithStart([][]float64{{1, 2}})), "1 points for 4 chains"},
		"start shape":   {g, good, 1, option(scorekit.WithStart([][]float64{{1, 2, 3}})), "points of shape [3] for a model of points of shape [2]"},
		"start NaN":     {g, good, 1, option(scorekit.WithStart([][]float64{{1, math.NaN()}})), "row 0, column 1 is NaN"},
		"two starts":    {g, good, 1, option(scorekit.WithStart([][]float64{{1, 2}}), scorekit.WithStartNormal(2)), "WithStart and WithStartNormal: only one may be given"},
		"thin too much": {g, good, 4, option(scorekit.WithBurnIn(6), scorekit.WithThinning(5)), "thinning 5: must be at most the 4 steps after the burn-in"},
		"other shape":   {g, good, 4, option(scorekit.WithShape(3)), "shape [3] for a model of points of shape [2]"},
		"start nil":     {g, good, 1, option(scorekit.WithStart(nil)), "start nil"},
		"no weights":    {net.MLP{}, good, 4, option(scorekit.WithShape(2)), "has weights that were not given"},
		"level missing": {net.NoiseMLP{}, good, 4, option(scorekit.WithShape(2)), "no noise level was given"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := scorekit.Sample(background, be, c.model, c.sampler, c.n, c.options...)
			wantError(t, err, "scorekit: Sample: ", c.want)
			if d != nil {
				t.Error("a result beside the error")
			}
		})
	}
}

func TestEvaluateRefusesBadInput(t *testing.T) {
	be := testbackend.Go(t)
	g := gaussian(t, 1, 0, 0)
	for name, c := range map[string]struct {
		model  scorekit.Model
		points any
		sigma  []float64
		want   string
	}{
		"shape":      {g, [][]float64{{1, 2, 3}}, nil, "points of shape [3] for a model of points of shape [2]"},
		"NaN":        {g, [][]float64{{1, math.NaN()}}, nil, "row 0, column 1 is NaN"},
		"sigma":      {g, [][]float64{{1, 2}}, []float64{-1}, "noise level -1: must be positive and finite"},
		"levels":     {g, [][]float64{{1, 2}, {1, 2}, {1, 2}}, []float64{1, 2}, "2 noise levels for 3 points"},
		"no model":   {nil, [][]float64{{1, 2}}, nil, "must be given"},
		"no weights": {net.MLP{}, [][]float64{{1, 2}}, nil, "has weights that were not given"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := scorekit.Evaluate(background, be, c.model, c.points, c.sigma...)
			wantError(t, err, "scorekit: Evaluate: ", c.want)
		})
	}
	_, err := scorekit.Rows(tensors.FromValue([]float64{1}))
	wantError(t, err, "scorekit: Rows: ")
	_, err = scorekit.Rows(nil)
	wantError(t, err, "scorekit: Rows: ")
}
