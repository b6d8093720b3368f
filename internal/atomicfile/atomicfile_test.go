package atomicfile_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/scorekit/lab/internal/atomicfile"
)

// onlyFile fails unless name is the only entry of folder and holds want.
func onlyFile(t *testing.T, folder, name, want string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 || entries[0].Name() != name {
		t.Fatalf("folder holds %v, want only %s", entries, name)
	}
	got, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Fatalf("%s holds %q, want %q", name, got, want)
	}
}

func TestWriteReplaces(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "weights.bin")
	for _, content := range []string{"first and long", "second", ""} {
		if err := atomicfile.Write(path, []byte(content), 0o640); err != nil {
			t.Fatal(err)
		}
		onlyFile(t, folder, "weights.bin", content)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("permissions %v, want 0640", info.Mode().Perm())
	}
}

func TestFailureKeepsOldFile(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "weights.bin")
	if err := atomicfile.Write(path, []byte("good"), 0o600); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("the source broke")
	err := atomicfile.WriteFunc(path, 0o600, func(w io.Writer) error {
		// More than any buffer, so that part of it reaches the temporary file.
		if _, err := io.WriteString(w, strings.Repeat("bad", 100_000)); err != nil {
			return err
		}
		return broken
	})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v: want the writer's error and the path", err)
	}
	onlyFile(t, folder, "weights.bin", "good")

	func() {
		defer func() {
			if recover() == nil {
				t.Error("the writer's panic was swallowed")
			}
		}()
		_ = atomicfile.WriteFunc(path, 0o600, func(io.Writer) error { panic("broken") })
	}()
	onlyFile(t, folder, "weights.bin", "good")
}

func TestRenameFailureRemovesTemporaryFile(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "occupied")
	if err := os.MkdirAll(filepath.Join(path, "child"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(path, []byte("data"), 0o600); err == nil {
		t.Fatal("a folder was replaced by a file")
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestMissingFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "missing", "file")
	err := atomicfile.Write(path, nil, 0o600)
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v: want one that is os.ErrNotExist and names %s", err, path)
	}
}

// TestReadersNeverSeeAPart lets four writers replace a file while a reader reads it: each content read must be whole.
func TestReadersNeverSeeAPart(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "file")
	content := func(k int) string { return strings.Repeat(fmt.Sprint(k), 20_000) }
	if err := atomicfile.Write(path, []byte(content(0)), 0o600); err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	for k := range 4 {
		writers.Go(func() {
			for range 10 {
				if err := atomicfile.Write(path, []byte(content(k)), 0o600); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { writers.Wait(); close(done) }()
	for reading := true; reading; {
		select {
		case <-done:
			reading = false
		default:
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 20_000 || string(got) != content(int(got[0]-'0')) {
			t.Fatalf("read a part or a mixture of %d bytes", len(got))
		}
	}
}

func ExampleWriteFunc() {
	folder, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "report.txt")
	err = atomicfile.WriteFunc(path, 0o644, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, "all of it or nothing")
		return err
	})
	if err != nil {
		panic(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	fmt.Print(string(text))
	// Output: all of it or nothing
}
