package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"slices"
	"strings"
)

// A room is compiled once for all of its mutants: every function that one of them changes is kept as name_0, stands as name_k
// with mutant k in it beside that, and chooses between them when it is called, by the variable
//
//	chosenMutant, from the environment variable SCOREKIT_MUTANT

// chooser is the file with that variable.
const chooser = `package %s

import (
	"os"
	"strconv"
)

var chosenMutant, _ = strconv.Atoi(os.Getenv("SCOREKIT_MUTANT"))
`

// variants is the text of a file in which each function has its mutants beside it. The mutants' numbers are their places in
// all, counted from 1; those of other files are passed over.
func variants(checkout, file string, all []mutant) (text, name string, err error) {
	type change struct {
		number, at int
		mutant
	}
	var changes []change
	for i, m := range all {
		if m.file != file {
			continue
		}
		c := change{number: i + 1, mutant: m}
		if text, c.at, err = m.read(checkout); err != nil {
			return "", "", err
		}
		changes = append(changes, c)
	}
	positions := token.NewFileSet()
	parsed, err := parser.ParseFile(positions, file, text, parser.SkipObjectResolution)
	if err != nil {
		return "", "", err
	}
	offset := func(p token.Pos) int { return positions.Position(p).Offset }
	var out strings.Builder
	done := 0
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		begin, end := offset(f.Pos()), offset(f.End())
		own := slices.DeleteFunc(slices.Clone(changes), func(c change) bool { return c.at < begin || c.at+len(c.from) > end })
		if len(own) == 0 {
			continue
		}
		changes = slices.DeleteFunc(changes, func(c change) bool { return slices.Contains(own, c) })
		name := offset(f.Name.Pos())
		renamed := func(body string, number int) string {
			after := name - begin + len(f.Name.Name)
			return fmt.Sprintf("%s_%d%s\n\n", body[:after], number, body[after:])
		}
		var numbers []int
		for _, c := range own {
			numbers = append(numbers, c.number)
		}
		whole := text[begin:end]
		out.WriteString(text[done:begin] + choice(positions, f, numbers) + renamed(whole, 0))
		for _, c := range own {
			out.WriteString(renamed(whole[:c.at-begin]+c.to+whole[c.at-begin+len(c.from):], c.number))
		}
		done = end
	}
	if len(changes) > 0 {
		return "", "", fmt.Errorf("%v: must be in one function", changes[0].mutant)
	}
	return out.String() + text[done:], parsed.Name.Name, nil
}

// choice is the function that calls f with the mutant that is chosen.
func choice(positions *token.FileSet, f *ast.FuncDecl, numbers []int) string {
	source := func(node any) string {
		var b strings.Builder
		if err := printer.Fprint(&b, positions, node); err != nil {
			panic(err) // what was parsed can be printed
		}
		return b.String()
	}
	// All parameters get names, as some have none.
	var declared, given []string
	for _, field := range f.Type.Params.List {
		for range max(1, len(field.Names)) {
			name := fmt.Sprintf("p%d", len(given))
			declared = append(declared, name+" "+source(field.Type))
			if _, rest := field.Type.(*ast.Ellipsis); rest {
				name += "..."
			}
			given = append(given, name)
		}
	}
	var kinds, kindNames, results []string
	if f.Type.TypeParams != nil {
		for _, field := range f.Type.TypeParams.List {
			for _, name := range field.Names {
				kinds, kindNames = append(kinds, name.Name+" "+source(field.Type)), append(kindNames, name.Name)
			}
		}
	}
	if f.Type.Results != nil {
		for _, field := range f.Type.Results.List {
			for range max(1, len(field.Names)) {
				results = append(results, source(field.Type))
			}
		}
	}
	bracketed := func(list []string) string {
		if len(list) == 0 {
			return ""
		}
		return "[" + strings.Join(list, ", ") + "]"
	}
	receiver, self := "", ""
	if f.Recv != nil {
		receiver, self = "(self "+source(f.Recv.List[0].Type)+") ", "self."
	}
	call := func(number int) string {
		c := fmt.Sprintf("%s%s_%d%s(%s)", self, f.Name.Name, number, bracketed(kindNames), strings.Join(given, ", "))
		if len(results) == 0 {
			return c + "\n\t\treturn"
		}
		return "return " + c
	}
	var b strings.Builder
	fmt.Fprintf(&b, "func %s%s%s(%s) (%s) {\n\tswitch chosenMutant {\n", receiver, f.Name.Name, bracketed(kinds), strings.Join(declared, ", "), strings.Join(results, ", "))
	for _, number := range numbers {
		fmt.Fprintf(&b, "\tcase %d:\n\t\t%s\n", number, call(number))
	}
	fmt.Fprintf(&b, "\tdefault:\n\t\t%s\n\t}\n}\n\n", call(0))
	return b.String()
}

// filesOf is the files that mutants change, in order.
func filesOf(mutants []mutant) []string {
	var files []string
	for _, m := range mutants {
		files = append(files, m.file)
	}
	slices.Sort(files)
	return slices.Compact(files)
}
