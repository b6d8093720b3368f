// Command mutants breaks the formulas of losses, samplers, processes and metrics on purpose, one at a time, and says which of
// the breaks the tests notice:
//
//	go run ./internal/mutants                     # all: about a minute
//	go run ./internal/mutants -only langevin      # those whose file or meaning holds this text
//	go run ./internal/mutants -all                # all tests of the room, and not those alone that are known to notice
//
// A mutant is one change of a kind that a slip of the pen makes: a sign, a factor of 2, a missing root, an index that is
// one off, σ for σ², noise left out. A mutant that no test notices is a hole in the tests: fill it, or say in the list why it
// is none. Add mutants for what you add.
//
// Each room is compiled once, in pure Go and without C, with all of its mutants beside the functions that they change, and
// its tests run again and again with another one chosen. The compiler is given the changed files in place of those that are
// there (go test -overlay): nothing in the checkout changes. That every mutant fits its file is an ordinary test.
//
// Files: mutant.go (what a mutant is), variants.go (a file with its mutants in it), run.go (a room with its mutants, and its
// tests), main.go (all of them); the list is in objective.go, sampler.go, sde.go and metric.go.
package main
