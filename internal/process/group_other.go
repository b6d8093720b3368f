//go:build !unix

package process

import "os/exec"

// ownGroup does nothing: this system has no process groups.
func ownGroup(*exec.Cmd) {}

// stopGroup ends the child itself.
func stopGroup(command *exec.Cmd) error { return command.Process.Kill() }

// killGroup does nothing: the child is gone, and what it started cannot be found.
func killGroup(*exec.Cmd) {}
