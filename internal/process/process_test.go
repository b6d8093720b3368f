//go:build unix

package process_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/scorekit/lab/internal/process"
)

// alive tells whether the process exists, dead ones that nobody has waited for not counted.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

// grandchild waits until the file holds a process id.
func grandchild(t *testing.T, file string) int {
	t.Helper()
	for range 500 {
		text, _ := os.ReadFile(file)
		if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			return pid
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the grandchild did not start")
	return 0
}

func TestCancelEndsGrandchildren(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	file := filepath.Join(t.TempDir(), "pid")
	done := make(chan error)
	go func() {
		done <- process.Run(ctx, process.Command(ctx, "sh", "-c", `sleep 600 & echo $! > "$0"; wait`, file))
	}()
	pid := grandchild(t, file)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
	for range 200 {
		if !alive(pid) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("grandchild %d outlived the cancelled command", pid)
}

func TestRunLeavesNothingBehind(t *testing.T) {
	ctx := context.Background()
	file := filepath.Join(t.TempDir(), "pid")
	if err := process.Run(ctx, process.Command(ctx, "sh", "-c", `sleep 600 & echo $! > "$0"`, file)); err != nil {
		t.Fatal(err)
	}
	pid := grandchild(t, file)
	for range 200 {
		if !alive(pid) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("grandchild %d outlived its parent", pid)
}
