package docs_test

import (
	"regexp"
	"strings"
	"testing"
)

// TestNoMachines checks that no text file holds a path below somebody's home or another folder of one machine, or a
// package index of its own. Each pattern is written so that it does not match itself.
func TestNoMachines(t *testing.T) {
	foreign := regexp.MustCompile(`/(?:root|home|Users|work)/\w|--(?:extra-)?index-[u]rl|GOPROXY=https?:/[/]`)
	for _, path := range files(t, "") {
		text := read(t, path)
		if strings.ContainsRune(text, 0) {
			continue // not a text
		}
		for number, line := range strings.Split(text, "\n") {
			line = strings.ReplaceAll(line, "/home/scorelab", "") // in the image
			if found := foreign.FindString(line); found != "" && !strings.Contains(line, "https://example.com") {
				t.Errorf("%s:%d: %q belongs to a machine", path, number+1, found)
			}
		}
	}
}
