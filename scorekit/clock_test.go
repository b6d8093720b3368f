package scorekit

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
)

// Which checkpoints are the newest follows from their steps: a clock that went back, or files that were copied in any order,
// lose nothing. Nor do temporary files of the future stay.
func TestCheckpointsByStepNotByTime(t *testing.T) {
	dir := t.TempDir()
	s, err := openStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	dated := func(name string, year int) {
		t.Helper()
		when := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
		if err := os.Chtimes(filepath.Join(dir, name), when, when); err != nil {
			t.Fatal(err)
		}
	}
	at := func(step int) *checkpoint {
		return &checkpoint{header: header{Format: checkpointFormat, Step: step, Shape: []int{2}, DType: dtypes.Float32.String()}}
	}
	temporary := filepath.Join(dir, "."+checkpointPrefix+"000000001"+checkpointSuffix+".1.tmp")
	if err := os.WriteFile(temporary, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	dated(filepath.Base(temporary), 2200)
	// Each is older by its file than the one before.
	for i, name := range []string{"step-000000010.safetensors", "step-000000020.safetensors", "step-000000030.safetensors"} {
		if err := s.save(at(10 * (i + 1))); err != nil {
			t.Fatal(err)
		}
		dated(name, 2100-10*i)
	}
	if c, err := s.newest(); err != nil || c.Step != 30 {
		t.Errorf("newest: %+v, %v; want step 30", c, err)
	}
	paths, err := s.list()
	if err != nil || len(paths) != 2 || !strings.HasSuffix(paths[0], "30.safetensors") || !strings.HasSuffix(paths[1], "20.safetensors") {
		t.Errorf("kept %q, %v; want steps 30 and 20", paths, err)
	}
	if _, err := os.Stat(temporary); err == nil {
		t.Error("a temporary file of the future was kept")
	}
}

// Progress is measured by the clock that never goes back, which Go's times carry beside the wall's: every time that is kept
// must have its reading. Then no rate and no time is negative, whatever the wall's clock does.
func TestProgressHasAClockOfItsOwn(t *testing.T) {
	var reports []Report
	p := newPacer("training", func(r Report) { reports = append(reports, r) }, 0, 10)
	p.due(1)
	for step := 2; step <= 10; step++ {
		p.tell(step, math.NaN(), step == 10)
	}
	for name, when := range map[string]time.Time{"start": p.start, "last": p.last, "first": p.first} {
		if !strings.Contains(when.String(), " m=") {
			t.Errorf("%s is %v: a time of the wall's clock alone", name, when)
		}
	}
	for _, r := range reports {
		if r.Rate < 0 || r.Elapsed < 0 || r.Left < 0 {
			t.Errorf("%+v", r)
		}
	}
}
