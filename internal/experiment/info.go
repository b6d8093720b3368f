package experiment

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/scorekit/lab/scorekit"
)

// Info is what the folder of a run tells about it.
type Info struct {
	Summary
	Model     string `json:"model"`       // its type with its settings
	DType     string `json:"dtype"`       // of the weights
	Shape     []int  `json:"shape"`       // of what the network takes
	Transform string `json:"transform"`   // of the data
	Batch     int    `json:"batch"`       // examples a step
	Sample    string `json:"sample"`      // a command that draws
	Weights   bool   `json:"has_weights"` // whether there is a checkpoint
}

// ReadInfo returns what the folder of a run tells. A run without a checkpoint has no weights to tell of.
func ReadInfo(dir, command string) (*Info, error) {
	c, err := ReadConfig(dir)
	if err != nil {
		return nil, err
	}
	i := &Info{Transform: c.Transf, Batch: c.Batch, DType: c.DType}
	if err := readJSON(filepath.Join(dir, summaryName), &i.Summary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	i.Folder, i.Steps = dir, c.Steps
	fitted, err := scorekit.Load(filepath.Join(dir, checkpointsDir))
	if err == nil {
		i.Weights = true
		i.Model = fmt.Sprintf("%T%+v", fitted.Model(), fitted.Model())
		i.Shape, i.Parameters, i.Step = fitted.Shape(), fitted.NumParameters(), fitted.Steps()
	}
	i.Finished = i.Step >= i.Steps
	if i.Resume = ""; !i.Finished {
		i.Resume = fmt.Sprintf("%s train --resume --out %s", command, quote(dir))
	}
	i.Sample = fmt.Sprintf("%s sample --model %s -n 1000 --out samples.csv", command, quote(dir))
	if i.Data.Kind == "images" {
		i.Sample = fmt.Sprintf("%s sample --model %s -n 64 --out samples.png", command, quote(dir))
	}
	return i, nil
}
