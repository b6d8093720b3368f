package experiment

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/scorekit"
)

// Scoring is one call of the command's score. Its fields are flags, as those of [Config].
type Scoring struct {
	At       string  `key:"at" usage:"file with the points, in the units and with the columns of the data"`
	Sigma    float64 `key:"sigma" usage:"noise level, in the units of the transformed data; 0: the lowest of the training"`
	Class    string  `key:"class" usage:"class of the points, by number or name, for a conditional model; empty: the score of the data as a whole"`
	Guidance float64 `key:"guidance" usage:"how much further than its own score the class is followed; 0: not"`
	Backend  string  `key:"backend" usage:"what computes, as in GOMLX_BACKEND: xla, xla:cuda, go …; auto: the best that is installed"`
}

// DefaultScoring returns the settings that hold where nothing is said.
func DefaultScoring() Scoring { return Scoring{Backend: Auto} }

// Scored is the scores at given points.
type Scored struct {
	Facts  Facts
	Points *tensors.Tensor // [n, d], in the units of the data
	Score  *tensors.Tensor // [n, d], in one over these
	Sigma  float64         // 0 for none
}

// Score returns the scores of the model at the points of a file. For data x that were transformed to z = f(x) it is
//
//	∇ₓ log p(x) = (∂z/∂x)ᵀ ∇_z log p_σ(z) + ∇ₓ log|det ∂z/∂x|
//
// the gradient along the data's own columns. The noise of p_σ is added to z, in whose units σ is. Whole numbers are not
// spread over their cells.
func (r *Run) Score(ctx context.Context, s Scoring) (*Scored, error) {
	if s.At == "" {
		return nil, fmt.Errorf("at: must name a file with points")
	}
	b, err := r.backend(s.Backend)
	if err != nil {
		return nil, err
	}
	low, high := r.levels()
	switch {
	case s.Sigma < 0:
		return nil, fmt.Errorf("sigma %v: must be positive, or 0 for the lowest of the training", s.Sigma)
	case s.Sigma > 0 && low == 0:
		return nil, fmt.Errorf("sigma %v: the model was trained without noise: leave it out", s.Sigma)
	case s.Sigma > 0 && low == high && s.Sigma != low:
		return nil, fmt.Errorf("sigma %v: the model was trained for one noise level, %v: leave it out", s.Sigma, low)
	case s.Sigma == 0:
		s.Sigma = low
	}
	set, err := r.points(ctx, s.At)
	if err != nil {
		return nil, err
	}
	z, err := r.pipe.Transforms.Apply(set.X)
	if err != nil {
		return nil, err
	}
	shaped, err := r.shaped(z)
	if err != nil {
		return nil, err
	}
	classes, err := r.classes(Sampling{N: 1, Class: s.Class, Guidance: s.Guidance})
	if err != nil {
		return nil, err
	}
	var model scorekit.Model = r.Fitted
	if classes != nil {
		if s.Class == "all" {
			return nil, fmt.Errorf("class all: must be one class")
		}
		model = scorekit.Given{Model: r.Fitted, Classes: classes, Guidance: s.Guidance}
	}
	var sigma []float64
	if s.Sigma > 0 {
		sigma = []float64{s.Sigma}
	}
	score, err := scorekit.Evaluate(ctx, b, model, shaped, sigma...)
	if err != nil {
		return nil, err
	}
	if score, err = rows(score); err != nil {
		return nil, err
	}
	if score, err = r.pipe.Transforms.PullBack(set.X, score); err != nil {
		return nil, err
	}
	return &Scored{r.Facts, set.X, score, s.Sigma}, context.Cause(ctx)
}

// Save writes the scores to a file that ends in .npy or .csv.
func (s *Scored) Save(path string) error {
	if err := CheckOutput(path, ".npy", ".csv"); err != nil {
		return err
	}
	if strings.ToLower(filepath.Ext(path)) == ".npy" {
		return saveNPY(path, s.Score, s.Facts)
	}
	var names []string
	for _, name := range s.Facts.names() {
		names = append(names, "score_"+name)
	}
	return saveCSV(path, s.Score, names, nil)
}
