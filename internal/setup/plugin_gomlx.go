package setup

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/gomlx/go-xla/pkg/installer"
)

// installedByGoMLX is the fetcher for systems without a wheel.
func installedByGoMLX(ctx context.Context, folder string) (file, source string, err error) {
	if !slices.Contains(installer.CPUSupportedPlatforms, runtime.GOOS+"_"+runtime.GOARCH) {
		return "", "", fmt.Errorf("%w for %s/%s", errNone, runtime.GOOS, runtime.GOARCH)
	}
	done := make(chan error, 1)
	// The installer cannot be stopped; after a Ctrl-C this process ends, and the next set-up begins with an empty folder.
	go func() { done <- installer.CPUAutoInstall(folder, false, installer.Quiet) }()
	select {
	case <-ctx.Done():
		return "", "", context.Cause(ctx)
	case err := <-done:
		if err != nil {
			return "", "", err
		}
	}
	found, err := filepath.Glob(in(folder, "pjrt_c_api_cpu_v*_plugin.*"))
	if err != nil || len(found) == 0 {
		return "", "", fmt.Errorf("GoMLX's installer left no plugin in %s", folder)
	}
	file = filepath.Base(found[0])
	return file, "GoMLX " + file, nil
}
