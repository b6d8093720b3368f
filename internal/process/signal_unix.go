//go:build unix

package process

import (
	"os"
	"os/exec"
	"syscall"
)

// stopGroup asks the child's group to stop.
func stopGroup(command *exec.Cmd) error {
	err := syscall.Kill(-command.Process.Pid, syscall.SIGTERM)
	if err == syscall.ESRCH {
		return os.ErrProcessDone
	}
	return err
}

// killGroup kills what is left of the child's group; an empty group is the usual case.
func killGroup(command *exec.Cmd) {
	if command.Process != nil {
		_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
	}
}
