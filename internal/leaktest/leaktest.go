// Package leaktest finds what a piece of work leaves behind in the process that did it: goroutines, open files and
// temporary files. It is for tests.
package leaktest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

// patience is how long what ends by itself may take to do so, as a goroutine that was told to stop does.
const patience = 5 * time.Second

// Run runs f with an empty folder for temporary files and fails the test for each goroutine, open file and temporary file
// that is there afterwards and was not before. Open files are looked at on Linux alone. What f opens on purpose, such as a
// backend, must be opened before.
func Run(t *testing.T, f func()) {
	t.Helper()
	temp := t.TempDir()
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		t.Setenv(name, temp)
	}
	goroutines, files := running(), open()
	f()
	var left []string
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		left = nil
		for id, stack := range running() {
			if _, was := goroutines[id]; !was {
				left = append(left, "a goroutine: "+stack)
			}
		}
		for name, n := range open() {
			if more := n - files[name]; more > 0 {
				left = append(left, fmt.Sprintf("an open file, %d times: %s", more, name))
			}
		}
		temporary, err := filepath.Glob(filepath.Join(temp, "*"))
		if err != nil {
			t.Fatal(err)
		}
		hidden, err := filepath.Glob(filepath.Join(temp, ".*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range append(temporary, hidden...) {
			left = append(left, "a temporary file: "+path)
		}
		if len(left) == 0 || time.Now().After(end) {
			break
		}
	}
	for _, what := range left {
		t.Errorf("left behind: %s", what)
	}
}

var number = regexp.MustCompile(`^goroutine (\d+) `)

// running returns the stacks of all goroutines but this one, by their numbers. Those that Go itself keeps once they are
// started, for signals and for the deadline of a test, are left out.
func running() map[string]string {
	buffer := make([]byte, 1<<20)
	for {
		n := runtime.Stack(buffer, true)
		if n < len(buffer) {
			buffer = buffer[:n]
			break
		}
		buffer = make([]byte, 2*len(buffer))
	}
	found := map[string]string{}
	for i, stack := range strings.Split(string(buffer), "\n\n") {
		m := number.FindStringSubmatch(stack)
		if i == 0 || m == nil || strings.Contains(stack, "os/signal.loop") || strings.Contains(stack, "created by testing.") {
			continue
		}
		found[m[1]] = stack
	}
	return found
}

// open counts the open files by name. What Go's own scheduler waits with is left out.
func open() map[string]int {
	const folder = "/proc/self/fd"
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	found := map[string]int{}
	for _, e := range entries {
		name, err := os.Readlink(filepath.Join(folder, e.Name()))
		if err != nil || name == "anon_inode:[eventpoll]" || name == "anon_inode:[eventfd]" { // the folder itself is closed by now
			continue
		}
		found[name]++
	}
	return found
}
