package testvalues

import "testing"

// Case checks one listed case, reference values or another library's recorded outputs, as a subtest named case_ and its
// id. What runs all tests counts the cases by these names.
func Case(t *testing.T, id string, check func(t *testing.T)) {
	t.Helper()
	t.Run("case_"+id, check)
}
