// Package setuptest gives tests the project's Jupyter environment. It is for tests.
package setuptest

import (
	"fmt"
	"testing"

	"github.com/scorekit/lab/internal/setup"
)

// Jupyter returns the set-up of the project around the working folder, which it makes where there is none. With -short it says
// that what is left out, and returns false: making it takes long, and so does each notebook.
func Jupyter(t *testing.T, what string) (s setup.Setup, ok bool) {
	t.Helper()
	if testing.Short() {
		fmt.Println("left out by -short:", what)
		return s, false
	}
	s, err := setup.Find(".", false)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s, true
}
