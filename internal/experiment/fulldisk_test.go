package experiment

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/internal/disktest"
	"github.com/scorekit/lab/scorekit"
)

// Whatever a file of samples or scores is called, on a full disk the error names it, the one that is in its place stays,
// and nothing else is left.
func TestOutputOnAFullDisk(t *testing.T) {
	points, pictures := make([][]float64, 3000), make([][]float64, 30)
	for i := range points {
		points[i] = []float64{float64(i%71) / 7, float64(i%53) / 9}
	}
	for i := range pictures {
		for j := range 144 {
			pictures[i] = append(pictures[i], float64((i*j*j+j)%17)/16)
		}
	}
	plane := &Drawn{Facts: Facts{Columns: []string{"a", "b"}}, X: tensors.FromValue(points)}
	images := &Drawn{Facts: Facts{Kind: "images", Height: 12, Width: 12, Channels: 1, High: 1}, X: tensors.FromValue(pictures)}
	scored := &Scored{Facts: plane.Facts, Score: plane.X}
	saves := map[string]func(path string) error{
		"points.npy": plane.Save, "points.csv": plane.Save, "points.png": plane.Save, "scores.npy": scored.Save, "scores.csv": scored.Save,
		"images.npy": images.Save, "images.csv": images.Save, "images.png": images.Save,
	}
	disktest.Each(t, 1, func(t *testing.T, d disktest.Disk) {
		for name, save := range saves {
			for _, room := range []int{0, 4096} {
				dir := filepath.Join(d.Dir, fmt.Sprint(room, name))
				if err := os.Mkdir(dir, 0o755); err != nil {
					t.Fatal(err)
				}
				path := filepath.Join(dir, name)
				if err := os.WriteFile(path, []byte("what was there"), 0o644); err != nil {
					t.Fatal(err)
				}
				free := d.Fill(t, room)
				defer free()
				for _, path := range []string{path, filepath.Join(dir, "new"+filepath.Ext(name))} {
					if err := save(path); err == nil || !strings.Contains(err.Error(), "writing "+path+": ") {
						t.Errorf("%s with room for %d bytes: error %v, want one that names the file", path, room, err)
					}
				}
				free()
				disktest.Holds(t, dir, name)
				if now, err := os.ReadFile(path); err != nil || string(now) != "what was there" {
					t.Errorf("%s with room for %d bytes: now %q, %v", name, room, now, err)
				}
			}
		}
	})
}

// A run that cannot begin for want of room leaves nothing, so that the same command begins it once there is some. One that
// the disk fills up under stops with an error that names the file, and goes on later to the bytes of one that did not stop.
func TestTrainOnAFullDisk(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "whole")
	if _, err := train(t, t.Context(), tiny(t), whole, false, nil); err != nil {
		t.Fatal(err)
	}
	disktest.Each(t, 2, func(t *testing.T, d disktest.Disk) {
		run := filepath.Join(d.Dir, "run")
		free := d.Fill(t, 0)
		defer func() { free() }()
		if summary, err := train(t, t.Context(), tiny(t), run, false, nil); summary != nil || err == nil || !strings.Contains(err.Error(), "writing "+filepath.Join(run, configName)) {
			t.Errorf("on a full disk: %v, %v", summary, err)
		}
		if _, err := os.Stat(run); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the folder of a run that did not begin: %v, want it gone", err)
		}
		free()
		filled := false // as soon as the run has begun
		_, err := train(t, t.Context(), tiny(t, "samples-every", "5"), run, false, func(r scorekit.Report) {
			if r.Step == 0 && !filled {
				filled = true
				free = d.Fill(t, 0)
			}
		})
		if err == nil || !strings.Contains(err.Error(), "writing "+run) {
			t.Errorf("while the disk filled up: %v", err)
		}
		free()
		disktest.Holds(t, run, configName, summaryName)
		c, err := ReadConfig(run)
		if err != nil {
			t.Fatal(err)
		}
		c.SamplesEvery = -1
		if summary, err := train(t, t.Context(), c, run, true, nil); err != nil || !summary.Finished {
			t.Fatalf("with room again: %v, %v", summary, err)
		}
		for _, name := range []string{lossName, filepath.Join(checkpointsDir, "step-000000012.safetensors")} {
			a, _ := os.ReadFile(filepath.Join(whole, name))
			if b, err := os.ReadFile(filepath.Join(run, name)); err != nil || !bytes.Equal(a, b) {
				t.Errorf("%s is another one than that of the run that did not stop (%v)", name, err)
			}
		}
	})
}
