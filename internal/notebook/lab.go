package notebook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/scorekit/lab/internal/process"
	"github.com/scorekit/lab/internal/setup"
)

// Lab is JupyterLab on the notebooks of a checkout, with a set-up that is done.
type Lab struct {
	Setup setup.Setup
	// Browser asks JupyterLab to open one.
	Browser bool
	// Port to listen on, at 127.0.0.1 only; 0 for JupyterLab's own choice.
	Port int
	// Arguments are handed to JupyterLab as they are, after the program's own.
	Arguments []string
	Out       io.Writer
}

// Run runs JupyterLab until it ends, or until ctx does, which shuts down its kernels first. The end of ctx is no error then:
// it is how one leaves JupyterLab. Any other end that is not JupyterLab's own is an error.
func (l Lab) Run(ctx context.Context) error {
	folder := filepath.Join(l.Setup.Checkout, "notebooks")
	if _, err := List(folder); err != nil {
		return err
	}
	arguments := []string{"-m", "jupyterlab", "--ServerApp.ip=127.0.0.1", "--ServerApp.root_dir=" + folder,
		"--MultiKernelManager.default_kernel_name=" + setup.KernelName,
		// To look for other languages' servers it would start npm, which writes into the home folder.
		"--LanguageServerManager.autodetect=False"}
	if os.Geteuid() == 0 {
		// In a container one is root; that only this machine can connect, with the token, holds for root too.
		arguments = append(arguments, "--allow-root")
	}
	if !l.Browser {
		arguments = append(arguments, "--no-browser")
	}
	if l.Port != 0 {
		// Whoever names a port wants that one or an error.
		arguments = append(arguments, "--ServerApp.port="+strconv.Itoa(l.Port), "--ServerApp.port_retries=0")
	}
	command := process.Command(ctx, setup.VenvProgram(l.Setup.Home, "python"), append(arguments, l.Arguments...)...)
	command.Dir, command.Env = folder, l.Setup.JupyterEnviron()
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	fmt.Fprintln(l.Out, "Starting JupyterLab on", folder, "(Ctrl-C ends it)")
	err := process.Run(ctx, command)
	if ctx.Err() != nil {
		fmt.Fprintln(l.Out, "JupyterLab has ended")
		return nil
	}
	if err != nil {
		return errors.Join(errors.New("JupyterLab ended by itself; its last lines are above (is the port in use?)"), err)
	}
	return nil
}
