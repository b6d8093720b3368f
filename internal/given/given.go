// Package given finds arguments that were not given.
package given

import (
	"fmt"
	"reflect"
)

// Missing tells whether v is nil or holds a nil pointer or function, which Go's own comparison of an interface with nil
// does not find. An empty slice or map is a value like others.
func Missing(v any) bool {
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Func:
		return r.IsNil()
	default:
		return false
	}
}

// Check returns an error that names the argument if it is missing.
func Check(name string, v any) error {
	if Missing(v) {
		return fmt.Errorf("%s nil: must be given", name)
	}
	return nil
}
