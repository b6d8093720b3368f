package experiment

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/data"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/likelihood"
	"github.com/scorekit/lab/scorekit/metric"
	"github.com/scorekit/lab/scorekit/sde"
)

// Evaluating is one call of the command's eval. Its fields are flags, as those of [Config].
type Evaluating struct {
	Data        string  `key:"data" usage:"file to compare with, with the columns of the run's data; empty: the rows that the run held out"`
	Examples    int     `key:"examples" usage:"examples at most for losses and metrics; 0: 1000, or 256 images"`
	Samples     int     `key:"samples" usage:"samples for the distances, the first of them for mmd and means; 0: 1000, or 256 images"`
	Likelihood  int     `key:"likelihood" usage:"examples at most for the likelihood; -1: none; 0: 200, or 64 images"`
	Probes      int     `key:"probes" usage:"random directions for the divergence in the likelihood; 0: the exact divergence up to 64 numbers an example, and 1 direction beyond"`
	Tolerance   float64 `key:"tolerance" usage:"tolerance of the likelihood's solver, relative and absolute; 0: 1e-5, in float64 1e-7, or 1e-3 for images"`
	Recognition int     `key:"recognition" usage:"samples for the recognition of classes; -1: none; 0: 1000"`
	Guidance    float64 `key:"guidance" usage:"how much further than its own score a class is followed in the samples for recognition; 0: not"`
	Sampler     string  `key:"sampler" usage:"how samples are drawn: see sample"`
	Steps       int     `key:"steps" usage:"steps of the sampler; 0: its usual number"`
	Seed        int64   `key:"seed" usage:"seed of the choice of examples, the samples and the tests"`
	Backend     string  `key:"backend" usage:"what computes, as in GOMLX_BACKEND: xla, xla:cuda, go …; auto: the best that is installed"`
}

// DefaultEvaluating returns the settings that hold where nothing is said.
func DefaultEvaluating() Evaluating { return Evaluating{Sampler: Auto, Seed: 1, Backend: Auto} }

// Estimate is a mean with its standard error.
type Estimate struct {
	Mean          float64 `json:"mean"`
	StandardError float64 `json:"standard_error"`
	Examples      int     `json:"examples"`
}

// Evaluation is how well a model fits data that it has not seen.
type Evaluation struct {
	Model string `json:"model"`
	On    string `json:"on"` // "held-out rows" or a file
	Rows  int    `json:"rows"`

	Loss         *Estimate `json:"loss"`
	TrainingLoss *Estimate `json:"training_loss,omitempty"`

	Nats         *Estimate `json:"log_likelihood_nats,omitempty"` // of an example, in the units of the data
	Bits         *Estimate `json:"bits_per_dim,omitempty"`
	Divergence   string    `json:"divergence,omitempty"` // exact, or how many probes
	Tolerance    float64   `json:"likelihood_tolerance,omitempty"`
	Noise        float64   `json:"likelihood_sigma,omitempty"` // of the transformed data whose likelihood it is
	NoLikelihood string    `json:"no_likelihood,omitempty"`
	Samples      int       `json:"samples,omitempty"`
	Sampler      string    `json:"sampler,omitempty"`
	MMD          *Test     `json:"mmd,omitempty"`
	Energy       *Distance `json:"energy_distance,omitempty"`
	SlicedW2     *Distance `json:"sliced_w2,omitempty"`
	KSD          *Test     `json:"ksd,omitempty"`
	NoKSD        string    `json:"no_ksd,omitempty"`
	Means        *Means    `json:"means,omitempty"`
	NoMetrics    string    `json:"no_metrics,omitempty"`

	Recognition   *Recognition `json:"recognition,omitempty"`
	NoRecognition string       `json:"no_recognition,omitempty"`

	Units string `json:"metrics_units"`
}

// Test is a test of whether there is a difference.
type Test struct {
	Squared  float64 `json:"squared"` // the unbiased estimate of the squared discrepancy
	P        float64 `json:"p"`
	Samples  int     `json:"samples,omitempty"` // drawn, 0 for a test of the score itself
	Examples int     `json:"examples"`          // of the data
}

// Distance is a distance with its standard error.
type Distance struct {
	Distance      float64 `json:"distance"`
	StandardError float64 `json:"standard_error"`
}

