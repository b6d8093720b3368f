package experiment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"

	"github.com/scorekit/lab/data"
	"github.com/scorekit/lab/internal/atomicfile"
	"github.com/scorekit/lab/scorekit"
)

// Training is one call of the command's train.
type Training struct {
	Config  Config
	Out     string // folder of the run
	Resume  bool   // go on with the run in Out; Config is then its own, but for what was given anew
	Command string // what the user calls the command, for messages that tell what to do next

	Progress func(scorekit.Report) // of the training
	Note     func(string)          // told a line of what is going on
}

// Summary is what summary.json says of a run.
type Summary struct {
	Finished   bool     `json:"finished"`
	Step       int      `json:"step"`
	Steps      int      `json:"steps"`
	Loss       *float64 `json:"loss"`    // mean of the last 50 steps; null before the first
	Seconds    float64  `json:"seconds"` // of all the calls that the run took
	Data       Facts    `json:"data"`
	Net        string   `json:"net"`
	Objective  string   `json:"objective"`
	Sigma      string   `json:"sigma"`
	Parameters int      `json:"parameters"`
	Seed       int64    `json:"seed"`
	Versions   Versions `json:"versions"`
	Folder     string   `json:"folder"`
	Resume     string   `json:"resume,omitempty"` // the command that goes on, for a run that is not finished
}

// factsKey is where a checkpoint keeps the facts of its data.
const factsKey = "scorelab.data"

// Prepare opens the data of a config and returns it with every auto replaced: what a training would do.
func Prepare(ctx context.Context, c Config) (Config, error) {
	p, err := prepare(ctx, c)
	if err != nil {
		return c, err
	}
	return p.config, nil
}

// prepared is a run with its data and settings, before anything is computed.
type prepared struct {
	config  Config
	dataset *dataset
	facts   Facts
	pipe    data.Pipeline
	points  any // transformed training data, nil if they are streamed
	data    scorekit.Data
}

func prepare(ctx context.Context, c Config) (*prepared, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	d, err := load(ctx, c)
	if err != nil {
		return nil, err
	}
	return d.prepare(ctx, absolute(c))
}

// Train trains a model and leaves everything about it in the folder of the run. It returns the summary also beside an
// error that stopped it after the first step; one that wraps the cause of ctx when that stopped it, with the last step
// saved.
//
// It returns an error, before anything is written, for settings that are impossible or do not go together, for data that
// cannot be read, and for a folder that holds something else.
func Train(ctx context.Context, t Training) (*Summary, error) {
	if err := t.Config.Validate(); err != nil {
		return nil, err
	}
	b, err := openBackend(t.Config.Backend)
	if err != nil {
		return nil, err
	}
	p, err := prepare(ctx, t.Config)
	if err != nil {
		return nil, err
	}
	if err := p.config.capable(b, p.config.Backend); err != nil {
		return nil, err
	}
	model := p.config.model(p.facts)
	low, high, err := p.config.levels()
	if err != nil {
		return nil, err
	}
	objective, err := p.config.loss().build(p.config, material{model, p.points, low, high})
	if err != nil {
		return nil, err
	}
	undo, err := openFolder(t.Out, t.Resume, t.Command)
	if err != nil {
		return nil, err
	}
	begun := false
	defer func() {
		if !begun {
			undo()
		}
	}()
	r := &running{Training: t, prepared: p, backend: b, began: time.Now()}
	if t.Resume {
		var before Summary
		if err := readJSON(filepath.Join(t.Out, summaryName), &before); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		r.before = before.Seconds
	}
	if r.history, err = openHistory(t.Out); err != nil {
		return nil, err
	}
	if err := atomicfile.Write(filepath.Join(t.Out, configName), p.config.TOML(), 0o644); err != nil {
		return nil, err
	}
	r.note("%s: %s rows to learn from, %s held out, %s", p.facts.Name, rowsText(p.facts.Rows), rowsText(p.facts.Held), shapeText(p.facts))
	if p.facts.Stream {
		r.note("the data are read from the disk while training")
	}
	r.note("net %s, objective %s, sigma %s, %d steps of %d, seed %d", p.config.Net, p.config.Objective, p.config.Sigma, p.config.Steps, p.config.Batch, p.config.Seed)
	options, err := r.options()
	if err != nil {
		return nil, err
	}
	if err := r.writeSummary(nil); err != nil {
		return nil, err
	}
	r.ctx, begun = ctx, true
	fitted, fitErr := scorekit.Fit(ctx, b, model, objective, p.data, options...)
	if fitted == nil {
		if ctx.Err() != nil {
			return r.summary(nil), fmt.Errorf("stopped before the first step: %w", fitErr)
		}
		return nil, fitErr
	}
	err = errors.Join(r.history.write(fitted.History()), r.writeSummary(fitted))
	return r.summary(fitted), errors.Join(fitErr, err)
}

// running is a training while it goes on.
type running struct {
	Training
	*prepared
	ctx     context.Context
	backend backends.Backend
	history *history
	began   time.Time
	before  float64 // seconds that earlier calls took
	last    int     // step of the last samples
}

