//go:build unix

package kernel

import (
	"fmt"
	"os"
	"syscall"
)

// become replaces this process by another program; it returns only when that fails.
func become(program string, arguments, environ []string) int {
	err := syscall.Exec(program, arguments, environ)
	fmt.Fprintf(os.Stderr, "%s: %v\n", program, err)
	return 1
}
