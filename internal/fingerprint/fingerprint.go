// Package fingerprint writes a value out in full, so that two values with the same text are the same for whoever computes
// with them, now and after either has been changed.
package fingerprint

import (
	"fmt"
	"math"
	"reflect"
	"strings"
)

// Of writes out values made of numbers, text, slices, arrays, pointers and structs of types whose package has the prefix. It
// returns false where a value has anything else: a function, a channel, a map, or a type of another package may stand for what
// is not in it.
func Of(prefix string, values ...any) (string, bool) {
	w := writer{prefix: prefix}
	for _, v := range values {
		if !w.write(reflect.ValueOf(v), 0) {
			return "", false
		}
	}
	return w.text.String(), true
}

type writer struct {
	prefix string
	text   strings.Builder
}

const deepest = 32 // of values in values; a ring of pointers has no end

func (w *writer) write(v reflect.Value, depth int) bool {
	if !v.IsValid() {
		w.text.WriteString("nil;")
		return true
	}
	t := v.Type()
	if depth > deepest || t.PkgPath() != "" && !strings.HasPrefix(t.PkgPath(), w.prefix) {
		return false
	}
	fmt.Fprintf(&w.text, "%s.%s:", t.PkgPath(), t)
	switch v.Kind() {
	case reflect.Bool:
		fmt.Fprintf(&w.text, "%t;", v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		fmt.Fprintf(&w.text, "%d;", v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		fmt.Fprintf(&w.text, "%d;", v.Uint())
	case reflect.Float32, reflect.Float64:
		fmt.Fprintf(&w.text, "%x;", math.Float64bits(v.Float()))
	case reflect.String:
		fmt.Fprintf(&w.text, "%q;", v.String())
	case reflect.Slice, reflect.Array:
		fmt.Fprintf(&w.text, "%t%d[", v.Kind() == reflect.Slice && v.IsNil(), v.Len())
		for i := range v.Len() {
			if !w.write(v.Index(i), depth+1) {
				return false
			}
		}
		w.text.WriteString("]")
	case reflect.Struct:
		for i := range v.NumField() {
			if !w.write(v.Field(i), depth+1) {
				return false
			}
		}
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			w.text.WriteString("nil;")
			return true
		}
		return w.write(v.Elem(), depth+1)
	case reflect.Func:
		if !v.IsNil() {
			return false
		}
		w.text.WriteString("nil;")
	default:
		return false
	}
	return true
}
