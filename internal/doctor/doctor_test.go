package doctor

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorekit/lab/internal/setup"
	"github.com/scorekit/lab/scorekit/backend"
)

func TestFindingShowsTheCure(t *testing.T) {
	if got := (Finding{Works, "Go", "go1.26.0", ""}).String(); got != "ok    Go               go1.26.0" {
		t.Errorf("%q", got)
	}
	got := (Finding{Failed, "Python", "none\nat all", "install it"}).String()
	for _, want := range []string{"FAIL  Python", "none\n", "→ install it"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
}

// TestExamineWithoutSetUp looks at a folder in which nothing is set up: the failing line says so and how to cure it, and the
// computing works all the same, in pure Go.
func TestExamineWithoutSetUp(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOMLX_BACKEND", "")
	t.Setenv("SCORELAB_HOME", filepath.Join(t.TempDir(), "none"))
	t.Setenv("SCOREKIT_QUIET", "1")
	s, err := setup.Find(".", false)
	if err != nil {
		t.Fatal(err)
	}
	verdicts := map[string]Finding{}
	for finding := range Examine(t.Context(), s) {
		verdicts[finding.Subject] = finding
		if finding.Verdict == Failed && finding.Cure == "" {
			t.Errorf("no cure in %v", finding)
		}
	}
	want := map[string]Verdict{"Go": Works, "set-up": Failed, "XLA plugin": Lacking, "backend": Works, "training": Works}
	for subject, verdict := range want {
		if got := verdicts[subject]; got.Verdict != verdict {
			t.Errorf("%s: %v, want %s", subject, got, verdict)
		}
	}
}

// TestTrainingCheckNeedsItsContext sees that a check that was stopped does not pass.
func TestTrainingCheckNeedsItsContext(t *testing.T) {
	opened, err := backend.OpenConfig("go")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if detail, err := trainingCheck(ctx, opened); err == nil {
		t.Errorf("a stopped check says %q", detail)
	}
}
