package experiment

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/scorekit/lab/internal/atomicfile"
)

// Names in the folder of a run.
const (
	configName     = "config.toml"
	summaryName    = "summary.json"
	lossName       = "loss.csv"
	curveName      = "loss.png"
	checkpointsDir = "checkpoints"
	samplesDir     = "samples"
)

// openFolder makes the folder of a run, or finds that of one to go on with. A folder that holds another run, or anything
// else, is refused. undo takes back what was made, with the config and the summary of a new run that could then not begin:
// the same command would be refused otherwise.
func openFolder(dir string, resume bool, command string) (undo func(), err error) {
	entries, err := os.ReadDir(dir)
	isNew := errors.Is(err, fs.ErrNotExist)
	if err != nil && !isNew {
		if info, statErr := os.Stat(dir); statErr == nil && !info.IsDir() {
			return nil, fmt.Errorf("out %s: is a file: must be a new folder", dir)
		}
		return nil, fmt.Errorf("out: %w", err)
	}
	_, configErr := os.Stat(filepath.Join(dir, configName))
	switch isRun := configErr == nil; {
	case resume && !isRun:
		return nil, fmt.Errorf("out %s: holds no run to go on with: leave --resume out to begin one", dir)
	case !resume && isRun:
		return nil, fmt.Errorf("out %s: holds a run already: name another folder, remove it, or go on with it: %s train --resume --out %s", dir, command, quote(dir))
	case !resume && len(entries) > 0:
		return nil, fmt.Errorf("out %s: holds other files: must be a new or empty folder", dir)
	}
	undo = func() {
		if resume {
			return
		}
		for _, name := range []string{configName, summaryName, samplesDir} {
			os.Remove(filepath.Join(dir, name))
		}
		if isNew {
			os.Remove(dir)
		}
	}
	for _, folder := range []string{dir, filepath.Join(dir, samplesDir)} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			undo()
			return nil, fmt.Errorf("out: %w", err)
		}
	}
	return undo, nil
}

// ReadConfig returns the settings of the run in a folder.
func ReadConfig(dir string) (Config, error) {
	path := filepath.Join(dir, configName)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(dir); err != nil {
			return Config{}, fmt.Errorf("there is no folder %s", dir)
		}
		return Config{}, fmt.Errorf("folder %s holds no run: there is no %s in it", dir, configName)
	}
	c := Default()
	if err := c.Read(path); err != nil {
		return Config{}, err
	}
	if err := c.Validate(); err != nil {
		return Config{}, fmt.Errorf("config file %s: %w", path, err)
	}
	return c, nil
}

// writeJSON writes a document that a reader finds whole or not at all.
func writeJSON(path string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return atomicfile.Write(path, append(text, '\n'), 0o644)
}

func readJSON(path string, v any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
