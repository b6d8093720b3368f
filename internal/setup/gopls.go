package setup

import (
	"context"
	"os"
	"os/exec"
	"runtime"

	"github.com/scorekit/lab/internal/home"
	"github.com/scorekit/lab/internal/kernel"
)

const (
	goplsName = "gopls"
	// goplsVersion is built by its own go.mod, not the checkout's, whose versions it would change.
	goplsVersion = "v0.21.0"
)

// goplsStep builds gopls, with which the kernel completes names and tells what they mean, unless there is one on PATH.
func (s Setup) goplsStep() step {
	installed := in(home.Bin(s.Home), kernel.Program(goplsName))
	fresh := home.Bin(s.Home) + ".new"
	return step{
		name:  goplsName,
		doing: "gopls, for completion in cells (a minute of processor time)",
		from: func(context.Context) (string, error) {
			return runtime.Version() + "\n" + goplsName + " " + goplsVersion + "\n", nil
		},
		partial: []string{fresh},
		present: func() bool {
			_, err := exec.LookPath(goplsName)
			return err == nil || exists(installed)
		},
		do: func(ctx context.Context) (string, error) {
			if path, err := exec.LookPath(goplsName); err == nil {
				return "the one that is there is used: " + path, nil
			}
			if err := os.RemoveAll(fresh); err != nil {
				return "", err
			}
			if err := s.compile(ctx, goplsName, fresh, "install", "golang.org/x/tools/gopls@"+goplsVersion); err != nil {
				return "", err
			}
			return goplsVersion, moveInto(fresh, home.Bin(s.Home))
		},
	}
}
