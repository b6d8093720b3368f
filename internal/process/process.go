// Package process runs other programs so that they, and what they start, end when the work is cancelled.
//
// A child runs in a process group of its own. Cancelling its context asks the whole group to stop and, when it has not
// stopped within [Grace], kills it. A Ctrl-C in a terminal therefore reaches a child only through the context, once
// and in an order that the caller chooses. On Linux a child is also asked to stop when this program itself is killed.
//
// Map: process.go makes the command; group_*.go and signal_unix.go hold what differs by system.
package process

import (
	"context"
	"os/exec"
	"time"
)

// Grace is how long a child may take to stop after it was asked to.
const Grace = 8 * time.Second

// Command is [exec.CommandContext] with the ending described in the package comment.
func Command(ctx context.Context, name string, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, name, arguments...)
	ownGroup(command)
	command.Cancel = func() error { return stopGroup(command) }
	// Also bounds the wait for a grandchild that holds on to the output after the child is gone.
	command.WaitDelay = Grace
	return command
}

// Run runs the command to its end and then kills what is left of its group, so that nothing that it started outlives
// it. The error is that of [exec.Cmd.Run], or the context's when the context ended the command.
func Run(ctx context.Context, command *exec.Cmd) error {
	err := command.Run()
	killGroup(command)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
