// Package disktest lets tests see what becomes of work on a disk without room. It is for tests.
//
// There are two kinds. One limits the size of every file that the process and its children write, for which nobody needs
// rights. The other is a small disk in memory, mounted in a name space of the test's own by unshare, where the system allows
// that: errors there are those of a full disk, and all files share the room.
package disktest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Disk is a disk that can be filled.
type Disk struct {
	Dir   string // an empty folder on it
	mount string // "" for a limit on files
}

// Limited says that the disk is a limit on the size of files, at which the system's error is another one.
func (d Disk) Limited() bool { return d.mount == "" }

// kindVar and mountVar tell a process that was started for one subtest which it is, and where the small disk is.
const kindVar, mountVar = "DISKTEST_KIND", "DISKTEST_MOUNT"

// Each runs f as a subtest on either kind of disk, of which the small one has megabytes of room, and says which is left out.
// Either has a process of its own, that begins the test anew: what is done before Each is done in all three.
func Each(t *testing.T, megabytes int, f func(t *testing.T, d Disk)) {
	t.Helper()
	if kind := os.Getenv(kindVar); kind != "" {
		t.Run(kind, func(t *testing.T) {
			d := Disk{Dir: t.TempDir(), mount: os.Getenv(mountVar)}
			if d.mount != "" {
				d.Dir = filepath.Join(d.mount, "work")
				if err := os.Mkdir(d.Dir, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			f(t, d)
		})
		return
	}
	name := t.Name()
	again := func(t *testing.T, kind, mount string, before ...string) {
		line := append(before, os.Args[0], "-test.run=^"+strings.ReplaceAll(name, "/", "$/^")+"$/^"+kind+"$", "-test.v")
		command := exec.Command(line[0], line[1:]...)
		command.Env = append(os.Environ(), kindVar+"="+kind, mountVar+"="+mount)
		out, err := command.CombinedOutput()
		if err != nil || !bytes.Contains(out, []byte("--- PASS: "+name+"/"+kind)) {
			t.Errorf("%v\n%s", err, out)
		}
	}
	t.Run("limit", func(t *testing.T) {
		if !canLimit {
			fmt.Println("left out: the limit on the size of files, which this system has not got")
			return
		}
		again(t, "limit", "")
	})
	t.Run("tmpfs", func(t *testing.T) {
		mount := t.TempDir()
		if err := exec.Command("unshare", "-Urm", "mount", "-t", "tmpfs", "tmpfs", mount).Run(); err != nil {
			fmt.Println("left out: the small disk in memory, which this system does not let a user mount:", err)
			return
		}
		script := fmt.Sprintf(`mount -t tmpfs -o size=%dm tmpfs "$%s" && exec "$0" "$@"`, megabytes, mountVar)
		again(t, "tmpfs", mount, "unshare", "-Urm", "sh", "-c", script)
	})
}

// Fill leaves so many bytes of room, or for a limit so many for each file, until the function that it returns is called.
// On the small disk room is counted in pages of 4 KiB.
func (d Disk) Fill(t *testing.T, room int) (free func()) {
	t.Helper()
	if d.mount == "" {
		return limit(t, room)
	}
	path := filepath.Join(d.mount, "ballast")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	for block := make([]byte, 4096); err == nil; {
		var n int
		n, err = file.Write(block)
		size += n
	}
	if err := errors.Join(file.Truncate(int64(max(0, size-room))), file.Close()); err != nil {
		t.Fatal(err)
	}
	return func() { os.Remove(path) }
}

// Holds fails the test unless the folder holds the files of these names, relative to it and with slashes, and nothing else
// but folders.
func Holds(t *testing.T, dir string, names ...string) {
	t.Helper()
	want := map[string]bool{}
	for _, name := range names {
		want[name] = true
	}
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if name = filepath.ToSlash(name); !want[name] {
			t.Errorf("%s was left behind", path)
		}
		delete(want, name)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	for name := range want {
		t.Errorf("%s is gone", name)
	}
}
