//go:build !(cgo && (linux || darwin))

package backend

import (
	"testing"

	"github.com/gomlx/gomlx/backends"

	"github.com/scorekit/lab/internal/home"
)

func forgetInProcess() {}

func TestXLAIsNotInThisBuild(t *testing.T) {
	dir := alone(t)
	if err := home.WritePlugins(dir, []home.Plugin{{Name: "cpu", File: "xla/cpu.so"}}); err != nil {
		t.Fatal(err)
	}
	b, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := Describe(b), "pure Go, because "+supported().Error(); got != want {
		t.Errorf("Describe: %q, want %q", got, want)
	}
	for _, asked := range []string{"xla", "xla:cpu", "xla:/some/plugin.so"} {
		t.Setenv(backends.ConfigEnvVar, asked)
		_, err := Open()
		wantError(t, err, `GOMLX_BACKEND "`+asked+`": `+supported().Error()+"; GOMLX_BACKEND=go uses pure Go")
	}
	wantError(t, Check("/some/plugin.so"), "XLA plugin", supported().Error())
	wantError(t, Supported(), supported().Error())
}
