package scorekit

import (
	"fmt"
	"runtime"
)

// guard runs f and turns the panics of graph-building code into an error that starts with what. Mistakes of the Go
// program itself (a nil pointer, an index out of range) go on as panics: hiding them would hide where they happened.
func guard(what string, f func() error) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
			if err != nil {
				err = fmt.Errorf("%s: %w", what, err)
			}
		case runtime.Error:
			panic(r)
		case error:
			err = fmt.Errorf("%s: %w", what, r)
		default:
			err = fmt.Errorf("%s: %v", what, r)
		}
	}()
	return f()
}

// validate asks each of parts that is a Validator.
func validate(parts ...any) error {
	for _, p := range parts {
		if v, ok := p.(Validator); ok {
			if err := v.Validate(); err != nil {
				return err
			}
		}
	}
	return nil
}
