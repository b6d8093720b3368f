package scorekit

import (
	"fmt"
	"reflect"
)

// settingsOf writes out a value with its type and fields, so that it can be compared with that of another process. An
// address would never be the same there: a value that holds one below its own is told by its type alone.
func settingsOf(v any) string {
	r := reflect.ValueOf(v)
	if r.Kind() == reflect.Pointer {
		r = r.Elem()
	}
	if holdsAddress(r) {
		return fmt.Sprintf("%T", v)
	}
	return fmt.Sprintf("%T%+v", v, v)
}

func holdsAddress(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return !v.IsNil()
	case reflect.Interface:
		return holdsAddress(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if holdsAddress(v.Field(i)) {
				return true
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if holdsAddress(v.Index(i)) {
				return true
			}
		}
	case reflect.Map:
		for entry := v.MapRange(); entry.Next(); {
			if holdsAddress(entry.Key()) || holdsAddress(entry.Value()) {
				return true
			}
		}
	}
	return false
}
