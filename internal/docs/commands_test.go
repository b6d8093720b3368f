package docs_test

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// TestCommandLines checks that every verb and flag of scorelab that a Markdown file shows is one that its help lists.
func TestCommandLines(t *testing.T) {
	program := filepath.Join(t.TempDir(), "scorelab")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	goTool(t, root, "build", "-o", program, "./cmd/scorelab")
	help := map[string]string{}
	line := regexp.MustCompile(`scorelab ([a-z]+)((?: [^#;&|` + "`" + `\s]+)*)`)
	for _, path := range files(t, ".md") {
		for _, text := range code(read(t, path)) {
			for _, m := range line.FindAllStringSubmatch(text, -1) {
				verb := m[1]
				// The image has the command's name, too, and runs other programs.
				if _, err := exec.LookPath(verb); err == nil && filepath.Dir(path) == "docker" {
					continue
				}
				if _, known := help[verb]; !known {
					out, err := exec.CommandContext(t.Context(), program, verb, "--help").CombinedOutput()
					// For an unknown verb it is the help of the whole command.
					if err != nil || !strings.Contains(string(out), "\n  scorelab "+verb) {
						t.Errorf("%s: there is no scorelab %s (%v)", path, verb, err)
					}
					help[verb] = string(out)
				}
				for _, word := range strings.Fields(m[2]) {
					flag, _, _ := strings.Cut(word, "=")
					if strings.HasPrefix(flag, "--") && !regexp.MustCompile(flag+`\b`).MatchString(help[verb]) {
						t.Errorf("%s: scorelab %s has no flag %s", path, verb, flag)
					}
				}
			}
		}
	}
	for _, verb := range []string{"lab", "run", "setup", "doctor", "clean"} {
		if help[verb] == "" {
			t.Errorf("no file shows scorelab %s", verb)
		}
	}
}
