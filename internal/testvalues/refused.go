package testvalues

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// Refused checks that every call, given something that is missing or empty, returns an error and does not panic. The
// error must name what made it: it begins with prefix.
func Refused(t *testing.T, prefix string, calls map[string]func() error) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(calls)) {
		func() {
			defer func() {
				if r := recover(); r != nil {
					t.Errorf("%s: panic: %v", name, r)
				}
			}()
			switch err := calls[name](); {
			case err == nil:
				t.Errorf("%s: no error", name)
			case strings.Contains(err.Error(), "runtime error"):
				t.Errorf("%s: a panic in disguise: %v", name, err)
			case !strings.HasPrefix(err.Error(), prefix):
				t.Errorf("%s: error %q, want one that begins with %q", name, err, prefix)
			default:
				t.Logf("%s: %v", name, err)
			}
		}()
	}
}
