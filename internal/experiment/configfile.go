package experiment

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"go.yaml.in/yaml/v3"
)

// Read sets c to what a config file says, a TOML or, by its ending .yaml or .yml, a YAML file whose keys are those of
// [Config.Fields]. What the file does not mention stays as it is.
//
// It returns an error for a file that cannot be read or parsed, and for an unknown key or a value of the wrong kind: it
// names the file and the key.
func (c *Config) Read(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("config file: %w", err)
	}
	values := map[string]any{}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".yaml", ".yml":
		err = yaml.Unmarshal(text, &values)
	default:
		err = toml.Unmarshal(text, &values)
	}
	if err != nil {
		return fmt.Errorf("config file %s: %w", path, err)
	}
	fields := map[string]*Field{}
	for _, f := range c.Fields() {
		fields[f.Key] = f
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		f, known := fields[key]
		if !known {
			return fmt.Errorf("config file %s: unknown key %q%s: must be one of %s", path, key,
				nearest(key, slices.Collect(maps.Keys(fields))), list(slices.Sorted(maps.Keys(fields))))
		}
		if err := f.assign(values[key]); err != nil {
			return fmt.Errorf("config file %s: key %s: value %w", path, key, err)
		}
	}
	return nil
}

// TOML returns the settings as a config file that [Config.Read] reads back, each with its usage above it.
func (c Config) TOML() []byte {
	var out bytes.Buffer
	for i, f := range c.Fields() {
		if i > 0 {
			fmt.Fprintln(&out)
		}
		fmt.Fprintf(&out, "# %s\n", f.Usage)
		value := f.value.Interface()
		if f.value.Kind().String() == "slice" && f.value.Len() == 0 {
			fmt.Fprintf(&out, "%s = []\n", f.Key)
			continue
		}
		// Only a type that TOML has no form for can fail here, and there is none among the fields.
		_ = toml.NewEncoder(&out).Encode(map[string]any{f.Key: value})
	}
	return out.Bytes()
}
