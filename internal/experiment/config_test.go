package experiment

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// changed returns a config in which no field has its default.
func changed(t *testing.T) Config {
	t.Helper()
	c := Default()
	for _, f := range c.Fields() {
		text := map[string]string{"string": `a "b" = #c`, "strings": "alcohol,x 2", "int": "7", "ints": "3,5", "float": "0.0625", "bool": "true"}[f.Type()]
		before := f.String()
		if err := f.Set(text); err != nil {
			t.Fatalf("%s: %v", f.Key, err)
		}
		if f.String() == before {
			t.Fatalf("%s: stays %s", f.Key, before)
		}
	}
	return c
}

// Every setting comes back from its own file, and from YAML.
func TestConfigRoundTrip(t *testing.T) {
	for _, want := range []Config{Default(), changed(t)} {
		got := Default()
		if err := got.Read(write(t, "run.toml", string(want.TOML()))); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(normal(got), normal(want)) {
			t.Errorf("comes back as\n%+v, was\n%+v", got, want)
		}
	}
	got := Default()
	if err := got.Read(write(t, "run.yaml", "data: wine\nsteps: 30\nsigma: 0.5\nhidden: [8, 9]\ncosine: true\ncolumns: [a, 2]\nlearning-rate: 1e-3\nema: 0\n")); err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Data, want.Steps, want.Sigma, want.Hidden, want.Cosine, want.Columns, want.EMA = "wine", 30, "0.5", []int{8, 9}, true, []string{"a", "2"}, 0
	if !reflect.DeepEqual(got, want) {
		t.Errorf("YAML is read as\n%+v, want\n%+v", got, want)
	}
}

// normal makes empty lists alike.
func normal(c Config) Config {
	for _, f := range c.Fields() {
		if f.value.Kind() == reflect.Slice && f.value.Len() == 0 {
			f.value.SetZero()
		}
	}
	return c
}

func TestConfigFileErrors(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"a.toml", "stepz = 3", `a.toml: unknown key "stepz" (did you mean steps?): must be one of `},
		{"a.yaml", "batch-size: 3", `a.yaml: unknown key "batch-size"`},
		{"a.toml", "steps = 3.5", "key steps: value 3.5: must be a whole number"},
		{"a.toml", `steps = "3"`, "key steps: value 3: must be a whole number"},
		{"a.toml", "cosine = 1", "key cosine: value 1: must be true or false"},
		{"a.yaml", "hidden: 64", "key hidden: value 64: must be a list of whole numbers"},
		{"a.toml", "data = [1, 2]", "key data: value [1 2]: must be a text"},
		{"a.toml", "[train]\nsteps = 3", `unknown key "train"`},
		{"a.toml", "steps = 3\nsteps = 4", "a.toml"},
		{"a.toml", "steps =", "a.toml"},
		{"a.yml", "steps: [", "a.yml"},
	} {
		c := Default()
		if err := c.Read(write(t, test.name, test.text)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: error %v, want one that says %q", test.text, err, test.want)
		}
	}
	c := Default()
	if err := c.Read(filepath.Join(t.TempDir(), "none.toml")); err == nil || !strings.Contains(err.Error(), "none.toml") {
		t.Errorf("error %v", err)
	}
}

// set returns the default config of the ring with some settings changed: pairs of key and text.
func set(t *testing.T, pairs ...string) Config {
	t.Helper()
	c := Default()
	c.Data = "ring"
	for i := 0; i < len(pairs); i += 2 {
		found := false
		for _, f := range c.Fields() {
			if f.Key == pairs[i] {
				found = true
				if err := f.Set(pairs[i+1]); err != nil {
					t.Fatal(err)
				}
			}
		}
		if !found {
			t.Fatalf("there is no setting %s", pairs[i])
		}
	}
	return c
}

func TestImpossibleSettings(t *testing.T) {
	for _, test := range []struct {
		pairs []string
		want  string
	}{
		{[]string{"data", ""}, "data: must be given"},
		{[]string{"net", "noise_mlp"}, `net "noise_mlp" (did you mean noise-mlp?): must be one of auto, linear,`},
		{[]string{"objective", "denoise"}, `(did you mean denoising?)`},
		{[]string{"transform", "standardise"}, `transform "standardise" (did you mean standardize?)`},
		{[]string{"transform", "none+whiten"}, "none must stand alone"},
		{[]string{"sigma", "0"}, `sigma "0": must be a positive number`},
		{[]string{"sigma", "2:1"}, `sigma "2:1"`},
		{[]string{"sigma", "0.1:"}, `sigma "0.1:"`},
		{[]string{"steps", "-1"}, "steps -1: must be at least 1, or 0 for the usual number"},
		{[]string{"holdout", "1"}, "holdout 1: must be at least 0 and below 1"},
		{[]string{"hidden", "8,0"}, "hidden 0: must be at least 1"},
		{[]string{"image-size", "28x"}, `image-size "28x"`},
		{[]string{"images", "4x4x2"}, `images "4x4x2"`},
		{[]string{"missing", "skip"}, `missing "skip"`},
	} {
		if err := set(t, test.pairs...).Validate(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: error %v, want one that says %q", test.pairs, err, test.want)
		}
	}
}

