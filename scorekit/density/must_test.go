package density_test

import "testing"

// must returns a function that unwraps what a constructor returns and fails the test on its error.
func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
