// Package xla_test makes visible whether the tests ran on XLA. Of a package that passes, go test shows one line; the line
// of this one says "[no tests to run]" when XLA was left out of all packages, and why is told with -v.
package xla_test

import (
	"flag"
	"os"
	"testing"

	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if reason := testbackend.LeftOut(); reason != "" && os.Getenv("SCOREKIT_REQUIRE_XLA") != "1" {
		testvalues.LeaveOut(m, "XLA left out of the tests of all packages: "+reason)
	}
	os.Exit(m.Run())
}

func TestXLAComputes(t *testing.T) {
	b, ok := testbackend.XLA(t)
	if !ok {
		t.Fatal("XLA is left out, but this test was run")
	}
	got, err := graph.ExecOnce(b, func(x *graph.Node) *graph.Node { return graph.Mul(x, x) }, float64(3))
	if err != nil {
		t.Fatal(err)
	}
	if got.Value() != float64(9) {
		t.Errorf("3² = %v", got.Value())
	}
}
