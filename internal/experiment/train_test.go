package experiment

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scorekit/lab/scorekit"
)

// tiny returns settings of a training that takes a second in pure Go.
func tiny(t *testing.T, pairs ...string) Config {
	return set(t, append([]string{"rows", "200", "net", "mlp", "hidden", "8", "sigma", "0.5", "steps", "12", "batch", "16", "checkpoint-every", "4",
		"samples-every", "-1", "backend", "go", "dtype", "float64"}, pairs...)...)
}

func train(t *testing.T, ctx context.Context, c Config, dir string, resume bool, progress func(scorekit.Report)) (*Summary, error) {
	t.Helper()
	return Train(ctx, Training{Config: c, Out: dir, Resume: resume, Command: "scorelab", Progress: progress})
}

// A run that is stopped, resumed by its own config and looked into on the way ends with the bytes of one that is not. The
// folder then holds what it should.
func TestResume(t *testing.T) {
	dir := t.TempDir()
	whole, parts := filepath.Join(dir, "whole"), filepath.Join(dir, "two parts")
	if _, err := train(t, t.Context(), tiny(t), whole, false, nil); err != nil {
		t.Fatal(err)
	}
	stop := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	looked := tiny(t, "samples-every", "5", "samples", "9")
	summary, err := train(t, ctx, looked, parts, false, func(r scorekit.Report) {
		if r.Step == 0 { // reports are a quarter of a second apart: with this the next one comes after the first block of steps
			time.Sleep(300 * time.Millisecond)
		} else {
			cancel(stop)
		}
	})
	if !errors.Is(err, stop) {
		t.Fatalf("error %v", err)
	}
	if summary.Finished || summary.Step == 0 || summary.Step >= 12 {
		t.Fatalf("stopped at step %d", summary.Step)
	}
	if want := "scorelab train --resume --out '" + parts + "'"; summary.Resume != want || !strings.Contains(summary.Interrupted(), want) {
		t.Errorf("resume with %s, want %s", summary.Resume, want)
	}
	if _, err := train(t, t.Context(), looked, parts, false, nil); err == nil || !strings.Contains(err.Error(), "holds a run already") || !strings.Contains(err.Error(), "--resume") {
		t.Errorf("into the folder of another run: %v", err)
	}
	c, err := ReadConfig(parts)
	if err != nil {
		t.Fatal(err)
	}
	// The time of both parts counts.
	first := *summary
	first.Seconds = 500
	if err := writeJSON(filepath.Join(parts, summaryName), first); err != nil {
		t.Fatal(err)
	}
	// The second part takes a while that rounding leaves.
	slow := func(scorekit.Report) { time.Sleep(100 * time.Millisecond) }
	if summary, err = train(t, t.Context(), c, parts, true, slow); err != nil {
		t.Fatal(err)
	}
	if !summary.Finished || summary.Seconds <= 500 || summary.Step != 12 || summary.Resume != "" || summary.Loss == nil {
		t.Errorf("summary %+v", summary)
	}
	weights := func(dir string) [][]float64 {
		t.Helper()
		run, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		points := [][]float64{{1, 2}, {-3, 0.5}}
		b, err := openBackend("go")
		if err != nil {
			t.Fatal(err)
		}
		s, err := scorekit.Evaluate(t.Context(), b, run.Fitted, points)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := scorekit.Rows(s)
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	if a, b := weights(whole), weights(parts); !reflect.DeepEqual(a, b) {
		t.Errorf("scores %v of the resumed run, %v of the other", b, a)
	}
	for _, name := range []string{lossName} {
		a, _ := os.ReadFile(filepath.Join(whole, name))
		b, err := os.ReadFile(filepath.Join(parts, name))
		if err != nil || string(a) != string(b) || strings.Count(string(b), "\n") != 13 {
			t.Errorf("%s differs: %v\n%s", name, err, cmp.Diff(string(a), string(b)))
		}
	}
	pictures, err := filepath.Glob(filepath.Join(parts, samplesDir, "*.png"))
	if err != nil || len(pictures) < 2 || filepath.Base(pictures[len(pictures)-1]) != "step-000012.png" {
		t.Errorf("samples %v", pictures)
	}
	for _, name := range []string{curveName, configName, summaryName} {
		if info, err := os.Stat(filepath.Join(parts, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	var stored Summary
	if err := readJSON(filepath.Join(parts, summaryName), &stored); err != nil || !cmp.Equal(&stored, summary, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1 })) {
		t.Errorf("stored %+v, want %+v: %v", stored, summary, err)
	}
	if stored.Versions.Go == "" || !strings.Contains(stored.Versions.Backend, "pure Go") {
		t.Errorf("versions %+v", stored.Versions)
	}
	// Another network cannot go on from these weights.
	c.Hidden = []int{9}
	if _, err := train(t, t.Context(), c, parts, true, nil); err == nil || !strings.Contains(err.Error(), "model") {
		t.Errorf("with another network: %v", err)
	}
	// The config of the folder makes the same run again.
	again, err := ReadConfig(whole)
	if err != nil {
		t.Fatal(err)
	}
	if prepared, err := Prepare(t.Context(), again); err != nil || !reflect.DeepEqual(normal(prepared), normal(again)) {
		t.Errorf("the config of a run does not stay as it is: %v\n%s", err, cmp.Diff(string(again.TOML()), string(prepared.TOML())))
	}
}

func TestFolders(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "thesis.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for want, f := range map[string]func() error{
		"holds other files: must be a new or empty folder": func() error { _, err := openFolder(dir, false, "scorelab"); return err },
		"holds no run to go on with":                       func() error { _, err := openFolder(dir, true, "scorelab"); return err },
		"is a file: must be a new folder":                  func() error { _, err := openFolder(filepath.Join(dir, "thesis.txt"), false, "scorelab"); return err },
		"holds no run: there is no config.toml":            func() error { _, err := Open(dir); return err },
		"there is no folder":                               func() error { _, err := Open(filepath.Join(dir, "none")); return err },
		"no built-in set of that name (did you mean ring?)": func() error {
			_, err := Prepare(t.Context(), set(t, "data", "rnig"))
			return err
		},
		"holdout 0.1 of 2 rows of two.csv: must leave": func() error {
			_, err := Prepare(t.Context(), set(t, "data", write(t, "two.csv", "1\n2\n")))
			return err
		},
		"all examples are the same": func() error {
			_, err := Prepare(t.Context(), set(t, "data", write(t, "one.csv", "1\n"), "holdout", "0", "transform", "none"))
			return err
		},
		"columns alcohol: means nothing for the built-in set": func() error {
			_, err := Prepare(t.Context(), set(t, "columns", "alcohol"))
			return err
		},
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one that says %q", err, want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "thesis.txt")); err != nil {
		t.Error(err)
	}
	// Nothing is left of a run whose settings are impossible.
	out := filepath.Join(dir, "new")
	if _, err := train(t, t.Context(), tiny(t, "objective", "multinoise"), out, false, nil); err == nil {
		t.Error("no error")
	}
	if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is there: %v", err)
	}
}

