package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// room is a compiled test program of a package, with all of its mutants in it.
type room struct {
	folder  string // of the package: its tests read their testdata
	program string
	scratch string
}

// failed is the line that a test prints which fails; what panics has none of its own.
var failed = regexp.MustCompile(`(?m)^--- FAIL: (\w+)`)

// environment is without C and without an installed XLA: an empty set-up folder has none.
func environment(scratch string, more ...string) []string {
	return append(append(os.Environ(), "CGO_ENABLED=0", "SCOREKIT_REQUIRE_XLA=0", "GOMLX_BACKEND=", "SCORELAB_HOME="+filepath.Join(scratch, "home")), more...)
}

// compile makes the room of these mutants, all of one package of the checkout.
func compile(ctx context.Context, checkout, scratch string, mutants []mutant) (room, error) {
	name := mutants[0].room()
	folder := filepath.Join(checkout, filepath.FromSlash(name))
	r := room{folder, filepath.Join(scratch, path.Base(name)+".test"), scratch}
	overlay := map[string]string{}
	put := func(file, text string) error {
		place := filepath.Join(scratch, path.Base(name)+"-"+file)
		overlay[filepath.Join(folder, file)] = place
		return os.WriteFile(place, []byte(text), 0o644)
	}
	var packageName string
	for _, file := range filesOf(mutants) {
		text, name, err := variants(checkout, file, mutants)
		if err != nil {
			return room{}, err
		}
		packageName = name
		if err := put(path.Base(file), text); err != nil {
			return room{}, err
		}
	}
	if err := put("chosenmutant.go", fmt.Sprintf(chooser, packageName)); err != nil {
		return room{}, err
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": overlay})
	if err != nil {
		return room{}, err
	}
	places := filepath.Join(scratch, "overlay.json")
	if err := os.WriteFile(places, list, 0o644); err != nil {
		return room{}, err
	}
	command := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay="+places, "-o", r.program, "./"+name)
	command.Dir, command.Env = checkout, environment(scratch)
	if out, err := command.CombinedOutput(); err != nil {
		return room{}, fmt.Errorf("%s with its mutants does not compile: %w\n%s", name, err, out)
	}
	return r, nil
}

// notice runs the tests that run names, "" for all, with a mutant, 0 for none. It returns what failed, "" if nothing did.
func (r room) notice(ctx context.Context, run string, number int) (string, error) {
	arguments := []string{"-test.failfast", "-test.timeout=20m"}
	if run != "" {
		arguments = append(arguments, "-test.run=^("+run+")$")
	}
	command := exec.CommandContext(ctx, r.program, arguments...)
	command.Dir, command.Env = r.folder, environment(r.scratch, fmt.Sprint("SCOREKIT_MUTANT=", number))
	text, err := command.CombinedOutput()
	out := string(text)
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err == nil && strings.Contains(out, "no tests to run"):
		return "", fmt.Errorf("%s: no test is called %s", r.folder, run)
	case err == nil:
		return "", nil
	case !errors.As(err, &exit):
		return "", err
	}
	if found := failed.FindStringSubmatch(out); found != nil {
		return found[1], nil
	}
	return "a panic", nil
}

// together is the tests that any of the mutants names, "" if one of them names none.
func together(mutants []mutant) string {
	var runs []string
	for _, m := range mutants {
		if m.run == "" {
			return ""
		}
		runs = append(runs, m.run)
	}
	slices.Sort(runs)
	return strings.Join(slices.Compact(runs), "|")
}
