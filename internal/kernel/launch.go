package kernel

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// Launch becomes GoNB for the Jupyter connection file, with the set-up folder that the running program was installed
// into. It returns, with the exit status, only when that fails or where a program cannot become another.
func Launch(connection string) int {
	status, err := launch(connection)
	if err != nil {
		fmt.Fprintln(os.Stderr, "notebook kernel:", err)
		return 1
	}
	return status
}

func launch(connection string) (int, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	// The program lies in the set-up folder's bin folder.
	setup := filepath.Dir(filepath.Dir(self))
	goTool, err := exec.LookPath("go")
	if err != nil {
		return 0, fmt.Errorf("no go program on PATH: install Go from https://go.dev/dl and start Jupyter again")
	}
	if goTool, err = filepath.Abs(goTool); err != nil {
		return 0, err
	}
	root, err := Module(".")
	if err != nil {
		return 0, err
	}
	gonb := filepath.Join(filepath.Dir(self), Program("gonb"))
	environ := Environment(os.Environ(), setup, root, goTool)
	return become(gonb, []string{gonb, "--kernel", connection, "--raw_error"}, environ), nil
}

// Program returns the file name of a program on this system.
func Program(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}
