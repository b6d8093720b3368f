package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// capture runs a command line and returns its status and what it writes to standard output and standard error.
func capture(t *testing.T, ctx context.Context, line ...string) (status int, out, errors string) {
	t.Helper()
	var texts [2]string
	files := []**os.File{&os.Stdout, &os.Stderr}
	done := make(chan int, 2)
	var writers []*os.File
	for i, file := range files {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		old := *file
		*file = w
		defer func() { *file = old }()
		writers = append(writers, w)
		go func() {
			text, _ := io.ReadAll(r)
			texts[i] = string(text)
			done <- i
		}()
	}
	status = execute(ctx, line)
	for _, w := range writers {
		w.Close()
	}
	<-done
	<-done
	return status, texts[0], texts[1]
}

// small is what makes a training take a second in pure Go.
var small = []string{"--rows", "200", "--hidden", "8", "--steps", "12", "--batch", "16", "--checkpoint-every", "4", "--samples-every", "-1", "--backend", "go"}

// A person's own table from the file to samples, with JSON that a program reads on standard output and all else on standard
// error.
func TestFromTableToSamples(t *testing.T) {
	t.Setenv("SCOREKIT_QUIET", "1")
	dir := t.TempDir()
	table := filepath.Join(dir, "table.csv")
	var text strings.Builder
	text.WriteString("a;b;kind\n")
	for i := range 60 {
		text.WriteString([]string{"1.5;200;x\n", "2.5;210;y\n", "1.75;190;x\n", "2;205;y\n"}[i%4])
	}
	if err := os.WriteFile(table, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	run := filepath.Join(dir, "run")
	status, out, errors := capture(t, t.Context(), append([]string{"train", "--data", table, "--label", "kind", "--out", run, "--json"}, small...)...)
	if status != 0 {
		t.Fatalf("status %d: %s", status, errors)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for i, line := range lines {
		var event map[string]any
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		want := "progress"
		if i == len(lines)-1 {
			want = "summary"
			if event["finished"] != true || event["step"] != 12.0 || event["net"] != "noise-mlp" || event["objective"] != "multinoise" {
				t.Errorf("summary %s", line)
			}
		}
		if event["event"] != want {
			t.Errorf("line %d is %s", i, line)
		}
	}
	if !strings.Contains(errors, "54 rows to learn from, 6 held out, 2 columns") {
		t.Errorf("standard error: %s", errors)
	}
	samples := filepath.Join(dir, "samples.csv")
	document := func(want map[string]any, line ...string) {
		t.Helper()
		status, out, errors := capture(t, t.Context(), append(line, "--json")...)
		var got map[string]any
		if err := json.Unmarshal([]byte(out), &got); err != nil || status != 0 {
			t.Fatalf("%v: status %d, %v: %s%s", line, status, err, out, errors)
		}
		for key, value := range want {
			if got[key] != value {
				t.Errorf("%v: %s is %v, want %v", line, key, got[key], value)
			}
		}
	}
	document(map[string]any{"samples": 7.0, "sampler": "heun", "out": samples}, "sample", "--model", run, "-n", "7", "--out", samples, "--backend", "go")
	if text, err := os.ReadFile(samples); err != nil || !strings.HasPrefix(string(text), "a,b\n") || strings.Count(string(text), "\n") != 8 {
		t.Errorf("%v: %s", err, text)
	}
	document(map[string]any{"points": 7.0}, "score", "--model", run, "--at", samples, "--out", filepath.Join(dir, "scores.npy"), "--backend", "go")
	document(map[string]any{"on": "held-out rows", "rows": 6.0}, "eval", "--model", run, "--examples", "20", "--likelihood", "2", "--backend", "go")
	document(map[string]any{"on": table, "rows": 60.0}, "eval", "--model", run, "--data", table, "--examples", "20", "--likelihood", "-1", "--backend", "go")
	document(map[string]any{"finished": true, "has_weights": true, "transform": "standardize"}, "info", run)
	for _, line := range [][]string{{"info", run}, {"eval", "--model", run, "--examples", "20", "--likelihood", "-1", "--backend", "go"}, {"sample", "--model", run, "--out", filepath.Join(dir, "s.png"), "--backend", "go", "-n", "5"}} {
		if status, out, errors := capture(t, t.Context(), line...); status != 0 || out == "" || strings.HasPrefix(out, "{") {
			t.Errorf("%v: status %d: %s%s", line, status, out, errors)
		}
	}
	// The saved config makes the same run.
	again := filepath.Join(dir, "again")
	if status, _, errors := capture(t, t.Context(), "train", "--config", filepath.Join(run, "config.toml"), "--out", again); status != 0 {
		t.Fatal(errors)
	}
	for _, name := range []string{"config.toml", "loss.csv", filepath.Join("checkpoints", "step-000000012.safetensors")} {
		a, _ := os.ReadFile(filepath.Join(run, name))
		if b, err := os.ReadFile(filepath.Join(again, name)); err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s is another one (%v)", name, err)
		}
	}
	// A flag goes before the file, whatever it lists.
	_, out, errors = capture(t, t.Context(), "train", "--config", filepath.Join(run, "config.toml"), "--hidden", "5,6", "--seed", "9", "--print-config")
	if !strings.Contains(out, "hidden = [5, 6]\n") || !strings.Contains(out, "seed = 9\n") || !strings.Contains(out, "steps = 12\n") {
		t.Errorf("the settings are %s%s", out, errors)
	}
}

// Ctrl-C ends with status 130, a checkpoint and the command that goes on, which does.
func TestInterrupt(t *testing.T) {
	t.Setenv("SCOREKIT_QUIET", "1")
	run := filepath.Join(t.TempDir(), "a run")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errInterrupted)
	line := append([]string{"train", "--data", "ring", "--out", run, "--sigma", "0.5"}, small...)
	status, _, errors := capture(t, ctx, line...)
	if status != 130 || !strings.Contains(errors, "train --resume --out '"+run+"'") {
		t.Errorf("status %d: %s", status, errors)
	}
	if status, _, errors := capture(t, t.Context(), line...); status != 1 || !strings.Contains(errors, "holds a run already") {
		t.Errorf("into the same folder: status %d: %s", status, errors)
	}
	if status, out, errors := capture(t, t.Context(), "train", "--resume", "--out", run, "--steps", "13"); status != 0 || !strings.Contains(out, "13 of 13 steps") {
		t.Errorf("status %d: %s%s", status, out, errors)
	}
}

