package inline

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/janpfeifer/gonb/gonbui/protocol"
)

// Markdown displays text as Markdown, with mathematics between dollar signs. It returns an error outside a notebook.
func Markdown(text string) error {
	if err := inNotebook("Print the text instead"); err != nil {
		return err
	}
	return send(map[protocol.MIMEType]any{protocol.MIMETextMarkdown: text})
}

// Table shows a table, its numbers to so many significant digits: float32 and float64 values are rounded, all others are
// written as they are, and strings may hold mathematics between dollar signs. Columns of numbers are set to the right.
// Outside a notebook it prints the table. It ends the cell with an error where there is no header or a row has another
// number of values.
//
//	inline.Table(3, []string{"d", "error", "ratio"}, []any{2, 0.01234, 1.0}, []any{4, 0.0456, 1.5})
func Table(digits int, headers []string, rows ...[]any) {
	text, err := table(digits, headers, rows)
	if err != nil {
		panic(err)
	}
	Printf("%s", text)
}

func table(digits int, headers []string, rows [][]any) (string, error) {
	if len(headers) == 0 {
		return "", fmt.Errorf("inline: table: no headers")
	}
	if digits < 1 || digits > 17 {
		return "", fmt.Errorf("inline: table: %d digits: must be 1 to 17", digits)
	}
	var out strings.Builder
	line := func(cells []string) { out.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	head, rule := make([]string, len(headers)), make([]string, len(headers))
	for i, h := range headers {
		head[i], rule[i] = escaped(h), "---:"
		for _, row := range rows {
			if i < len(row) && !isNumber(row[i]) {
				rule[i] = "---"
			}
		}
	}
	line(head)
	line(rule)
	for i, row := range rows {
		if len(row) != len(headers) {
			return "", fmt.Errorf("inline: table: row %d: %d values: must be %d, one for each header", i, len(row), len(headers))
		}
		cells := make([]string, len(row))
		for j, v := range row {
			switch v := v.(type) {
			case float64:
				cells[j] = Number(v, digits)
			case float32:
				cells[j] = Number(float64(v), digits)
			case int:
				cells[j] = thousands(v)
			default:
				cells[j] = escaped(fmt.Sprint(v))
			}
		}
		line(cells)
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}

func isNumber(v any) bool {
	switch v.(type) {
	case float64, float32, int, int64, int32, uint64:
		return true
	}
	return false
}

// escaped keeps a cell in one cell.
func escaped(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ").Replace(s)
}

// Number writes v to so many significant digits, trailing zeros included, with a true minus sign: 0.0120, 3.14, 1,230. Below
// 0.0001 and from a million on it writes a power of ten: 1.2·10⁻⁵.
func Number(v float64, digits int) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "∞"
	case math.IsInf(v, -1):
		return "−∞"
	case v < 0:
		return "−" + Number(-v, digits)
	case v == 0:
		return "0"
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', digits-1, 64), "e")
	power, err := strconv.Atoi(exponent)
	if err != nil { // the format of FormatFloat
		panic(err)
	}
	if power < -4 || power >= 6 {
		superscript := strings.NewReplacer("-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹")
		return mantissa + "·10" + superscript.Replace(strconv.Itoa(power))
	}
	rounded, err := strconv.ParseFloat(mantissa+"e"+exponent, 64)
	if err != nil {
		panic(err)
	}
	s := strconv.FormatFloat(rounded, 'f', max(0, digits-1-power), 64)
	whole, fraction, cut := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if cut {
		whole += "." + fraction
	}
	return whole
}
