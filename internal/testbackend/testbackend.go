// Package testbackend runs a test on every backend that this machine has: pure Go always, XLA where a plugin is
// installed.
//
// XLA is the plugin that GOMLX_BACKEND asks for, if it asks for XLA, and else the one that set-up installed. Where there
// is none, one line on standard error names what is left out, once for each test binary; with SCOREKIT_REQUIRE_XLA=1
// the test fails instead. A plugin that is installed but does not open fails the test.
package testbackend

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/gomlx/gomlx/backends"

	"github.com/scorekit/lab/scorekit/backend"
)

// Each runs f as the subtest "go" on pure Go and, unless XLA is left out, as the subtest "xla" on XLA. The backends are
// shared by the tests of a binary: f must not finalize them.
func Each(t *testing.T, f func(t *testing.T, b backends.Backend)) {
	t.Helper()
	t.Run("go", func(t *testing.T) { f(t, Go(t)) })
	if reason := LeftOut(); reason != "" && !required() {
		announce(reason)
		return
	}
	t.Run("xla", func(t *testing.T) {
		b, _ := XLA(t)
		f(t, b)
	})
}

// Go returns the pure Go backend.
func Go(t testing.TB) backends.Backend {
	t.Helper()
	b, err := backend.OpenConfig("go")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// XLA returns the XLA backend, or false where it is left out; for what pure Go cannot do.
func XLA(t testing.TB) (backends.Backend, bool) {
	t.Helper()
	if reason := LeftOut(); reason != "" {
		if required() {
			t.Fatalf("SCOREKIT_REQUIRE_XLA=1, but %s", reason)
		}
		announce(reason)
		return nil, false
	}
	b, err := backend.OpenConfig(config())
	if err != nil {
		t.Fatal(err)
	}
	return b, true
}

func required() bool { return os.Getenv("SCOREKIT_REQUIRE_XLA") == "1" }

// config returns what to open for XLA.
func config() string {
	if asked := os.Getenv(backends.ConfigEnvVar); asksXLA(asked) {
		return asked
	}
	return "xla"
}

func asksXLA(asked string) bool {
	name, _, _ := strings.Cut(asked, ":")
	return name == "xla" || name == "stablehlo" || name == "shlo" || name == "hlo"
}

// LeftOut says why there is no XLA to test on, or returns "" where there is. A list of plugins that cannot be read is
// left to the opening, which says what is wrong with it.
func LeftOut() string {
	if err := backend.Supported(); err != nil {
		return strings.TrimPrefix(err.Error(), "scorekit: backend: ")
	}
	if asksXLA(os.Getenv(backends.ConfigEnvVar)) {
		return ""
	}
	if plugins, err := backend.Installed(); err == nil && len(plugins) == 0 {
		return "no plugin installed; run go run ./cmd/scorelab setup"
	}
	return ""
}

var once sync.Once

func announce(reason string) {
	once.Do(func() { fmt.Fprintln(os.Stderr, "XLA left out:", reason) })
}
