// Package docs_test keeps what is written about the project true: programs in the README and in CONTRIBUTING compile
// and do what they say, links lead somewhere, names and flags exist, and no file holds a path of somebody's machine.
//
// Files: markdown_test.go (reading Markdown), programs_test.go, links_test.go, notebooks_test.go, names_test.go, commands_test.go,
// machines_test.go.
package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// root is the top folder of the project, seen from here.
var root = filepath.Join("..", "..")

// files returns the project's files with the given suffix, as paths from root, without what set-up and notebooks make.
func files(t *testing.T, suffix string) (paths []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if hidden := strings.HasPrefix(entry.Name(), ".") && path != "." && path != ".ci"; hidden || path == "build" || entry.Name() == "node_modules" {
				return fs.SkipDir
			}
		} else if strings.HasSuffix(path, suffix) {
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		t.Fatalf("no file ends in %q", suffix)
	}
	return paths
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var fence = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$")

// blocks returns the code blocks of a language in a Markdown text.
func blocks(markdown, language string) (code []string) {
	for _, m := range fence.FindAllStringSubmatch(markdown, -1) {
		if m[1] == language {
			code = append(code, m[2])
		}
	}
	return code
}

var span = regexp.MustCompile("`[^`\n]+`")

// code returns all code in a Markdown text: each line of a block and each span in backticks.
func code(markdown string) (lines []string) {
	for _, m := range fence.FindAllStringSubmatch(markdown, -1) {
		lines = append(lines, strings.Split(m[2], "\n")...)
	}
	return append(lines, span.FindAllString(fence.ReplaceAllString(markdown, ""), -1)...)
}