// Means compares the columns' means of samples and data.
type Means struct {
	Largest float64 `json:"largest"` // difference in its standard errors
	Column  string  `json:"column"`
	Samples int     `json:"samples"`
}

// Evaluate compares the model with examples that it was not trained on. Losses, metrics and the noise levels of all are in
// the units of the transformed data, the likelihood in those of the data themselves. note, which may be nil, is told what
// is done next, progress how far that is.
//
// It returns an error for impossible settings, for data that cannot be read, for a run without a holdout unless other
// data are given, and one that wraps the cause of ctx when that stopped it.
func (r *Run) Evaluate(ctx context.Context, e Evaluating, note func(string), progress func(scorekit.Report)) (*Evaluation, error) {
	b, err := r.backend(e.Backend)
	if err != nil {
		return nil, err
	}
	if e, err = r.filled(e); err != nil {
		return nil, err
	}
	out := &Evaluation{Model: r.Dir, Units: "transformed data"}
	held, train, err := r.compare(ctx, e)
	if err != nil {
		return nil, err
	}
	out.On, out.Rows = held.on, held.set.X.Shape().Dimensions[0]
	tell := func(text string) {
		if note != nil {
			note(text)
		}
	}
	tell("loss")
	if out.Loss, err = r.loss(ctx, b, held.set, e); err != nil {
		return nil, fmt.Errorf("loss: %w", err)
	}
	if train != nil {
		if out.TrainingLoss, err = r.loss(ctx, b, *train, e); err != nil {
			return nil, fmt.Errorf("loss on training data: %w", err)
		}
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if e.Likelihood > 0 {
		tell("likelihood")
		if err := r.likelihood(ctx, b, held.set, e, out, progress); err != nil {
			return nil, err
		}
	}
	tell("samples")
	if err := r.metrics(ctx, b, held.set, e, out, progress); err != nil {
		return nil, err
	}
	if e.Recognition > 0 {
		tell("recognition")
		real := held.set
		if train != nil {
			real = *train
		}
		if err := r.recognition(ctx, b, real, e, out, progress); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// filled checks settings and puts the usual numbers in.
func (r *Run) filled(e Evaluating) (Evaluating, error) {
	images := r.Facts.Kind == "images"
	for _, n := range []struct {
		key     string
		value   *int
		least   int
		points  int // the usual number
		images  int
		allowed string
	}{
		{"examples", &e.Examples, 0, 1000, 256, "at least 1, or 0 for the usual number"},
		{"samples", &e.Samples, 0, 1000, 256, "at least 1, or 0 for the usual number"},
		{"likelihood", &e.Likelihood, -1, 200, 64, "at least 1, 0 for the usual number, or -1 for none"},
		{"recognition", &e.Recognition, -1, 1000, 1000, "at least 1, 0 for the usual number, or -1 for none"},
		{"probes", &e.Probes, 0, 0, 0, "at least 1, or 0 for the usual number"},
		{"steps", &e.Steps, 0, 0, 0, "at least 1, or 0 for the usual number"},
	} {
		if *n.value < n.least {
			return e, fmt.Errorf("%s %d: must be %s", n.key, *n.value, n.allowed)
		}
		if *n.value == 0 && images {
			*n.value = n.images
		} else if *n.value == 0 {
			*n.value = n.points
		}
	}
	if !(e.Tolerance >= 0 && e.Tolerance < 1) {
		return e, fmt.Errorf("tolerance %v: must be positive and below 1, or 0 for the usual one", e.Tolerance)
	}
	if e.Tolerance == 0 {
		switch {
		case images:
			e.Tolerance = 1e-3
		case r.Config.DType == "float64":
			e.Tolerance = 1e-7
		default:
			e.Tolerance = 1e-5
		}
	}
	switch classes := r.Fitted.NumClasses(); {
	case !(e.Guidance >= 0) || math.IsInf(e.Guidance, 0):
		return e, fmt.Errorf("guidance %v: must be finite and not negative", e.Guidance)
	case classes < 2 && e.Guidance > 0:
		return e, fmt.Errorf("guidance %v: the model has no classes: train it with --conditional", e.Guidance)
	case classes < 2 && e.Recognition > 0:
		e.Recognition = 0
	}
	return e, nil
}

// choose returns n of the rows, drawn at random, or all if there are no more.
func choose(set data.Set, n int, seed int64) (data.Set, error) {
	all, _ := set.Dims()
	if all <= n {
		return set, nil
	}
	first, _, err := set.Split(float64(n)/float64(all), seed)
	return first, err
}

func (r *Run) loss(ctx context.Context, b backends.Backend, set data.Set, e Evaluating) (*Estimate, error) {
	data, points, err := r.examples(set)
	if err != nil {
		return nil, err
	}
	low, high := r.levels()
	objective, err := r.Config.loss().build(r.Config, material{r.Fitted.Model(), points, low, high})
	if err != nil {
		return nil, err
	}
	// As many at once as a graph of a network for images takes.
	n, size := e.Examples, max(2, e.Examples)
	if r.Facts.Kind == "images" {
		size = min(size, 128)
	}
	sum, squares, parts := 0.0, 0.0, 0
	for from := 0; from < n; from += size {
		mean, se, err := scorekit.EvaluateLoss(ctx, b, r.Fitted, objective, data, size, e.Seed+int64(from))
		if err != nil {
			return nil, err
		}
		sum, squares, parts = sum+mean, squares+se*se, parts+1
	}
	k := float64(parts)
	return &Estimate{sum / k, math.Sqrt(squares) / k, parts * size}, nil
}

func (r *Run) likelihood(ctx context.Context, b backends.Backend, set data.Set, e Evaluating, out *Evaluation, progress func(scorekit.Report)) error {
	if !r.many() {
		out.NoLikelihood = "the model knows no range of noise levels, which a probability flow needs"
		return nil
	}
	set, err := choose(set, e.Likelihood, e.Seed)
	if err != nil {
		return err
	}
	z, offsets, err := r.pipe.Apply(set.X, e.Seed)
	if err != nil {
		return err
	}
	shaped, err := r.shaped(z)
	if err != nil {
		return err
	}
	low, high := r.levels()
	settings := likelihood.Settings{SDE: sde.VE{SigmaMin: low, SigmaMax: high}, Seed: e.Seed, Probes: e.Probes, RTol: e.Tolerance, ATol: e.Tolerance, Report: progress}
	dim := r.Facts.dim()
	if settings.Probes == 0 && dim > 64 {
		settings.Probes = 1
	}
	if r.Facts.Kind == "images" {
		settings.Chunk = 16
	}
	result, err := likelihood.LogDensity(ctx, b, r.Fitted, shaped, settings)
	if err != nil {
		return err
	}
	nats := make([]float64, len(result.LogDensity))
	bits := make([]float64, len(nats))
	for i, log := range result.LogDensity {
		nats[i] = log + offsets[i]
		bits[i] = likelihood.BitsPerDim(nats[i], dim)
	}
	out.Nats, out.Bits = estimate(nats), estimate(bits)
	out.Divergence, out.Tolerance, out.Noise = "exact", e.Tolerance, low
	if settings.Probes > 0 {
		out.Divergence = fmt.Sprintf("by %d random directions", settings.Probes)
		if settings.Probes == 1 {
			out.Divergence = "by a random direction"
		}
	}
	return nil
}

func estimate(values []float64) *Estimate {
	n := float64(len(values))
	mean, squares := 0.0, 0.0
	for _, v := range values {
		mean += v / n
	}
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	e := &Estimate{Mean: mean, Examples: len(values)}
	if n > 1 {
		e.StandardError = math.Sqrt(squares / (n - 1) / n)
	}
	return e
}

// metrics draws samples and compares them with data. The test and the means, whose errors take the samples to be as good
// as draws of the truth, get no more samples than there are examples: what the training rows left unknown of the truth is
// in all samples alike, and more of them would find it in any model. The distances get them all.
func (r *Run) metrics(ctx context.Context, b backends.Backend, set data.Set, e Evaluating, out *Evaluation, progress func(scorekit.Report)) error {
	set, err := choose(set, e.Examples, e.Seed)
	if err != nil {
		return err
	}
	n, dim := set.Dims()
	if n < 3 || e.Samples < 3 {
		out.NoMetrics = fmt.Sprintf("%d rows to compare with %d samples: must be at least 3 of each", n, e.Samples)
		return nil
	}
	s := DefaultSampling()
	s.Sampler, s.Steps, s.N, s.Seed = e.Sampler, e.Steps, e.Samples, e.Seed
	drawn, err := r.draw(ctx, b, s, progress)
	if err != nil {
		return err
	}
	out.Samples, out.Sampler = s.N, fmt.Sprintf("%s, %d steps", drawn.Sampler, drawn.Steps)
	z, _, err := r.pipe.Apply(set.X, e.Seed)
	if err != nil {
		return err
	}
	tested := min(n, e.Samples)
	few, err := head(drawn.Z, tested)
	if err != nil {
		return err
	}
	mmd, err := metric.MMD{Seed: e.Seed}.Test(ctx, few, z)
	if err != nil {
		return err
	}
	out.MMD = &Test{mmd.U, mmd.P, tested, n}
	energy, err := metric.Energy{}.Distance(ctx, drawn.Z, z)
	if err != nil {
		return err
	}
	out.Energy = &Distance{energy.U, energy.StandardError}
	distance, se, err := metric.Sliced{Seed: e.Seed}.Estimate(ctx, drawn.Z, z)
	if err != nil {
		return err
	}
	out.SlicedW2 = &Distance{distance, se}
	if few, err = head(drawn.X, tested); err != nil {
		return err
	}
	if out.Means, err = compareMeans(few, set.X, r.Facts.names()); err != nil {
		return err
	}
	if dim > 64 {
		out.NoKSD = fmt.Sprintf("examples of %d numbers: a kernel of distances says little beyond 64", dim)
		return nil
	}
	// The score at its lowest level is that of data with as much noise.
	var sigma []float64
	if low, _ := r.levels(); low > 0 {
		sigma = []float64{low}
		if z, err = noised(z, low, e.Seed); err != nil {
			return err
		}
	}
	shaped, err := r.shaped(z)
	if err != nil {
		return err
	}
	ksd, err := metric.KernelStein{Seed: e.Seed}.Test(ctx, b, r.Fitted, shaped, sigma...)
	if err != nil {
		return err
	}
	out.KSD = &Test{ksd.U, ksd.P, 0, n}
	return nil
}

// noised adds noise to points.
func noised(x *tensors.Tensor, sigma float64, seed int64) (*tensors.Tensor, error) {
	rng := rand.New(rand.NewPCG(uint64(seed), 0x401e))
	copied, err := x.LocalClone()
	if err != nil {
		return nil, err
	}
	err = copied.MutableFlatData(func(flat any) {
		switch f := flat.(type) {
		case []float32:
			for i := range f {
				f[i] += float32(sigma * rng.NormFloat64())
			}
		case []float64:
			for i := range f {
				f[i] += sigma * rng.NormFloat64()
			}
		}
	})
	return copied, err
}

// compareMeans returns the largest difference of the means of two sets' columns, in standard errors of the difference.
// Columns that vary in neither set are left out.
func compareMeans(a, b *tensors.Tensor, names []string) (*Means, error) {
	first, err := scorekit.Rows(a)
	if err != nil {
		return nil, err
	}
	second, err := scorekit.Rows(b)
	if err != nil {
		return nil, err
	}
	m := &Means{Samples: len(first)}
	for j := range first[0] {
		x, y := estimate(column(first, j)), estimate(column(second, j))
		se := math.Hypot(x.StandardError, y.StandardError)
		if se == 0 {
			continue
		}
		if z := math.Abs(x.Mean-y.Mean) / se; z > m.Largest || m.Column == "" {
			m.Largest, m.Column = z, names[j]
		}
	}
	return m, nil
}

// head returns the first n rows of a tensor [m, d].
func head(x *tensors.Tensor, n int) (*tensors.Tensor, error) {
	d := x.Shape().Dimensions[1]
	var out *tensors.Tensor
	err := x.ConstFlatData(func(flat any) {
		switch f := flat.(type) {
		case []float32:
			out = tensors.FromFlatDataAndDimensions(slices.Clone(f[:n*d]), n, d)
		case []float64:
			out = tensors.FromFlatDataAndDimensions(slices.Clone(f[:n*d]), n, d)
		}
	})
	return out, err
}

func column(rows [][]float64, j int) []float64 {
	out := make([]float64, len(rows))
	for i, row := range rows {
		out[i] = row[j]
	}
	return out
}
