package setup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"

	"github.com/scorekit/lab/internal/atomicfile"
	"github.com/scorekit/lab/internal/process"
)

// tool is one call of a program.
type tool struct {
	dir     string   // working folder
	environ []string // nil: this process's
	log     string   // file that keeps the whole output; "" for none
	temp    string   // folder for the tool's temporary files, which is removed with what a stopped tool leaves; "" for the system's
	command []string
}

// run runs the tool and returns its standard output. The error holds the tool's own last words.
func (t tool) run(ctx context.Context) (string, error) {
	command := process.Command(ctx, t.command[0], t.command[1:]...)
	command.Dir, command.Env = t.dir, t.environ
	if t.temp != "" {
		if err := errors.Join(os.RemoveAll(t.temp), os.MkdirAll(t.temp, 0o755)); err != nil {
			return "", err
		}
		if command.Env == nil {
			command.Env = os.Environ()
		}
		for _, name := range []string{"TMPDIR", "TMP", "TEMP", "GOTMPDIR"} {
			command.Env = append(command.Env, name+"="+t.temp)
		}
	}
	var output, complaint bytes.Buffer
	command.Stdout, command.Stderr = &output, &complaint
	err := process.Run(ctx, command)
	if t.temp != "" {
		err = errors.Join(err, os.RemoveAll(t.temp)) // before the log, which may need the room
	}
	if t.log != "" {
		text := fmt.Sprintf("%s\n\n%s\n%s", strings.Join(t.command, " "), output.Bytes(), complaint.Bytes())
		if os.MkdirAll(in(t.log, ".."), 0o755) != nil || atomicfile.Write(t.log, []byte(text), 0o644) != nil {
			t.log = "" // the tool's own failure matters more than its log
		}
	}
	if err == nil {
		return output.String(), nil
	}
	if ctx.Err() != nil {
		return "", err
	}
	return "", &toolError{tool: t, output: complaint.String() + output.String(), err: err}
}

// toolError is the failure of a tool that ran, with all that it said.
type toolError struct {
	tool   tool
	output string
	err    error
}

func (e *toolError) Error() string {
	message := fmt.Sprintf("%s: %v", e.tool.command[0], e.err)
	if last := lastWords(e.output); last != "" {
		message += ": " + last
	}
	if e.tool.log != "" {
		message += " (all of its output: " + e.tool.log + ")"
	}
	return message
}

func (e *toolError) Unwrap() error { return e.err }

// hasRoom returns an error, which names the folder, where there is no room for a file of 64 MB. What a tool had no room for
// may be gone by the time that it fails.
func hasRoom(folder string) error {
	path := in(folder, ".room")
	defer os.Remove(path)
	return os.WriteFile(path, make([]byte, 64<<20), 0o644)
}

// lastWords returns the last line that says what went wrong: pip's last ERROR line, else the last line of all.
func lastWords(output string) string {
	last, lastError := "", ""
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "[notice]") || strings.HasPrefix(line, "WARNING:") {
			continue
		}
		last = line
		if strings.HasPrefix(line, "ERROR:") {
			lastError = line
		}
	}
	if lastError != "" {
		return lastError
	}
	return last
}

var (
	networkTrouble = regexp.MustCompile(`(?i)name resolution|NameResolutionError|Failed to resolve|nodename nor servname|NewConnectionError|` +
		`connection (refused|reset|broken|timed out)|ConnectTimeout|ReadTimeout|network is unreachable|no such host|i/o timeout|` +
		`ProxyError|SSLError|module lookup disabled|TLS handshake`)
	noSpace  = regexp.MustCompile(`(?i)no space left on device|not enough space|disk quota exceeded`)
	noWheel  = regexp.MustCompile(`No matching distribution found|is not a supported wheel`)
	wrongSum = regexp.MustCompile(`DO NOT MATCH THE HASHES|checksum mismatch`)
)

// explain adds to an error what the user can do about it, where that is known.
func explain(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	var failed *toolError
	if errors.As(err, &failed) {
		text += failed.output
	}
	cure := ""
	switch {
	case errors.Is(err, syscall.ENOSPC), noSpace.MatchString(text):
		cure = "the disk is full: free 1 GB, or name a folder on another disk by SCORELAB_HOME, and run set-up again"
	case errors.Is(err, os.ErrPermission):
		cure = "name a folder that you may write to by SCORELAB_HOME"
	case wrongSum.MatchString(text):
		cure = "a download differs from what is pinned: it was damaged on the way or replaced; run set-up again, and do not go on if it stays"
	case networkTrouble.MatchString(text):
		cure = "no network, or a proxy or mirror that pip and go need to know of (PIP_INDEX_URL, HTTPS_PROXY, GOPROXY); run set-up again and it goes on from here"
	}
	if cure == "" {
		return err
	}
	return fmt.Errorf("%w\n  what to do: %s", err, cure)
}
