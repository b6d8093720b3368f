package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	only := flag.String("only", "", "try those alone whose file or meaning holds this `text`")
	all := flag.Bool("all", false, "run all tests of a room, and not those alone that are known to notice")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := try(ctx, *only, *all); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// try runs the tests as they are, and then with each mutant. It is an error if one of these is not noticed.
func try(ctx context.Context, only string, all bool) error {
	mutants := slices.DeleteFunc(list(), func(m mutant) bool { return !strings.Contains(strings.ToLower(m.String()), strings.ToLower(only)) })
	if len(mutants) == 0 {
		return fmt.Errorf("no mutant's file or meaning holds %q", only)
	}
	checkout, err := filepath.Abs(".")
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	if all {
		for i := range mutants {
			mutants[i].run = ""
		}
	}
	begin, tried, survived := time.Now(), 0, 0
	for rest := mutants; len(rest) > 0; {
		n := slices.IndexFunc(rest, func(m mutant) bool { return m.room() != rest[0].room() })
		if n < 0 {
			n = len(rest)
		}
		own := rest[:n]
		rest = rest[n:]
		r, err := compile(ctx, checkout, scratch, own)
		if err != nil {
			return err
		}
		by, err := r.notice(ctx, together(own), 0)
		if err == nil && by != "" {
			err = fmt.Errorf("%s of %s fails without any mutant", by, own[0].room())
		}
		if err != nil {
			return err
		}
		for i, m := range own {
			start := time.Now()
			by, err := r.notice(ctx, m.run, i+1)
			if err != nil {
				return err
			}
			if by == "" {
				survived++
				by = "SURVIVED"
			}
			tried++
			fmt.Printf("%3d/%d %5.1f s  %-40s %v\n", tried, len(mutants), time.Since(start).Seconds(), by, m)
		}
	}
	fmt.Printf("%d mutants, %d survived, %.0f s\n", tried, survived, time.Since(begin).Seconds())
	if survived > 0 {
		return fmt.Errorf("no test notices %d mutants", survived)
	}
	return nil
}
