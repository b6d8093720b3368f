package scorekit_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/scorekit/lab/internal/disktest"
	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/net"
	"github.com/scorekit/lab/scorekit/objective"
)

// A disk that is full, or becomes so in the middle of a file, ends the training with an error that names the file. The
// checkpoint before stays as it was, nothing half-written is left, and with room again the run ends at the weights of
// one that never stopped.
func TestCheckpointOnAFullDisk(t *testing.T) {
	be := testbackend.Go(t)
	fit := func(dir string, options ...scorekit.FitOption) (*scorekit.Fitted, error) {
		// A checkpoint of this has about 80 KB.
		return scorekit.Fit(background, be, net.MLP{Hidden: []int{64, 64}}, objective.Denoising{Sigma: 0.5}, gaussian(t, 1, 0, 1),
			append(options, scorekit.WithSteps(6), scorekit.WithBatch(16), scorekit.WithCheckpoints(dir, 2))...)
	}
	whole, err := fit(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	disktest.Each(t, 2, func(t *testing.T, d disktest.Disk) {
		for _, room := range []int{0, 20 << 10} {
			dir := filepath.Join(d.Dir, fmt.Sprint(room))
			free := func() {}
			defer func() { free() }()
			f, err := fit(dir, scorekit.WithCallback(func(s *scorekit.FitStep) error {
				if s.Step == 3 {
					free = d.Fill(t, room)
				}
				return nil
			}))
			wantError(t, err, "scorekit: Fit: checkpoint: writing "+filepath.Join(dir, "step-000000004.safetensors"))
			if f == nil || f.Steps() != 4 {
				t.Errorf("room for %d bytes: model %v, want that of step 4", room, f)
			}
			disktest.Holds(t, dir, "step-000000002.safetensors")
			free()
			if f, err := scorekit.Load(dir); err != nil || f.Steps() != 2 {
				t.Errorf("room for %d bytes: %v", room, err)
			}
			resumed, err := fit(dir, scorekit.WithResume())
			if err != nil {
				t.Fatal(err)
			}
			if a, b := fmt.Sprint(scoresAt(t, be, whole)), fmt.Sprint(scoresAt(t, be, resumed)); a != b {
				t.Errorf("uninterrupted %s, resumed %s", a, b)
			}
		}
	})
}

// A model that there is no room for leaves the one that is in its place.
func TestSaveOnAFullDisk(t *testing.T) {
	be := testbackend.Go(t)
	old, err := fitSmall(t, background, be, 2)
	if err != nil {
		t.Fatal(err)
	}
	large, err := scorekit.Fit(background, be, net.MLP{Hidden: []int{64, 64}}, objective.Denoising{Sigma: 0.5}, gaussian(t, 1, 0, 1), scorekit.WithSteps(1))
	if err != nil {
		t.Fatal(err)
	}
	disktest.Each(t, 1, func(t *testing.T, d disktest.Disk) {
		path := filepath.Join(d.Dir, "model.safetensors")
		if err := old.Save(path); err != nil {
			t.Fatal(err)
		}
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, room := range []int{0, 8 << 10} {
			free := d.Fill(t, room)
			defer free()
			wantError(t, large.Save(path), "scorekit: Save: writing "+path)
			wantError(t, large.Save(filepath.Join(d.Dir, "new")), "scorekit: Save: writing "+filepath.Join(d.Dir, "new"))
			free()
			disktest.Holds(t, d.Dir, "model.safetensors")
			if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, before) {
				t.Errorf("room for %d bytes: the file is another one (%v)", room, err)
			}
		}
	})
}
