package filelock_test

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/scorekit/lab/internal/filelock"
)

const held = "FILELOCK_TEST_HOLDS"

// TestMain is, with a path in the environment, the other process of TestOtherProcess.
func TestMain(m *testing.M) {
	path := os.Getenv(held)
	if path == "" {
		os.Exit(m.Run())
	}
	_, locked, err := filelock.Try(path)
	if err != nil || !locked {
		os.Exit(3)
	}
	os.Stdout.WriteString("locked\n")
	select {} // until it is killed
}

func try(t *testing.T, path string, want bool) func() {
	t.Helper()
	unlock, locked, err := filelock.Try(path)
	if err != nil {
		t.Fatal(err)
	}
	if locked != want {
		t.Fatalf("locked %v, want %v", locked, want)
	}
	return unlock
}

func TestSameProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock := try(t, path, true)
	try(t, path, false)
	try(t, path+"2", true)()
	unlock()
	unlock()
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the lock file after unlock: %v, want it gone", err)
	}
	try(t, path, true)()
}

// TestOneAtATime has many want the lock, each for a moment, which must never be granted to two at once although every
// holder removes the file.
func TestOneAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	var inside, most, turns atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for got := 0; got < 200; {
				unlock, locked, err := filelock.Try(path)
				if err != nil {
					t.Error(err)
					return
				}
				if !locked {
					runtime.Gosched()
					continue
				}
				most.Store(max(most.Load(), inside.Add(1)))
				runtime.Gosched()
				inside.Add(-1)
				unlock()
				got++
				turns.Add(1)
			}
		})
	}
	all.Wait()
	if most.Load() != 1 || turns.Load() != 1600 {
		t.Errorf("up to %d at once in %d turns, want 1 in 1600", most.Load(), turns.Load())
	}
}

// TestOtherProcess has another process hold the lock, and be killed: the lock must go with it.
func TestOtherProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), held+"="+path)
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("the other process said %q: %v", line, err)
	}
	try(t, path, false)
	if err := other.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := other.Wait(); err == nil {
		t.Fatal("the other process ended by itself")
	}
	try(t, path, true)()
}

func TestNoFolder(t *testing.T) {
	if _, locked, err := filelock.Try(filepath.Join(t.TempDir(), "none", "lock")); err == nil || locked {
		t.Errorf("locked %v, error %v: want an error", locked, err)
	}
}
