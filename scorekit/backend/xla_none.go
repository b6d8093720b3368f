//go:build !(cgo && (linux || darwin))

package backend

import (
	"errors"
	"runtime"

	"github.com/gomlx/gomlx/backends"
)

func supported() error {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		return errors.New("XLA is not available on " + runtime.GOOS)
	}
	return errors.New("this program was built without cgo, which XLA needs: install a C compiler and build with CGO_ENABLED=1")
}

func try(string, bool) (platform string, err error) { return "", supported() }

func tryAnew(string) (platform string, err error) { return "", supported() }

func load(string, string, xlaOptions) (backends.Backend, error) { return nil, supported() }
