// Package backend finds and opens what computes: XLA, on a GPU or the CPU, or GoMLX's pure Go backend.
//
// [Open] is all that most programs need. It opens, in this order,
//
//  1. what the environment variable GOMLX_BACKEND asks for, and nothing else if that fails;
//  2. the XLA plugin that "scorelab setup" installed: one for a GPU if it opens, else the one for the CPU;
//  3. pure Go, which needs nothing installed: slower, and without some operations.
//
// It never downloads anything. In one line it says on standard error what it chose and why (not when SCOREKIT_QUIET=1);
// [Describe] returns that line.
//
// # GOMLX_BACKEND
//
//	xla                       the preferred one of the installed plugins
//	xla:cpu  xla:cuda         the installed plugin of that name
//	xla:/path/to/plugin.so    that PJRT plugin
//	go                        pure Go
//
// Options follow a comma (for go, a colon). XLA takes shared_buffers, noshared_buffers, tf32 and cpu_device_count=N: a
// plugin that computes on the CPU gets shared buffers and one device unless told otherwise. Pure Go takes GoMLX's own,
// as in go:parallelism=2. It always runs the operations of a graph one after another (each may still use several
// cores), because GoMLX's other mode can wait for ever on itself; go:ops_parallel gives that mode to who insists, and
// Describe then says what it risks.
//
// # A plugin is tried before it is trusted
//
// A plugin is native code, and one that is damaged or built for another machine can crash or hang. So a plugin that
// has not been seen is first tried, on a small computation, in a child process: this program run once more, which ends
// before its main begins. Whatever happens there becomes an error that names the plugin and what to do. The outcome is
// remembered in the set-up folder (or in the folder for temporary files) for as long as the plugin's file and the
// environment variables that matter to it stay the same: success for good, failure for an hour and only when it was not
// asked for by name.
//
// XLA needs cgo, on linux or darwin. Elsewhere, and with CGO_ENABLED=0, this package still builds; [Supported] says why
// there is no XLA, and Open returns pure Go.
//
// # Files
//
//	open.go        Open, OpenConfig, Describe; one backend per configuration
//	config.go      what GOMLX_BACKEND may hold
//	purego.go      pure Go
//	plugins.go     installed plugins and the choice between them
//	xla.go         opening a plugin with GoMLX (xla_none.go where that is impossible)
//	probe.go       trying a plugin in a child process
//	library.go     recognising files that cannot be plugins
//	remember.go    remembering what was tried
package backend
