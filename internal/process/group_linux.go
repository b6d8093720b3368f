package process

import (
	"os/exec"
	"syscall"
)

// ownGroup gives the child a process group of its own, and has it asked to stop when this program dies.
func ownGroup(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
