package doctor

import (
	"context"
	"go/version"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/scorekit/lab/internal/setup"
)

// goTool looks for a Go that is new enough for the module.
func goTool(ctx context.Context, s setup.Setup) []Finding {
	const subject, cure = "Go", "install a newer Go from https://go.dev/dl"
	if _, err := exec.LookPath("go"); err != nil {
		return []Finding{{Failed, subject, "no go program on PATH", "install Go from https://go.dev/dl"}}
	}
	out, err := output(ctx, s.Checkout, nil, "go", "env", "GOVERSION", "GOOS", "GOARCH")
	if err != nil {
		return []Finding{{Failed, subject, err.Error(), cure}}
	}
	words := strings.Fields(out)
	have := words[0]
	text, err := os.ReadFile(s.Checkout + "/go.mod")
	if err != nil {
		return []Finding{{Failed, subject, err.Error(), "check the checkout"}}
	}
	if file, err := modfile.ParseLax("go.mod", text, nil); err == nil && file.Go != nil && version.Compare(have, "go"+file.Go.Version) < 0 {
		return []Finding{{Failed, subject, have + "; go.mod wants " + file.Go.Version, cure}}
	}
	return []Finding{{Works, subject, have + " " + strings.Join(words[1:], "/"), ""}}
}

// compiler looks for the C compiler that cgo uses.
func compiler(ctx context.Context, s setup.Setup) []Finding {
	const subject = "C compiler"
	const cure = "install gcc or clang (Debian: apt install gcc libc6-dev; macOS: xcode-select --install), then run setup again"
	out, err := output(ctx, s.Checkout, nil, "go", "env", "CGO_ENABLED", "CC")
	if err != nil {
		return []Finding{{Failed, subject, err.Error(), cure}}
	}
	enabled, cc, _ := strings.Cut(out, "\n")
	if enabled != "1" {
		return []Finding{{Lacking, subject, "cgo is off: no XLA, computing in pure Go", cure}}
	}
	fields := strings.Fields(cc)
	if len(fields) == 0 {
		return []Finding{{Lacking, subject, "go env CC is empty", cure}}
	}
	path, err := exec.LookPath(fields[0])
	if err != nil {
		return []Finding{{Failed, subject, "cgo is on, but there is no " + fields[0] + " on PATH", cure + ", or set CGO_ENABLED=0"}}
	}
	return []Finding{{Works, subject, path, ""}}
}

// python looks for the Python that a set-up would use.
func python(ctx context.Context, _ setup.Setup) []Finding {
	found, err := setup.FindPython(ctx)
	if err != nil {
		detail, cure, _ := strings.Cut(err.Error(), "\n  what to do: ")
		return []Finding{{Failed, "Python", detail, cure}}
	}
	return []Finding{{Works, "Python", found.Version + " (" + found.Path + ")", ""}}
}
