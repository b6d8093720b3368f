//go:build cgo && (linux || darwin)

package backend

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/scorekit/lab/internal/atomicfile"
	"github.com/scorekit/lab/internal/home"
)

// record is what is remembered of one plugin that was tried.
type record struct {
	// What was tried: another size, time or environment is another plugin.
	File        string    `json:"file"`
	Size        int64     `json:"size"`
	Modified    time.Time `json:"modified"`
	Environment string    `json:"environment"`

	When time.Time `json:"when"`
	verdict
}

func (r record) sameAs(other record) bool {
	return r.File == other.File && r.Size == other.Size && r.Modified.Equal(other.Modified) && r.Environment == other.Environment
}

// inProcess remembers where no file can be written.
var (
	inProcessMu sync.Mutex
	inProcess   []record
)

// maxRecords bounds the file; a plugin that drops out is only tried again.
const maxRecords = 32

// subject returns a record of the plugin at path with nothing said about it yet.
func subject(path string) (record, bool) {
	info, err := os.Stat(path)
	if err != nil {
		return record{}, false
	}
	return record{File: path, Size: info.Size(), Modified: info.ModTime(), Environment: environment()}, true
}

// environment identifies what, besides its file, decides whether a plugin opens: the machine, and variables that XLA
// and the loader read (XLA ends the process over a flag that it does not know).
func environment() string {
	host, _ := os.Hostname()
	sum := sha256.New()
	fmt.Fprintf(sum, "%q\n", host)
	for _, name := range []string{"XLA_FLAGS", "TF_XLA_FLAGS", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LD_PRELOAD", "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"} {
		fmt.Fprintf(sum, "%s=%q\n", name, os.Getenv(name))
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// recall returns what is remembered of the plugin at path.
func recall(path string) (record, bool) {
	wanted, ok := subject(path)
	if !ok {
		return record{}, false
	}
	inProcessMu.Lock()
	known := slices.Clone(inProcess)
	inProcessMu.Unlock()
	for _, file := range memories() {
		known = append(known, read(file)...)
	}
	if k := slices.IndexFunc(known, wanted.sameAs); k >= 0 {
		return known[k], true
	}
	return record{}, false
}

// remember keeps what was found out about the plugin at path, in the first file that can be written and for this
// process.
func remember(path string, v verdict) {
	r, ok := subject(path)
	if !ok {
		return
	}
	r.When, r.verdict = time.Now().Round(0), v
	inProcessMu.Lock()
	defer inProcessMu.Unlock()
	inProcess = with(inProcess, r)
	for _, file := range memories() {
		// Two programs that write at once may lose a record, never the file: the plugin is then tried once more.
		data, err := json.MarshalIndent(memory{with(read(file), r)}, "", "  ")
		if err != nil {
			return
		}
		if os.MkdirAll(filepath.Dir(file), 0o700) == nil && atomicfile.Write(file, append(data, '\n'), 0o644) == nil {
			return
		}
	}
}

// with returns known with r first, and without what it replaces.
func with(known []record, r record) []record {
	outdated := func(old record) bool { return old.File == r.File && old.Environment == r.Environment }
	known = append([]record{r}, slices.DeleteFunc(slices.Clone(known), outdated)...)
	return known[:min(len(known), maxRecords)]
}

// memory is what a file of records holds.
type memory struct {
	Probes []record `json:"probes"`
}

// memories returns the files in which records are kept: in the set-up folder, if there is one, and in the folder for
// temporary files, for programs that may not write the former.
func memories() []string {
	var files []string
	if dir, found := home.Dir(); found {
		// A folder that set-up has not made yet is not made here either.
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			files = append(files, home.ProbesFile(dir))
		}
	}
	return append(files, filepath.Join(os.TempDir(), fmt.Sprintf("scorekit-%d", os.Getuid()), "probes.json"))
}

// read returns the records in file; none if it is missing or damaged, for what is not remembered is tried again.
func read(file string) []record {
	var m memory
	data, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(data, &m) != nil {
		return nil
	}
	return m.Probes
}
