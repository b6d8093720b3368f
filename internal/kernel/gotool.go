package kernel

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// GoTool is the stand-in for go: it runs the real go with the arguments and, after a "go mod init" that succeeded, links
// the new module in the working folder with the one that cells may import. It returns the exit status.
func GoTool(arguments []string) int {
	goTool := os.Getenv(realGoVar)
	if goTool == "" {
		fmt.Fprintf(os.Stderr, "go stand-in: %s is not set: this program is only for notebooks\n", realGoVar)
		return 2
	}
	isInit := len(arguments) >= 2 && arguments[0] == "mod" && arguments[1] == "init"
	if !isInit {
		return become(goTool, append([]string{goTool}, arguments...), os.Environ())
	}
	if status := runChild(goTool, arguments, os.Environ()); status != 0 {
		return status
	}
	if err := Link(".", os.Getenv(RootVar)); err != nil {
		fmt.Fprintln(os.Stderr, "go stand-in:", err)
		return 1
	}
	return 0
}

// runChild runs a program on this one's standard streams and returns its exit status.
func runChild(program string, arguments, environ []string) int {
	command := exec.Command(program, arguments...)
	command.Env = environ
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := command.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() > 0:
		return exit.ExitCode()
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
