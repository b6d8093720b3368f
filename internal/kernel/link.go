package kernel

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/mod/modfile"

	"github.com/scorekit/lab/internal/atomicfile"
)

// Link makes the module in the folder temporary, fresh from "go mod init", able to import the module in the folder root
// and all that it requires, in the same versions and without a look at the network: it takes over root's go version and
// its require, replace and exclude lines, adds root itself by its folder, and copies go.sum. The error names the file that
// could not be read, understood or written.
func Link(temporary, root string) error {
	file := filepath.Join(temporary, "go.mod")
	made, err := parse(file)
	if err != nil {
		return err
	}
	known, err := parse(filepath.Join(root, "go.mod"))
	if err != nil {
		return err
	}
	if err := link(made, known, root); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	made.Cleanup()
	text, err := made.Format()
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := atomicfile.Write(filepath.Join(temporary, "go.sum"), sums, 0o644); err != nil {
		return err
	}
	return atomicfile.Write(file, text, 0o644)
}

// link adds to made what known, the go.mod in the folder root, holds.
func link(made, known *modfile.File, root string) error {
	if known.Module == nil {
		return fmt.Errorf("%s has no module line", filepath.Join(root, "go.mod"))
	}
	if known.Go != nil {
		if err := made.AddGoStmt(known.Go.Version); err != nil {
			return err
		}
	}
	for _, line := range known.Require {
		made.AddNewRequire(line.Mod.Path, line.Mod.Version, line.Indirect)
	}
	for _, line := range known.Exclude {
		if err := made.AddExclude(line.Mod.Path, line.Mod.Version); err != nil {
			return err
		}
	}
	for _, line := range known.Replace {
		target := line.New.Path
		if line.New.Version == "" && !filepath.IsAbs(target) {
			target = filepath.Join(root, filepath.FromSlash(target))
		}
		if err := made.AddReplace(line.Old.Path, line.Old.Version, target, line.New.Version); err != nil {
			return err
		}
	}
	path := known.Module.Mod.Path
	made.AddNewRequire(path, "v0.0.0", false)
	return made.AddReplace(path, "", root, "")
}

func parse(file string) (*modfile.File, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return modfile.Parse(file, text, nil)
}
