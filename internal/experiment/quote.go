package experiment

import "strings"

// quote returns a word as a shell takes it.
func quote(word string) string {
	if word != "" && !strings.ContainsAny(word, " \t\n'\"\\$`!*?[]{}()<>|&;~#") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
