package autodiff

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// The settings of an operation that are not nodes (axes, strides, paddings) are private to GoMLX, but a node's text
// shows them: "Slice(x=[#3], starts=[0 1], limits=[2 3], strides=[1 1]) -> …". The rules below read them there. A
// text without the setting is an error, never a guess: see the test of every rule.

var integer = regexp.MustCompile(`-?\d+`)

// setting returns the text of a named setting of the node's operation.
func setting(node *Node, name string) string {
	text := node.String()
	if i := strings.Index(text, node.Type().String()+"("); i >= 0 {
		text = text[i:]
	}
	for _, mark := range []string{"(" + name + "=", " " + name + "=", "{" + name + ":", " " + name + ":"} {
		i := strings.Index(text, mark)
		if i < 0 {
			continue
		}
		value := text[i+len(mark):]
		depth := 0
		for j, c := range value {
			switch c {
			case '[', '{', '(':
				depth++
			case ']', '}', ')':
				depth--
			}
			if depth < 0 || depth == 0 && (c == ',' || c == ' ' || c == ']') {
				return strings.TrimRight(value[:j+1], ",)} ")
			}
		}
	}
	panic(fmt.Errorf("autodiff: gradient of %s: no setting %q in %q: GoMLX v0.26 is expected", node.Type(), name, node.String()))
}

// ints returns the integers of a named setting in the order in which they are written.
func ints(node *Node, name string) []int {
	words := integer.FindAllString(setting(node, name), -1)
	values := make([]int, len(words))
	for i, word := range words {
		n, err := strconv.Atoi(word)
		if err != nil {
			panic(fmt.Errorf("autodiff: gradient of %s: setting %q: %w", node.Type(), name, err))
		}
		values[i] = n
	}
	return values
}

// intsOr is ints with n copies of a default for a setting that was left out.
func intsOr(node *Node, name string, n, otherwise int) []int {
	values := ints(node, name)
	for len(values) < n {
		values = append(values, otherwise)
	}
	return values
}
