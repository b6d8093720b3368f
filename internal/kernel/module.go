package kernel

import (
	"fmt"
	"os"
	"path/filepath"
)

// RootVar names the environment variable that says which module cells may import, where that isn't the one that the
// working folder lies in.
const RootVar = "SCORELAB_ROOT"

// Module returns the folder of the module that cells may import: $SCORELAB_ROOT, else the nearest folder with a go.mod
// in the folder dir or above it, else "". The error tells of a $SCORELAB_ROOT without a go.mod.
func Module(dir string) (string, error) {
	if root := os.Getenv(RootVar); root != "" {
		if !isFile(filepath.Join(root, "go.mod")) {
			return "", fmt.Errorf("%s=%s: that folder has no go.mod", RootVar, root)
		}
		return filepath.Abs(root)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		if isFile(filepath.Join(dir, "go.mod")) {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", nil
		}
	}
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
