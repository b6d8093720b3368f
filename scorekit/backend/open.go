package backend

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/gomlx/gomlx/backends"
)

// opened is a backend that this package opened.
type opened struct {
	key       string // two requests for the same thing have the same key
	backend   backends.Backend
	what, why string // halves of the description; why is that of the last request
}

func (o *opened) description() string { return oneLine(o.what + ", " + o.why) }

var (
	mu  sync.Mutex
	all []*opened
)

// Open returns the backend that GOMLX_BACKEND asks for, or else the best one that is installed: see the package's
// page for the order. It never downloads.
//
// A process has one backend per configuration: Open returns the same one again, and opens a new one after Finalize.
// When it opens one, it says on standard error which and why, in one line, unless SCOREKIT_QUIET=1.
//
// It returns an error, which says what to do, when GOMLX_BACKEND names a backend, plugin or option that does not
// exist; when the plugin asked for, or every installed plugin, is missing, is not a plugin, or crashes, hangs or fails
// when it is opened; and when the list of installed plugins cannot be read.
func Open() (backends.Backend, error) {
	asked := os.Getenv(backends.ConfigEnvVar)
	origin := ""
	if asked != "" {
		origin = backends.ConfigEnvVar
	}
	b, news, err := open(asked, origin)
	if news != "" && os.Getenv("SCOREKIT_QUIET") != "1" {
		fmt.Fprintln(os.Stderr, "scorekit:", news)
	}
	return b, err
}

// OpenConfig returns the backend that config asks for, whatever GOMLX_BACKEND says. config is written as
// GOMLX_BACKEND is (see the package's page) and must not be empty. Errors and reuse are as with [Open]; it says nothing
// on standard error.
func OpenConfig(config string) (backends.Backend, error) {
	if config == "" {
		return nil, fmt.Errorf(`scorekit: backend: configuration "": must be xla, xla:NAME, xla:/path/to/plugin.so or go`)
	}
	b, _, err := open(config, "configuration")
	return b, err
}

// Describe returns one line that says what b is and, if this package opened it, why it did so when it was last asked
// to: such as
//
//	XLA on CPU (xla-cpu-pjrt 0.0.1), from .scorelab
//	pure Go, because no XLA plugin is installed in …
//
// Of a backend opened elsewhere it returns b.Description(), and of nil "no backend".
func Describe(b backends.Backend) string {
	if b == nil {
		return "no backend"
	}
	mu.Lock()
	defer mu.Unlock()
	for _, o := range all {
		if o.backend == b {
			return o.description()
		}
	}
	return b.Description()
}

// open opens what asked asks for, or chooses if it is empty. origin says who asks: "GOMLX_BACKEND", "configuration",
// or "" for nobody. news describes the backend if it was not open before. GoMLX panics for some mistakes; here that
// becomes an error.
func open(asked, origin string) (b backends.Backend, news string, err error) {
	mu.Lock()
	defer mu.Unlock()
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s", oneLine(fmt.Sprint(r)))
		}
		if err != nil {
			prefix := "scorekit: backend: "
			if asked != "" {
				prefix += fmt.Sprintf("%s %q: ", origin, asked)
			}
			b, news, err = nil, "", fmt.Errorf("%s%w", prefix, err)
		}
	}()
	// Finalized backends are of no use to anybody.
	all = slices.DeleteFunc(all, func(o *opened) bool { return o.backend.IsFinalized() })

	o, isNew, err := dispatch(asked, origin)
	if err != nil {
		return nil, "", err
	}
	if isNew {
		news = o.description()
	}
	return o.backend, news, nil
}

func dispatch(asked, origin string) (o *opened, isNew bool, err error) {
	if asked == "" {
		return choose()
	}
	reason := "as asked for"
	if origin == backends.ConfigEnvVar {
		reason = "as " + origin + " asks"
	}
	name, rest, colon := strings.Cut(asked, ":")
	if comma := strings.Index(name, ","); !colon && comma >= 0 { // options right after the backend's name
		name, rest = name[:comma], name[comma:]
	}
	switch {
	case name == "go":
		return openGo(rest, reason)
	case isXLA(name):
		return openAskedXLA(rest, reason)
	case slices.Contains(backends.List(), name):
		// A backend that the program itself imported and registered with GoMLX.
		return reuse(asked, reason, func() (backends.Backend, string, error) {
			b, err := backends.NewWithConfig(asked)
			if err != nil {
				return nil, "", err
			}
			return b, b.Description(), nil
		})
	}
	return nil, false, fmt.Errorf("there is no backend %q: must be xla, xla:NAME, xla:/path/to/plugin.so or go", name)
}

// reuse returns the backend with that key, opened by openNew if there is none yet. openNew says what it opened.
func reuse(key, why string, openNew func() (b backends.Backend, what string, err error)) (o *opened, isNew bool, err error) {
	for _, o := range all {
		if o.key == key {
			o.why = why
			return o, false, nil
		}
	}
	b, what, err := openNew()
	if err != nil {
		return nil, false, err
	}
	o = &opened{key: key, backend: b, what: what, why: why}
	all = append(all, o)
	return o, true, nil
}

// oneLine joins the lines of text.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
