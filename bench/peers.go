// Package bench holds the benchmark's programs in other libraries. README.md defines the tasks and says how to run them;
// the programs are in peers, and this one, with what runs them all, in internal/benchmark.
package bench

import (
	"embed"
	"io/fs"
	"os"
	"path/filepath"
)

//go:embed peers/*.py
var peers embed.FS

// WritePeers writes the programs to a folder, which must exist.
func WritePeers(folder string) error {
	entries, err := fs.ReadDir(peers, "peers")
	if err != nil {
		return err
	}
	for _, e := range entries {
		text, err := peers.ReadFile("peers/" + e.Name())
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, e.Name()), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
