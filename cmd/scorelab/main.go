// Scorelab is the project's command. It trains score models on people's own data and draws from them; it sets up what the
// notebooks need, opens them in JupyterLab or executes them without a browser, and says what is wrong when something is.
//
//	go run ./cmd/scorelab train      a file or a folder of images → a model (and sample, eval, score, info)
//	go run ./cmd/scorelab lab        everything it needs, then JupyterLab
//	go run ./cmd/scorelab run        the same without a browser: executes the notebooks
//	go run ./cmd/scorelab doctor     what works and what does not
//
// Each verb is a file here and only turns flags into calls of the packages that do the work: internal/experiment,
// internal/setup and internal/notebook. The exit status is 0 on success, 1 when something failed, 2 for a wrong command line, 130 after Ctrl-C.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// errInterrupted is the cause of the context after a Ctrl-C or a request to stop.
var errInterrupted = errors.New("interrupted")

func main() {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		<-signals
		fmt.Fprintln(os.Stderr, "\nstopping …")
		// A second Ctrl-C ends the program at once.
		signal.Reset()
		cancel(errInterrupted)
	}()
	os.Exit(execute(ctx, os.Args[1:]))
}

// execute runs the command line and returns the exit status.
func execute(ctx context.Context, arguments []string) int {
	root := rootCommand()
	root.SetArgs(arguments)
	verb, err := root.ExecuteContextC(ctx)
	var usage usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		fmt.Fprintf(os.Stderr, "%v\nTry: %s --help\n", err, verb.CommandPath())
		return 2
	case errors.Is(err, errInterrupted):
		fmt.Fprintln(os.Stderr, err)
		return 130
	}
	fmt.Fprintf(os.Stderr, "%s: %v\n", verb.CommandPath(), err)
	return 1
}

// usageError is a mistake in the command line.
type usageError struct{ error }

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "scorelab",
		Short:         "Score matching: train and sample on your own data; open and execute the notebooks",
		SilenceUsage:  true,
		SilenceErrors: true,
		// Without a Run, cobra takes an unknown verb as an argument of root and prints its help.
		Args: func(_ *cobra.Command, arguments []string) error {
			if len(arguments) > 0 {
				return usageError{fmt.Errorf("scorelab: unknown command %q", arguments[0])}
			}
			return nil
		},
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	root.SetFlagErrorFunc(func(command *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%s: %w", command.CommandPath(), err)}
	})
	root.AddCommand(trainCommand(), sampleCommand(), evalCommand(), scoreCommand(), infoCommand())
	root.AddCommand(setupCommand(), labCommand(), runCommand(), bookCommand(), doctorCommand(), cleanCommand(), versionCommand())
	root.AddCommand(benchCommand(), benchworkCommand())
	return root
}

// noArguments refuses arguments after a verb that takes none.
func noArguments(command *cobra.Command, arguments []string) error {
	if len(arguments) > 0 {
		return usageError{fmt.Errorf("%s takes no arguments, got %q", command.CommandPath(), arguments[0])}
	}
	return nil
}
