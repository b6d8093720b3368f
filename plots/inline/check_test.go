package inline_test

import (
	"math"
	"strings"
	"testing"

	"github.com/scorekit/lab/plots/inline"
)

func TestChecks(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name string
		run  func()
		want string // part of the error, or "" where the check holds
	}{
		{"AtMost at the limit", func() { inline.AtMost("ratio", 2, 2) }, ""},
		{"AtMost above", func() { inline.AtMost("ratio", 2.1, 2) }, "ratio is 2.1: must be at most 2"},
		{"AtMost NaN", func() { inline.AtMost("ratio", nan, 2) }, "must be at most 2"},
		{"AtMost Inf", func() { inline.AtMost("ratio", inf, 2) }, "must be at most 2"},
		{"AtLeast at the limit", func() { inline.AtLeast("share", 2, 2) }, ""},
		{"AtLeast below", func() { inline.AtLeast("share", 1.9, 2) }, "share is 1.9: must be at least 2"},
		{"AtLeast NaN", func() { inline.AtLeast("share", nan, 2) }, "must be at least 2"},
		{"Close", func() { inline.Close("mean", 1.25, 1, 0.25) }, ""},
		{"Close, too far", func() { inline.Close("mean", 1.26, 1, 0.25) }, "mean is 1.26: must be 1 to within 0.25"},
		{"Close below", func() { inline.Close("mean", 0.74, 1, 0.25) }, "mean is 0.74"},
		{"Close NaN", func() { inline.Close("mean", nan, 1, 0.25) }, "must be 1"},
		{"Close to NaN", func() { inline.Close("mean", 1, nan, 0.25) }, "must be NaN"},
		{"Close, no tolerance told", func() { inline.Close("mean", 1, 1, nan) }, "to within NaN"},
	} {
		err := ended(t, c.run)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
