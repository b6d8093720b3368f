package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/mod/modfile"

	"github.com/scorekit/lab/internal/atomicfile"
	"github.com/scorekit/lab/internal/home"
)

const (
	modulePath = "github.com/scorekit/lab"
	markerName = "SCORELAB"
	markerText = "This folder was made by \"scorelab setup\"; \"scorelab clean\" removes it.\n"
)

// Checkout returns the folder of this project's sources: the nearest one, from dir upwards, whose go.mod is this module's.
func Checkout(dir string) (string, error) {
	start, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && modfile.ModulePath(text) == modulePath {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("%s is not in a checkout of %s: clone it and run this inside", start, modulePath)
		}
	}
}

// Find returns the set-up of the checkout that the folder dir lies in. Its folder is $SCORELAB_HOME, else with user the one
// that all of the user's programs share, else .scorelab in the checkout, else, when that is missing and the shared one
// exists, the shared one.
func Find(dir string, user bool) (Setup, error) {
	checkout, err := Checkout(dir)
	if err != nil {
		return Setup{}, err
	}
	s := Setup{Checkout: checkout, Home: filepath.Join(checkout, home.FolderName), Out: os.Stdout}
	shared, sharedErr := home.UserDir()
	switch set := os.Getenv(home.EnvVar); {
	case set != "":
		s.Home, err = filepath.Abs(set)
	case user:
		s.Home, err = shared, sharedErr
	case sharedErr == nil && !Marked(s.Home) && Marked(shared):
		s.Home = shared
	}
	return s, err
}

// Marked tells whether a set-up made the folder.
func Marked(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, markerName))
	return err == nil
}

// ownable fails when the folder holds something and was not made by a set-up.
func ownable(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && (len(entries) == 0 || Marked(dir)) {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("%s holds files that no set-up made: empty it, or name another folder by %s", dir, home.EnvVar)
}

// mark makes the folder and says in it whose it is, and that neither git nor a backup should keep it.
func mark(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	files := []struct{ name, text string }{
		{markerName, markerText},
		{".gitignore", "*\n"},
		{"CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n"},
	}
	for _, file := range files {
		path := filepath.Join(dir, file.name)
		if _, err := os.Stat(path); err == nil {
			continue
		}
		if err := atomicfile.Write(path, []byte(file.text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