// Each objective and each network that is no matter of images trains.
func TestEachObjectiveAndNetwork(t *testing.T) {
	var cases [][]string
	for _, l := range losses {
		switch l.noise {
		case manyLevels:
			cases = append(cases, []string{"objective", l.name, "net", "auto", "sigma", "auto"})
		case oneLevel:
			cases = append(cases, []string{"objective", l.name})
		default:
			net := "mlp"
			if l.name == "contrastive" {
				net = "energy-mlp"
			}
			cases = append(cases, []string{"objective", l.name, "sigma", "auto", "net", net})
		}
	}
	for _, n := range networks {
		switch {
		case n.images || n.name == "mlp" || n.name == "noise-mlp":
		case n.noise:
			cases = append(cases, []string{"net", n.name, "sigma", "0.1:10"})
		default:
			cases = append(cases, []string{"net", n.name})
		}
	}
	for _, pairs := range cases {
		t.Run(strings.Join(pairs, " "), func(t *testing.T) {
			if pairs[1] == "nonnegative" { // data that begin at 0
				pairs = append(pairs, "data", write(t, "half.csv", "1\n2\n0.5\n0.1\n3\n0.7\n"), "holdout", "0")
			}
			c := tiny(t, append([]string{"steps", "2", "width", "8", "blocks", "1", "transform", "none"}, pairs...)...)
			dir := filepath.Join(t.TempDir(), "run")
			summary, err := train(t, t.Context(), c, dir, false, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !summary.Finished || summary.Parameters == 0 {
				t.Errorf("%+v", summary)
			}
		})
	}
}
