package notebook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/scorekit/lab/internal/process"
	"github.com/scorekit/lab/internal/setup"
)

// Lab is JupyterLab on the notebooks of a checkout, with a set-up that is done.
type Lab struct {
	Setup setup.Setup
	// Browser asks JupyterLab to open one.
	Browser bool
	// IP is the address to listen at. Any but this machine's own, 127.0.0.1 or ::1, lets others in who know the token.
	IP string
	// Port to listen on; 0 for JupyterLab's own choice.
	Port int
	// Arguments are handed to JupyterLab as they are, after the program's own.
	Arguments []string
	Out       io.Writer
}

// Check returns an error for an IP that is not an address, and for arguments that would open JupyterLab to everybody.
func (l Lab) Check() error {
	address, err := netip.ParseAddr(l.IP)
	if err != nil {
		return fmt.Errorf("--ip %q: must be an address, such as 127.0.0.1 or 0.0.0.0", l.IP)
	}
	if address.IsLoopback() {
		return nil
	}
	for k, argument := range l.Arguments {
		name, value, joined := strings.Cut(argument, "=")
		if !joined && k+1 < len(l.Arguments) {
			value = l.Arguments[k+1]
		}
		if tokenOption.MatchString(name) && strings.Trim(value, `'"`) == "" {
			return fmt.Errorf("%s: an empty token would open JupyterLab to everybody who can reach %s", argument, l.IP)
		}
	}
	return nil
}

// tokenOption is the name of a JupyterLab option that sets the token, by whichever of its classes.
var tokenOption = regexp.MustCompile(`^--?\w+\.token$`)

// tokenVar is the environment variable by which JupyterLab takes a token. It would take an empty one, too.
const tokenVar = "JUPYTER_TOKEN"

// Run runs JupyterLab until it ends, or until ctx does, which shuts down its kernels first. The end of ctx is no error then:
// it is how one leaves JupyterLab. Any other end that is not JupyterLab's own is an error. The token is that of the
// environment variable JUPYTER_TOKEN, or when that is empty one that JupyterLab draws and prints.
func (l Lab) Run(ctx context.Context) error {
	if err := l.Check(); err != nil {
		return err
	}
	folder := filepath.Join(l.Setup.Checkout, "notebooks")
	if _, err := List(folder); err != nil {
		return err
	}
	arguments := []string{"-m", "jupyterlab", "--ServerApp.ip=" + l.IP, "--ServerApp.root_dir=" + folder,
		"--MultiKernelManager.default_kernel_name=" + setup.KernelName,
		// To look for other languages' servers it would start npm, which writes into the home folder.
		"--LanguageServerManager.autodetect=False"}
	if os.Geteuid() == 0 {
		// In a container one is often root; that one can only connect with the token holds for root too.
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
	if token := os.Getenv(tokenVar); token != "" {
		command.Env = append(command.Env, tokenVar+"="+token)
	}
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
