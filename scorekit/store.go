package scorekit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scorekit/lab/internal/atomicfile"
	"github.com/scorekit/lab/internal/filelock"
	"github.com/scorekit/lab/internal/safetensors"
)

// store is a folder of checkpoints: step-000001000.safetensors and so on. The two newest are kept.
type store struct {
	dir    string
	unlock func() // nil in one that is only read
}

const (
	checkpointPrefix = "step-"
	checkpointSuffix = ".safetensors"
	keepCheckpoints  = 2

	lockName = ".lock" // there while a run writes to the folder
)

// openStore makes the folder, if need be, and keeps other runs out of it until close: they would remove each other's
// checkpoints.
func openStore(dir string) (*store, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("checkpoint folder: %w", err)
	}
	// A folder that cannot be written to must be known now and not after hours of training.
	probe, err := os.CreateTemp(dir, "."+checkpointPrefix+"*.tmp")
	if err != nil {
		return nil, fmt.Errorf("checkpoint folder: %w", err)
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		return nil, fmt.Errorf("checkpoint folder: %w", err)
	}
	unlock, locked, err := filelock.Try(filepath.Join(dir, lockName))
	if err != nil {
		return nil, fmt.Errorf("checkpoint folder: %w", err)
	}
	if !locked {
		return nil, fmt.Errorf("checkpoint folder %s: another run is writing to it: wait for its end, or give another folder", dir)
	}
	return &store{dir, unlock}, nil
}

func (s *store) close() { s.unlock() }

// list returns the paths of the checkpoints, newest first.
func (s *store) list() ([]string, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, fmt.Errorf("checkpoint folder: %w", err)
	}
	var paths []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), checkpointPrefix) && strings.HasSuffix(e.Name(), checkpointSuffix) {
			paths = append(paths, filepath.Join(s.dir, e.Name()))
		}
	}
	slices.Sort(paths)
	slices.Reverse(paths)
	return paths, nil
}

// newest reads the newest checkpoint that is whole. Damaged ones, and those that a run still going on has removed by
// now, are passed over; when none is left the error tells what is wrong with each. A file that may be good but cannot
// be read, for want of permission or as one of a later format, is an error. It returns nil without an error for a
// folder without checkpoints.
func (s *store) newest() (*checkpoint, error) {
	paths, err := s.list()
	if err != nil || len(paths) == 0 {
		return nil, err
	}
	var problems []error
	for _, path := range paths {
		c, err := readCheckpoint(path)
		if err == nil {
			return c, nil
		}
		if !errors.Is(err, safetensors.ErrDamaged) && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		problems = append(problems, err)
	}
	return nil, fmt.Errorf("no checkpoint in %s can be read: %w", s.dir, errors.Join(problems...))
}

// save writes a checkpoint under its step and then removes those older than the previous one. A file of a later step
// does not count: it is a damaged one, or the run would have gone on from it.
func (s *store) save(c *checkpoint) error {
	path := filepath.Join(s.dir, fmt.Sprintf("%s%09d%s", checkpointPrefix, c.Step, checkpointSuffix))
	if err := atomicfile.WriteFunc(path, 0o644, func(w io.Writer) error { return c.write(w) }); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	paths, err := s.list()
	if err != nil {
		return err
	}
	paths = paths[max(0, slices.Index(paths, path)):]
	for _, old := range paths[min(len(paths), keepCheckpoints):] {
		if err := os.Remove(old); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("checkpoint: removing an old one: %w", err)
		}
	}
	return s.sweep()
}

// sweep removes the temporary files that a killed run left behind.
func (s *store) sweep() error {
	left, err := filepath.Glob(filepath.Join(s.dir, "."+checkpointPrefix+"*.tmp"))
	if err != nil {
		return err
	}
	for _, path := range left {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("checkpoint: removing what an interrupted run left: %w", err)
		}
	}
	return nil
}
