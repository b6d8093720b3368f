package kernel

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/scorekit/lab/internal/home"
)

// realGoVar tells the stand-in for go where the real one is.
const realGoVar = "SCORELAB_GO"

// Environment returns the environment in which GoNB runs: that of environ, changed so that cells import the module in the
// folder root, that go is found first in the set-up folder's shim folder and GoNB's helpers in its bin folder, and that
// neither go nor GoMLX uses the network. goTool is the real go program. With root "" cells import only published
// modules that are in Go's module cache.
func Environment(environ []string, setup, root, goTool string) []string {
	env := environmentOf(environ)
	path := home.Bin(setup)
	if root != "" {
		path = Shim(setup) + string(filepath.ListSeparator) + path
		env.set(RootVar, root)
		env.set(realGoVar, goTool)
	}
	if old := env.get("PATH"); old != "" {
		path += string(filepath.ListSeparator) + old
	}
	env.set("PATH", path)
	env.set(home.EnvVar, setup)
	env.set("GOFLAGS", goFlags(env.get("GOFLAGS")))
	env.set("GOPROXY", "off")
	env.set("GOMLX_NO_AUTO_INSTALL", "1")
	// What the backend says of its choice would be a red line in the first cell; a notebook shows backend.Describe instead.
	env.set("SCOREKIT_QUIET", "1")
	// A workspace that does not list GoNB's temporary module would make each cell fail.
	env.unset("GOWORK")
	return env.list
}

// Shim returns the folder of the set-up folder setup in which "go" is the stand-in.
func Shim(setup string) string { return filepath.Join(setup, "shim") }

// goFlags adds "-ldflags=-s -w", without which linking a cell takes half as long again, and drops what would make go
// look for another go.mod or a vendor folder. A -ldflags that is there already stays.
func goFlags(old string) string {
	var flags []string
	linker := false
	for _, flag := range splitQuoted(old) {
		name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(flag, "-"), "-"), "=")
		if name == "mod" || name == "modfile" {
			continue
		}
		linker = linker || name == "ldflags"
		flags = append(flags, flag)
	}
	if !linker {
		flags = append(flags, "-ldflags=-s -w")
	}
	for k, flag := range flags {
		switch {
		case !strings.ContainsAny(flag, " \t\n\r'\""):
		case !strings.Contains(flag, "'"):
			flags[k] = "'" + flag + "'"
		default:
			flags[k] = `"` + flag + `"`
		}
	}
	return strings.Join(flags, " ")
}

// splitQuoted splits by Go's rule for GOFLAGS: fields by white space; one that begins with a quote ends at the next.
func splitQuoted(text string) []string {
	var fields []string
	for {
		text = strings.TrimLeft(text, " \t\n\r")
		if text == "" {
			return fields
		}
		end := strings.IndexAny(text, " \t\n\r")
		if quote := text[0]; quote == '\'' || quote == '"' {
			text = text[1:]
			end = strings.IndexByte(text, quote)
		}
		if end < 0 {
			end = len(text)
		}
		fields = append(fields, text[:end])
		text = text[min(end+1, len(text)):]
	}
}

// environment is a list of NAME=value, each name once.
type environment struct{ list []string }

func environmentOf(environ []string) *environment {
	return &environment{slices.Clone(environ)}
}

// index returns the place of a name, or −1. Windows does not tell upper and lower case apart.
func (e *environment) index(name string) int {
	return slices.IndexFunc(e.list, func(entry string) bool {
		got, _, _ := strings.Cut(entry, "=")
		return got == name || runtime.GOOS == "windows" && strings.EqualFold(got, name)
	})
}

func (e *environment) get(name string) string {
	if k := e.index(name); k >= 0 {
		_, value, _ := strings.Cut(e.list[k], "=")
		return value
	}
	return ""
}

func (e *environment) set(name, value string) {
	e.unset(name)
	e.list = append(e.list, name+"="+value)
}

func (e *environment) unset(name string) {
	for k := e.index(name); k >= 0; k = e.index(name) {
		e.list = slices.Delete(e.list, k, k+1)
	}
}
