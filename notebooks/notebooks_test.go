// Package notebooks_test executes the notebooks of this folder, each as a subtest.
//
//	go test -timeout 60m ./notebooks   all of them
//	go test ./notebooks -run /08       one
//	go test -short ./...               everything but them
//
// What they need is set up first when it is missing. Executed notebooks and pages go to build/notebooks. Together they take
// more than the 10 minutes that go test gives a package. When the limit is near, the notebook at work is stopped and named.
package notebooks_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/scorekit/lab/internal/notebook"
	"github.com/scorekit/lab/internal/setup"
	"github.com/scorekit/lab/internal/testvalues"
)

// TestMain leaves the tests out under -short.
func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		testvalues.LeaveOut(m, "left out by -short: executing the notebooks")
	}
	os.Exit(m.Run())
}

func TestNotebooks(t *testing.T) {
	books, err := notebook.List(".")
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	if deadline, ok := t.Deadline(); ok {
		var cancel context.CancelFunc
		// Time enough to stop the kernel and report before go test ends the process.
		ctx, cancel = context.WithDeadlineCause(ctx, deadline.Add(-15*time.Second),
			errors.New("stopped because the time limit of go test is near: give more with -timeout 60m"))
		defer cancel()
	}
	s, err := setup.Find(".", false)
	if err != nil {
		t.Fatal(err)
	}
	s.Out = os.Stdout
	if err := s.Ensure(ctx); err != nil {
		t.Fatal(err)
	}
	runner := notebook.Runner{
		Setup:   s,
		Folder:  filepath.Join(s.Checkout, "build", "notebooks"),
		Timeout: 30 * time.Minute,
		HTML:    true,
		Out:     os.Stdout,
	}
	for _, book := range books {
		t.Run(book.Name, func(t *testing.T) {
			result, err := runner.Run(ctx, book)
			if err != nil {
				t.Error(err)
			}
			// Each claim that held is a test of its own; one that does not fails its cell and with it the notebook.
			for i, claim := range result.Claims {
				t.Run(fmt.Sprintf("claim_%02d", i+1), func(t *testing.T) { t.Log(claim) })
			}
			if len(result.Claims) == 0 {
				t.Error("the notebook checks nothing")
			}
		})
	}
}
