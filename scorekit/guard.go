package scorekit

import (
	"fmt"
	"runtime"

	missing "github.com/scorekit/lab/internal/given" // given is a function here
)

// guard runs f and starts its error with what; panics of graph-building code become errors. See catch.
func guard(what string, f func() error) error {
	if err := catch(f); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// catch runs f and turns the panics of graph-building code into an error. Mistakes of the Go program itself (a nil
// pointer, an index out of range) go on as panics, as hiding them would hide where they happened; only those inside a
// GoMLX executor come as its error. For the same reason a user's callback or loop body must not run inside f.
func catch(f func() error) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case runtime.Error:
			panic(r)
		case error:
			err = r
		default:
			err = fmt.Errorf("%v", r)
		}
	}()
	return f()
}

// argument is one of those that a verb cannot do without.
type argument struct {
	name  string
	value any
}

// given returns an error that names the first argument that is missing.
func given(arguments ...argument) error {
	for _, a := range arguments {
		if isNil(a.value) {
			return fmt.Errorf("%s nil: must be given", a.name)
		}
	}
	return nil
}

// isNil also finds what Go's own comparison does not: a nil pointer or function inside an interface, and a Fitted that
// does not come from Fit or Load.
func isNil(v any) bool {
	if f, ok := v.(*Fitted); ok {
		return f == nil || f.model == nil
	}
	return missing.Missing(v)
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