func TestMistakes(t *testing.T) {
	dir := t.TempDir()
	for _, test := range []struct {
		want int
		text string
		line []string
	}{
		{2, "--out: must name", []string{"train", "--data", "ring"}},
		{2, "data: must be given", []string{"train", "--out", filepath.Join(dir, "a")}},
		{2, "did you mean noise-mlp?", []string{"train", "--data", "ring", "--net", "noise-mpl", "--out", filepath.Join(dir, "a")}},
		{2, `must be a whole number`, []string{"train", "--data", "ring", "--steps", "many", "--out", filepath.Join(dir, "a")}},
		{2, "unknown flag", []string{"train", "--date", "ring"}},
		{2, "takes no arguments", []string{"train", "ring"}},
		{2, "--resume: --out must name", []string{"train", "--resume"}},
		{2, "no folder", []string{"train", "--resume", "--out", filepath.Join(dir, "a")}},
		{2, "config file", []string{"train", "--config", filepath.Join(dir, "a.toml"), "--out", filepath.Join(dir, "a")}},
		{1, "no built-in set", []string{"train", "--data", "rings.csv", "--out", filepath.Join(dir, "a"), "--backend", "go"}},
		{1, "which net noise-mlp needs", []string{"train", "--data", "ring", "--net", "noise-mlp", "--objective", "implicit", "--out", filepath.Join(dir, "a"), "--backend", "go"}},
		{2, "--model: must name", []string{"sample", "--out", "a.csv"}},
		{2, "must end in .npy, .csv, .png", []string{"sample", "--model", dir, "--out", "a.txt"}},
		{1, "holds no run", []string{"sample", "--model", dir, "--out", "a.csv"}},
		{2, "--at: must name", []string{"score", "--model", dir, "--out", "a.csv"}},
		{1, "holds no run", []string{"eval", "--model", dir}},
		{2, "must be one, the folder of a run", []string{"info"}},
		{1, "there is no folder", []string{"info", filepath.Join(dir, "none")}},
	} {
		status, _, errors := capture(t, t.Context(), test.line...)
		if status != test.want || !strings.Contains(errors, test.text) {
			t.Errorf("scorelab %q: status %d, want %d: %s, want %q", test.line, status, test.want, errors, test.text)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "a")); err == nil {
		t.Error("a mistake left a folder behind")
	}
}

// Each shell gets a script, which completes names where they are asked for.
func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if status, out, errors := capture(t, t.Context(), "completion", shell); status != 0 || !strings.Contains(out, "scorelab") {
			t.Errorf("%s: status %d: %s", shell, status, errors)
		}
	}
	for _, test := range []struct {
		line []string
		want []string
	}{
		{[]string{"train", "--net", "noise"}, []string{"noise-mlp", "noise-residual-mlp", "noise-energy-mlp"}},
		{[]string{"train", "--objective", ""}, []string{"implicit", "multinoise", "edm"}},
		{[]string{"train", "--data", ""}, []string{"ring", "wine", "mnist"}},
		{[]string{"sample", "--sampler", "dpm"}, []string{"dpmpp-2m"}},
		{[]string{"tr"}, []string{"train"}},
	} {
		_, out, _ := capture(t, t.Context(), append([]string{"__complete"}, test.line...)...)
		for _, want := range test.want {
			if !regexp.MustCompile(`(?m)^` + want + `(\s|$)`).MatchString(out) {
				t.Errorf("%v completes to %q, without %s", test.line, out, want)
			}
		}
	}
}

// Every verb says what it does, every flag what it is; long texts stay within a screen's width, but for the flags.
func TestHelp(t *testing.T) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Short == "" {
			t.Errorf("%s has no text", c.CommandPath())
		}
		for _, line := range strings.Split(c.Long, "\n") {
			if n := len([]rune(line)); n > 135 {
				t.Errorf("%s: a line of %d letters: %s", c.CommandPath(), n, line)
			}
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if len(f.Usage) < 4 {
				t.Errorf("%s --%s has no text", c.CommandPath(), f.Name)
			}
		})
		for _, sub := range c.Commands() {
			if !sub.Hidden { // those are for the program itself
				walk(sub)
			}
		}
	}
	walk(rootCommand())
}
