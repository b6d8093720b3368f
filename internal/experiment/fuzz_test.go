package experiment_test

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/scorekit/lab/internal/experiment"
)

// FuzzConfig reads config files of any content: an error, or settings that say of themselves whether they are possible and
// that come back from their own TOML as they were.
func FuzzConfig(f *testing.F) {
	f.Add(experiment.Default().TOML(), false)
	f.Add([]byte("data: wine\nhidden: [64, 64]\nsigma: 0.01:10\n"), true)
	f.Add([]byte("&a [*a]"), true)
	f.Add([]byte("steps: 0x7fffffffffffffff\nlearning-rate: .inf\n"), true)
	for _, text := range []string{
		"data = \"wine\"\nsteps = 3\n", "steps = 1e3", "steps = -9223372036854775808", "learning-rate = nan", "seed = 1_000", "hidden = [1, \"a\"]",
		"sigma = \"inf:nan\"", "sigma = \"1:1:1\"", "image-size = \"0x-3\"", "columns = [\"a,b\", \"\"]", "[data]\nx = 1", "data = 1979-05-27", "\xff", "stesp = 3",
		"data = \"\"\"\na\n\\u0000\"\"\"", "probes = 9223372036854775807", "blocks = -1", "cosine = \"yes\"",
	} {
		f.Add([]byte(text), false)
	}
	f.Fuzz(func(t *testing.T, text []byte, yaml bool) {
		path := filepath.Join(t.TempDir(), "c.toml")
		if yaml {
			path = filepath.Join(filepath.Dir(path), "c.yaml")
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		c := experiment.Default()
		if err := c.Read(path); err != nil || c.Validate() != nil {
			return
		}
		again := experiment.Default()
		written := filepath.Join(filepath.Dir(path), "again.toml")
		if err := os.WriteFile(written, c.TOML(), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := again.Read(written); err != nil {
			t.Fatalf("its own TOML: %v\n%s", err, c.TOML())
		}
		if !same(c, again) {
			t.Fatalf("read %+v, and again %+v", c, again)
		}
	})
}

// same compares settings, for which an empty list is one that is not there.
func same(a, b experiment.Config) bool {
	va, vb := reflect.ValueOf(a), reflect.ValueOf(b)
	for i := range va.NumField() {
		x, y := va.Field(i), vb.Field(i)
		if x.Kind() == reflect.Slice && x.Len() == 0 && y.Len() == 0 {
			continue
		}
		if !reflect.DeepEqual(x.Interface(), y.Interface()) {
			return false
		}
	}
	return true
}