func (r *running) note(format string, arguments ...any) {
	if r.Note != nil {
		r.Note(fmt.Sprintf(format, arguments...))
	}
}

func (r *running) options() ([]scorekit.FitOption, error) {
	c := r.config
	facts, err := json.Marshal(r.facts)
	if err != nil {
		return nil, err
	}
	pipe, err := r.pipe.Option()
	if err != nil {
		return nil, err
	}
	options := []scorekit.FitOption{
		scorekit.WithSteps(c.Steps), scorekit.WithBatch(c.Batch), scorekit.WithOptimizer(c.optimizer()), scorekit.WithEMA(c.EMA),
		scorekit.WithSeed(c.Seed), scorekit.WithDType(c.dtype()), scorekit.WithProgress(r.Progress), scorekit.WithCallback(r.after),
		scorekit.WithCheckpoints(filepath.Join(r.Out, checkpointsDir), c.CheckpointEvery),
		scorekit.WithMetadata(factsKey, string(facts)), pipe,
	}
	if c.ClipNorm > 0 {
		options = append(options, scorekit.WithClipNorm(c.ClipNorm))
	}
	if c.Cond {
		options = append(options, scorekit.WithClassDropout(c.Dropout))
	}
	if r.Resume {
		options = append(options, scorekit.WithResume())
	}
	return options, nil
}

func (c Config) optimizer() scorekit.Optimizer {
	rate := scorekit.Rate{Peak: c.Rate, WarmUp: c.WarmUp, Cosine: c.Cosine}
	switch c.Optimizer {
	case "adamw":
		return scorekit.AdamW{Rate: rate, Decay: c.Decay}
	case "sgd":
		return scorekit.SGD{Rate: rate}
	}
	return scorekit.Adam{Rate: rate}
}

func (c Config) dtype() dtypes.DType {
	if c.DType == "float64" {
		return dtypes.Float64
	}
	return dtypes.Float32
}

// after is called after each block of steps. What it does draws no number that the training draws: samples have a seed
// and a random state of their own.
func (r *running) after(s *scorekit.FitStep) error {
	if r.last == 0 { // the first block: a resumed run has its samples up to there already
		r.last = s.Step - 1
	}
	if s.Step%r.config.CheckpointEvery == 0 && s.Step < s.Total {
		stats, err := s.Stats()
		if err != nil {
			return err
		}
		if err := r.history.write(stats); err != nil {
			return err
		}
	}
	every := r.config.SamplesEvery
	if every < 0 || r.last/every == s.Step/every && s.Step < s.Total || r.ctx.Err() != nil {
		return nil
	}
	r.last = s.Step
	fitted, err := s.Fitted()
	if err != nil {
		return err
	}
	if err := r.preview(fitted); err != nil && r.ctx.Err() == nil {
		r.note("step %d: no samples: %v", s.Step, err)
	}
	return nil
}

// preview draws samples of the model as it is. A model that cannot be drawn from yet does not stop its training.
func (r *running) preview(fitted *scorekit.Fitted) error {
	s := DefaultSampling()
	s.N, s.Seed, s.Preview = r.config.Samples, r.config.Seed, true
	if r.config.Cond {
		s.Class = "all"
	}
	run := &Run{Dir: r.Out, Config: r.config, Facts: r.facts, Fitted: fitted, pipe: r.pipe}
	drawn, err := run.draw(r.ctx, r.backend, s, nil)
	if err != nil {
		return err
	}
	end := ".csv"
	if r.facts.Kind == "images" || r.facts.dim() == 2 {
		end = ".png"
	}
	return drawn.Save(filepath.Join(r.Out, samplesDir, fmt.Sprintf("step-%06d%s", fitted.Steps(), end)))
}

// resumeCommand returns the command that goes on with the run.
func (r *running) resumeCommand() string {
	return fmt.Sprintf("%s train --resume --out %s", r.Command, quote(r.Out))
}

func (r *running) summary(fitted *scorekit.Fitted) *Summary {
	s := &Summary{Steps: r.config.Steps, Seconds: round(r.before+time.Since(r.began).Seconds(), 4), Data: r.facts, Net: r.config.Net,
		Objective: r.config.Objective, Sigma: r.config.Sigma, Seed: r.config.Seed, Versions: versions(r.backend), Folder: r.Out}
	if fitted != nil {
		s.Step, s.Parameters = fitted.Steps(), fitted.NumParameters()
		if all := r.history.all(fitted.History()); len(all) > 0 {
			loss := recent(all)
			s.Loss = &loss
		}
	}
	if s.Finished = s.Step >= s.Steps; !s.Finished {
		s.Resume = r.resumeCommand()
	}
	return s
}

func (r *running) writeSummary(fitted *scorekit.Fitted) error {
	return writeJSON(filepath.Join(r.Out, summaryName), r.summary(fitted))
}

// shapeText says what an example is.
func shapeText(f Facts) string {
	if f.Kind == "images" {
		kind := "grey"
		if f.Channels == 3 {
			kind = "colour"
		}
		return fmt.Sprintf("%s images of %d×%d", kind, f.Height, f.Width)
	}
	return fmt.Sprintf("%d columns", f.dim())
}
