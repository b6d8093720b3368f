package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// TestLinks checks that links and pictures within the project lead to a file or a folder.
func TestLinks(t *testing.T) {
	checked := 0
	for _, path := range files(t, ".md") {
		for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(read(t, path), ""), -1) {
			target, _, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") || target == "" {
				continue
			}
			checked++
			if _, err := os.Stat(filepath.Join(root, filepath.Dir(path), target)); err != nil {
				t.Errorf("%s: link to %s: %v", path, m[1], err)
			}
		}
	}
	if checked < 20 {
		t.Errorf("%d links found: the pattern has missed most", checked)
	}
}
