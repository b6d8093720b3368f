//go:build cgo && (linux || darwin)

package backend

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"
)

// probeEnv tells a program that it is the child: the plugin's path follows. probeMark begins the lines of its answer.
const (
	probeEnv    = "SCOREKIT_PROBE_PLUGIN"
	probeMark   = "scorekit-probe:"
	probeNested = "nested"
)

// probeLimit is how long a plugin may take: opening one takes seconds, on a machine that is very busy tens of them.
var probeLimit = 60 * time.Second

// verdict is the outcome of trying a plugin: Failure says what is wrong, and is empty where nothing is.
type verdict struct {
	Platform string `json:"platform,omitempty"`
	Failure  string `json:"failure,omitempty"`
}

func (v verdict) result() (platform string, err error) {
	if v.Failure != "" {
		return "", errors.New(v.Failure)
	}
	return v.Platform, nil
}

// In the child this function tries the plugin and ends the process; it never returns to run the program itself.
func init() {
	path, isChild := os.LookupEnv(probeEnv)
	if !isChild {
		return
	}
	if path == probeNested {
		os.Exit(1) // started by the plugin that is being tried: one child is enough
	}
	os.Setenv(probeEnv, probeNested)
	// The parent ends a child that hangs; this is for a child that has lost its parent.
	time.AfterFunc(2*probeLimit, func() { os.Exit(1) })
	fmt.Println(probeMark, "started")
	var v verdict
	platform, err := compute(path)
	v.Platform = platform
	if err != nil {
		v.Failure = err.Error()
	}
	answer, err := json.Marshal(v)
	if err != nil {
		os.Exit(1)
	}
	fmt.Printf("\n%s %s\n", probeMark, answer)
	os.Exit(0)
}

// try returns the platform of the plugin at path, from memory if possible. A remembered failure counts only for an
// hour, and not at all if fresh is set: what was wrong may be mended by now.
func try(path string, fresh bool) (platform string, err error) {
	if err := checkLibrary(path); err != nil {
		return "", err
	}
	r, found := recall(path)
	age := time.Since(r.When) // negative where the clock was set back
	if found && (r.Failure == "" || !fresh && age >= 0 && age < time.Hour) {
		return r.result()
	}
	return tryAnew(path)
}

// tryAnew is try with nothing remembered.
func tryAnew(path string) (platform string, err error) {
	if err := checkLibrary(path); err != nil {
		return "", err
	}
	v, possible := inChild(path)
	if !possible {
		return compute(path)
	}
	remember(path, v)
	return v.result()
}

// inChild tries the plugin at path in a child process. It is not possible where the program that runs is not one with
// this package's init, as when Go code is loaded as a library into another program.
func inChild(path string) (v verdict, possible bool) {
	program, err := os.Executable()
	if err != nil {
		return verdict{}, false
	}
	// Still the right program when its file has been replaced or deleted since, as go run does with its own.
	if self := "/proc/self/exe"; isExecutable(self) {
		program = self
	}
	ctx, cancel := context.WithTimeout(context.Background(), probeLimit)
	defer cancel()
	var out, log bytes.Buffer
	child := exec.CommandContext(ctx, program)
	// A crash in Go's eyes prints the stacks of all goroutines; the first line is enough.
	child.Env = append(os.Environ(), probeEnv+"="+path, "GOTRACEBACK=none")
	child.Stdout, child.Stderr = &out, &log
	child.WaitDelay = time.Second
	runErr := child.Run()

	started := false
	for line := range strings.Lines(out.String()) {
		rest, marked := strings.CutPrefix(strings.TrimSpace(line), probeMark+" ")
		switch {
		case !marked:
		case rest == "started":
			started = true
		case json.Unmarshal([]byte(rest), &v) == nil:
			return v, true
		}
	}
	switch {
	case !started:
		return verdict{}, false
	case ctx.Err() != nil:
		return verdict{Failure: fmt.Sprintf("hangs: no answer within %v of opening it", probeLimit)}, true
	}
	return verdict{Failure: "crashes when it is opened (" + lastWords(log.String(), runErr) + ")"}, true
}

func isExecutable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

var signal = regexp.MustCompile(`\bSIG[A-Z]+\b`)

// lastWords makes one short line of how a child ended: the signal, and what it said before.
func lastWords(log string, err error) string {
	how := "it ended the process"
	if err != nil {
		how = err.Error()
	}
	if name := signal.FindString(log); name != "" {
		how = name
	}
	// Neither the notice with which XLA's log begins nor Go's own report of a crash adds anything.
	first := ""
	for line := range strings.Lines(log) {
		if line = oneLine(line); line != "" && !strings.HasPrefix(line, "WARNING: All log messages before") {
			first = line
			break
		}
	}
	if first == "" || strings.HasPrefix(first, "SIG") || strings.HasPrefix(first, "fatal error:") {
		return how
	}
	if len(first) > 300 {
		first = strings.ToValidUTF8(first[:300], "") + "…"
	}
	return how + ": " + first
}
