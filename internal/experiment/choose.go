package experiment

import (
	"fmt"
	"slices"
	"strings"
)

// oneOf returns an error unless value is one of allowed. It lists them and suggests the nearest.
func oneOf(key, value string, allowed []string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return fmt.Errorf("%s %q%s: must be one of %s", key, value, nearest(value, allowed), list(allowed))
}

func list(names []string) string { return strings.Join(names, ", ") }

// nearest returns the question whether the name that is nearest to a mistyped one was meant, or "" where none is near.
func nearest(mistyped string, names []string) string {
	best, least := "", max(2, (len(mistyped)+2)/3)+1
	for _, name := range slices.Sorted(slices.Values(names)) {
		if d := edits(strings.ToLower(mistyped), name); d < least {
			best, least = name, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", best)
}

// edits returns how many letters must be put in, left out or changed, or neighbours swapped, to get from a to b.
func edits(a, b string) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1) // those of the two prefixes of a before this one
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			change := row[j]
			if a[i] != b[j] {
				change++
			}
			next[j+1] = min(change, next[j]+1, row[j+1]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}

// Names returns the names that a setting can have, or nil if it is no name.
func Names(key string) []string {
	switch key {
	case "data":
		return BuiltIn()
	case "net":
		return Nets()
	case "objective":
		return Objectives()
	case "sampler":
		return Samplers()
	case "transform":
		return transforms
	case "activation":
		return Activations()
	case "weighting":
		return Weightings()
	case "optimizer":
		return []string{"adam", "adamw", "sgd"}
	case "dtype":
		return []string{"float32", "float64"}
	case "backend":
		return []string{Auto, "go", "xla", "xla:cpu", "xla:cuda"}
	case "header", "stream":
		return []string{Auto, "yes", "no"}
	case "missing":
		return []string{"refuse", "drop"}
	case "image-fit":
		return []string{"resize", "crop"}
	case "colour":
		return []string{Auto, "grey", "rgb"}
	case "dequantize":
		return []string{Auto, "uniform", "gaussian", "no"}
	}
	return nil
}
