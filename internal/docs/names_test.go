package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// documented are the packages whose names are looked for in texts.
var documented = []string{
	"scorekit", "scorekit/autodiff", "scorekit/backend", "scorekit/compare", "scorekit/density", "scorekit/ebm", "scorekit/implicit",
	"scorekit/kde", "scorekit/likelihood", "scorekit/metric", "scorekit/net", "scorekit/objective", "scorekit/random", "scorekit/sampler",
	"scorekit/sde", "data", "plots", "plots/inline", "internal/testbackend",
}

// TestNames checks that every pkg.Name and pkg.Type.Member of this project that a Markdown file mentions as code exists.
func TestNames(t *testing.T) {
	known := map[string]bool{}
	var packages []string
	for _, folder := range documented {
		name := path.Base(folder)
		packages = append(packages, name)
		for _, declared := range exported(t, folder) {
			known[name+"."+declared] = true
		}
	}
	// Names of what the examples in CONTRIBUTING.md add.
	for _, added := range []string{"objective.Antithetic", "sampler.HeavyBall"} {
		known[added] = true
	}
	mention := regexp.MustCompile(`(?:^|[^\w./])((?:` + strings.Join(packages, "|") + `)\.[A-Z]\w*(?:\.[A-Z]\w*)?)`)
	checked := 0
	for _, file := range files(t, ".md") {
		for _, line := range code(read(t, file)) {
			for _, m := range mention.FindAllStringSubmatch(line, -1) {
				checked++
				if !known[m[1]] {
					t.Errorf("%s: there is no %s", file, m[1])
				}
			}
		}
	}
	if checked < 50 {
		t.Errorf("%d names found: the pattern has missed most", checked)
	}
}

// exported returns the exported names that a package declares, and Type.Member for methods, fields and embedded ones.
func exported(t *testing.T, folder string) (names []string) {
	t.Helper()
	sources, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
	if err != nil || len(sources) == 0 {
		t.Fatalf("%s: %d Go files: %v", folder, len(sources), err)
	}
	for _, source := range sources {
		if strings.HasSuffix(source, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), source, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, declaration := range file.Decls {
			switch d := declaration.(type) {
			case *ast.FuncDecl:
				names = append(names, strings.TrimPrefix(receiver(d)+"."+d.Name.Name, "."))
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch s := spec.(type) {
					case *ast.ValueSpec:
						for _, name := range s.Names {
							names = append(names, name.Name)
						}
					case *ast.TypeSpec:
						names = append(names, s.Name.Name)
						for _, member := range members(s.Type) {
							names = append(names, s.Name.Name+"."+member)
						}
					}
				}
			}
		}
	}
	return names
}

// receiver returns the name of a method's type, or "".
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	kind := f.Recv.List[0].Type
	if star, ok := kind.(*ast.StarExpr); ok {
		kind = star.X
	}
	if name, ok := kind.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

// members returns the names of a struct's fields or an interface's methods.
func members(kind ast.Expr) (names []string) {
	var list *ast.FieldList
	switch k := kind.(type) {
	case *ast.StructType:
		list = k.Fields
	case *ast.InterfaceType:
		list = k.Methods
	default:
		return nil
	}
	for _, field := range list.List {
		for _, name := range field.Names {
			names = append(names, name.Name)
		}
	}
	return names
}
