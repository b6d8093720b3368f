//go:build unix && !linux

package process

import (
	"os/exec"
	"syscall"
)

// ownGroup gives the child a process group of its own.
func ownGroup(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}
