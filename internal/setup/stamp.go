package setup

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/scorekit/lab/internal/atomicfile"
)

func stampFile(setup, step string) string { return filepath.Join(setup, "stamps", step) }

// readStamp returns the text that a step was made from, and whether it was made to its end.
func readStamp(setup, step string) (string, bool) {
	text, err := os.ReadFile(stampFile(setup, step))
	return string(text), err == nil
}

func hasStamp(setup, step string) bool {
	_, ok := readStamp(setup, step)
	return ok
}

// writeStamp says that a step is done, and from what.
func writeStamp(setup, step, from string) error {
	file := stampFile(setup, step)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return atomicfile.Write(file, []byte(from), 0o644)
}

func removeStamp(setup, step string) error {
	err := os.Remove(stampFile(setup, step))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// hashOf returns a line for a stamp: a name and a hash of the files' names and contents.
func hashOf(name string, files ...string) (string, error) {
	hash := sha256.New()
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(hash, "%s %d\n", filepath.Base(file), len(data))
		hash.Write(data)
	}
	return fmt.Sprintf("%s sha256:%x\n", name, hash.Sum(nil)), nil
}
