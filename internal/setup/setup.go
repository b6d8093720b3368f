// Package setup installs what the notebooks need, all of it in one folder (package home) that can be deleted again: Python
// with JupyterLab, the XLA plugin, the Go kernel GoNB and its launcher (package kernel).
//
// The work is a list of steps. Each step knows what it is made from, as a few lines of text: versions, hashes of the
// files that pin them. When a step is done that text is written beside it as its stamp. A step whose stamp says the same
// is fresh and is left alone, so a second set-up takes milliseconds; a step whose stamp says something else is made
// anew. The stamp goes first and comes back last, so that a set-up that was killed at any moment, even by a power cut,
// heals by itself at the next. A lock keeps two set-ups apart, and ends with the process that holds it.
//
// Map: setup.go runs the steps, step.go is one of them, stamp.go its stamp, lock.go the lock, place.go chooses the folder,
// run.go runs tools and explains their failures; python.go, plugin*.go, tools.go, gopls.go, modules.go and kernelspec.go are
// the steps themselves; jupyter.go is the environment in which Jupyter runs.
package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/scorekit/lab/internal/home"
)

// Setup says what to set up and where. Home and Checkout are absolute paths, as from [Find].
type Setup struct {
	// Home is the set-up folder, made when missing.
	Home string
	// Checkout is the folder of this project's sources, from which versions are read and programs are built.
	Checkout string
	// GPU asks for the CUDA plugin too.
	GPU bool
	// Gopls asks for gopls too, which completes names in cells.
	Gopls bool
	// Force makes every step anew.
	Force bool
	// Out is told what is being done, a line or two a step.
	Out io.Writer
}

// Ensure makes every step that is missing or stale. When all are fresh it writes nothing and takes no lock. The error names
// the step that failed and what to do about it; steps done before it stay done.
func (s Setup) Ensure(ctx context.Context) error { return s.ensure(ctx, s.steps()) }

func (s Setup) ensure(ctx context.Context, steps []step) error {
	if err := ownable(s.Home); err != nil {
		return err
	}
	if !s.Force {
		stale, err := s.stale(ctx, steps)
		if err != nil || len(stale) == 0 {
			return err
		}
	}
	if err := mark(s.Home); err != nil {
		return explain(err)
	}
	unlock, err := lock(ctx, s.Home, s.Out)
	if err != nil {
		return err
	}
	defer unlock()
	// Another set-up may have done the work while this one waited.
	stale := steps
	if !s.Force {
		if stale, err = s.stale(ctx, steps); err != nil || len(stale) == 0 {
			return err
		}
	}
	fmt.Fprintf(s.Out, "Setting up the notebooks in %s (scorelab clean removes it)\n", s.Home)
	begin := time.Now()
	for k, step := range stale {
		if err := s.make(ctx, step, fmt.Sprintf("%d/%d", k+1, len(stale))); err != nil {
			return err
		}
	}
	fmt.Fprintf(s.Out, "Set-up done in %s\n", seconds(time.Since(begin)))
	return nil
}

// stale returns the steps that are not fresh, in order.
func (s Setup) stale(ctx context.Context, steps []step) ([]step, error) {
	var stale []step
	for _, step := range steps {
		state, err := s.state(ctx, step)
		if err != nil {
			return nil, err
		}
		if state != Fresh {
			stale = append(stale, step)
		}
	}
	return stale, nil
}

// make makes one step: the stamp goes, the work is done, the stamp comes.
func (s Setup) make(ctx context.Context, step step, count string) error {
	fmt.Fprintf(s.Out, "%s  %s …\n", count, step.doing)
	begin := time.Now()
	err := func() error {
		from, err := step.from(ctx)
		if err != nil {
			return err
		}
		if err := removeStamp(s.Home, step.name); err != nil {
			return err
		}
		note, err := step.do(ctx)
		if err != nil {
			if ctx.Err() == nil {
				err = errors.Join(err, hasRoom(s.Home)) // tools do not always say that it was that
			}
			for _, folder := range step.partial {
				err = errors.Join(err, os.RemoveAll(folder))
			}
			return err
		}
		if note != "" {
			fmt.Fprintf(s.Out, "     %s\n", note)
		}
		return writeStamp(s.Home, step.name, from)
	}()
	if cause := context.Cause(ctx); cause != nil {
		return fmt.Errorf("set-up stopped at %q; run it again and it goes on from there: %w", step.name, cause)
	}
	if err != nil {
		return fmt.Errorf("set-up, %s: %w", step.name, explain(err))
	}
	fmt.Fprintf(s.Out, "     done in %s\n", seconds(time.Since(begin)))
	return nil
}

// steps lists the steps in the order in which they are made. What was asked for once is kept fresh from then on.
func (s Setup) steps() []step {
	steps := []step{s.pythonStep(), s.kernelspecStep(), s.toolsStep(), s.launcherStep(), s.modulesStep(), s.cpuPluginStep()}
	if s.GPU || hasStamp(s.Home, cudaName) {
		steps = append(steps, s.cudaPluginStep())
	}
	if s.Gopls || hasStamp(s.Home, goplsName) {
		steps = append(steps, s.goplsStep())
	}
	return steps
}

// Clean removes the set-up folder. It refuses a folder that no set-up made, and waits for a set-up at work in it.
func Clean(ctx context.Context, dir string, out io.Writer) error {
	if !Marked(dir) {
		return fmt.Errorf("%s is not a set-up folder (no file %s in it): remove it by hand if it should go", dir, markerName)
	}
	unlock, err := lock(ctx, dir, out)
	if err != nil {
		return err
	}
	defer unlock()
	// The plugin list goes first and the marker last, so that a half removed folder is not used but can be removed.
	if err := os.RemoveAll(home.XLA(dir)); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if name := entry.Name(); name != markerName && name != lockName {
			err = errors.Join(err, os.RemoveAll(in(dir, name)))
		}
	}
	if err != nil {
		return err
	}
	unlock()
	return os.RemoveAll(dir)
}

func seconds(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%.0f s", d.Seconds())
}
