//go:build !unix

package kernel

// become runs another program to its end, as this system cannot replace a process.
func become(program string, arguments, environ []string) int {
	return runChild(program, arguments[1:], environ)
}
