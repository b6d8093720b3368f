// Package home knows the set-up folder: where it is, and what lies where in it.
//
// Everything that set-up installs is under that one folder, so that deleting it undoes the set-up:
//
//	xla/plugins.json   the XLA plugins installed, the preferred ones first
//	xla/probes.json    which plugins opened when they were tried
//	venv/              Python with JupyterLab
//	bin/               the notebook kernel and its tools
//	share/             kernel specification
//
// The command that sets up writes it; the backend reads it.
package home

import (
	"os"
	"path/filepath"
)

const (
	// EnvVar names the environment variable that says where the set-up folder is.
	EnvVar = "SCORELAB_HOME"
	// FolderName is the name of a set-up folder that is found by walking up from the working folder.
	FolderName = ".scorelab"
)

// Dir returns the absolute path of the set-up folder, and whether there is one. It is the first of
//
//  1. $SCORELAB_HOME, if that is set, whether or not the folder exists yet;
//  2. the nearest folder named .scorelab in the working folder or a folder above it;
//  3. the user's own, [UserDir], if it exists.
func Dir() (string, bool) {
	if dir := os.Getenv(EnvVar); dir != "" {
		abs, err := filepath.Abs(dir)
		return abs, err == nil
	}
	if working, err := os.Getwd(); err == nil {
		for dir := working; ; dir = filepath.Dir(dir) {
			if candidate := filepath.Join(dir, FolderName); isFolder(candidate) {
				return candidate, true
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	if dir, err := UserDir(); err == nil && isFolder(dir) {
		return dir, true
	}
	return "", false
}

// UserDir returns the path of the set-up folder that a user's programs share when there is none nearer:
// scorelab in the user's cache folder. It fails where the system cannot name a cache folder.
func UserDir() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(cache, "scorelab"), nil
}

// Venv returns the folder of the Python environment in the set-up folder home.
func Venv(home string) string { return filepath.Join(home, "venv") }

// Bin returns the folder of the programs built by set-up in the set-up folder home.
func Bin(home string) string { return filepath.Join(home, "bin") }

// Share returns the folder of the kernel specification in the set-up folder home.
func Share(home string) string { return filepath.Join(home, "share") }

// XLA returns the folder of the XLA plugins in the set-up folder home.
func XLA(home string) string { return filepath.Join(home, "xla") }

// PluginsFile returns the file that lists the XLA plugins installed: see [ReadPlugins].
func PluginsFile(home string) string { return filepath.Join(XLA(home), "plugins.json") }

// ProbesFile returns the file in which the backend remembers which plugins opened when they were tried.
func ProbesFile(home string) string { return filepath.Join(XLA(home), "probes.json") }

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
