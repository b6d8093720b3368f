package notebook

import (
	"slices"
	"testing"
)

func TestClaims(t *testing.T) {
	shown := []string{"some text", "✓ ratio is 1 (at most 2)", "a ✓ within", "", "✓ mean is 0, and should be 0 (to within 0.1)"}
	want := []string{"ratio is 1 (at most 2)", "mean is 0, and should be 0 (to within 0.1)"}
	if got := claims(shown); !slices.Equal(got, want) {
		t.Errorf("claims %q, want %q", got, want)
	}
}