// What does not go together is refused with the cure, and what is left open is chosen to go together.
func TestPairs(t *testing.T) {
	points := Facts{Name: "ring", Kind: "points", Rows: 1000, Columns: []string{"x1", "x2"}, Std: 2}
	images := Facts{Name: "faces", Kind: "images", Rows: 1000, Height: 8, Width: 8, Channels: 3, Std: 0.5, Classes: []string{"a", "b"}}
	for _, test := range []struct {
		facts Facts
		pairs []string
		want  string // net objective sigma, or part of an error
	}{
		{points, nil, "noise-mlp multinoise 0.063:40"},
		{points, []string{"sigma", "0.5"}, "mlp denoising 0.5"},
		{points, []string{"sigma", "0.1:9"}, "noise-mlp multinoise 0.1:9"},
		{points, []string{"objective", "implicit"}, "mlp implicit auto"},
		{points, []string{"net", "residual-mlp"}, "residual-mlp implicit auto"},
		{points, []string{"net", "residual-mlp", "sigma", "0.5"}, "residual-mlp denoising 0.5"},
		{points, []string{"objective", "contrastive"}, "energy-mlp contrastive auto"},
		{points, []string{"objective", "denoising"}, "mlp denoising 0.4"},
		{points, []string{"net", "noise-mlp", "sigma", "0.5"}, "noise-mlp denoising 0.5"},
		{images, nil, "unet edm 0.005:10"},
		{images, []string{"net", "noise-mlp"}, "noise-mlp multinoise 0.005:10"},
		{images, []string{"conditional", "true"}, "unet edm 0.005:10"},
		{points, []string{"net", "noise-mlp", "objective", "implicit"}, "objective implicit gives no noise level, which net noise-mlp needs: take one of the nets linear"},
		{points, []string{"net", "mlp", "objective", "multinoise"}, "net mlp cannot be told the noise level, of which objective multinoise draws many: take one of the nets noise-mlp"},
		{points, []string{"net", "mlp", "objective", "implicit", "sigma", "0.5"}, "sigma 0.5: objective implicit has no noise level"},
		{points, []string{"objective", "denoising", "sigma", "0.1:1"}, "sigma 0.1:1: objective denoising has one noise level"},
		{points, []string{"objective", "multinoise", "sigma", "0.1"}, "sigma 0.1: objective multinoise has many"},
		{points, []string{"net", "unet"}, "net unet is for images, which data ring are not"},
		{points, []string{"conditional", "true"}, "data ring have no classes"},
		{images, []string{"conditional", "true", "net", "noise-mlp"}, "net noise-mlp has no classes: take one of residual-conv, unet"},
		{points, []string{"flip", "true"}, "data ring are no images"},
		{Facts{Name: "flat", Kind: "table", Columns: []string{"a"}}, nil, "all examples are the same"},
		{points, []string{"objective", "nonnegative", "transform", "minmax"}, "take transform none"},
		{points, []string{"objective", "contrastive", "chain-buffer", "5"}, "chain-buffer 5: must be at least the batch, 128"},
		{Facts{Name: "wide", Kind: "images", Height: 28, Width: 28, Channels: 1, Std: 1}, []string{"net", "mlp", "objective", "implicit"}, "784 numbers of an example, at most 256"},
	} {
		c, err := set(t, test.pairs...).resolve(test.facts)
		got := c.Net + " " + c.Objective + " " + c.Sigma
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, test.want) {
			t.Errorf("%s with %v: %s, want %s", test.facts.Name, test.pairs, got, test.want)
		}
	}
}

// Few rows are passed over 200 times, and many for 2,000 steps; what is given stays.
func TestUsualSteps(t *testing.T) {
	facts := Facts{Name: "wine", Kind: "table", Rows: 160, Columns: []string{"a", "b"}, Std: 1}
	for _, test := range []struct {
		rows, batch, given, want int
	}{
		{160, 128, 0, 250}, {160, 64, 0, 500}, {40, 128, 0, 200}, {1000, 128, 0, 1562}, {10_000, 128, 0, 2000}, {-1, 128, 0, 2000}, {160, 128, 7000, 7000},
	} {
		facts.Rows = test.rows
		c := set(t)
		c.Batch, c.Steps = test.batch, test.given
		c, err := c.resolve(facts)
		if err != nil || c.Steps != test.want || c.CheckpointEvery != test.want/10 {
			t.Errorf("%d rows in batches of %d, %d steps asked for: %d, a checkpoint every %d (%v), want %d", test.rows, test.batch, test.given, c.Steps, c.CheckpointEvery, err, test.want)
		}
	}
}

// Each setting says what it is, and each name that is completed is accepted.
func TestSettingsAreDescribed(t *testing.T) {
	sampling, evaluating, scoring, c := DefaultSampling(), DefaultEvaluating(), DefaultScoring(), Default()
	for _, settings := range []any{&c, &sampling, &evaluating, &scoring} {
		seen := map[string]bool{}
		for _, f := range Fields(settings) {
			if len(f.Usage) < 10 || seen[f.Key] {
				t.Errorf("%T: %s: usage %q, or twice", settings, f.Key, f.Usage)
			}
			seen[f.Key] = true
		}
	}
	for _, f := range c.Fields() {
		for _, name := range Names(f.Key) {
			c := set(t, f.Key, name)
			if err := c.Validate(); err != nil {
				t.Errorf("%s %s: %v", f.Key, name, err)
			}
		}
	}
}
