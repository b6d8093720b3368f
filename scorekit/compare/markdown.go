package compare

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"
)

// Markdown returns the table for a page or a notebook: loss with its standard error, relative Fisher divergence, time
// per step and of the first call. What is not known is a dash.
func (t Table) Markdown() string {
	rows := [][]string{{"objective", "steps", "loss", "relative Fisher divergence", "ms per step", "first call, s"}}
	for _, r := range t {
		fisher := "–"
		if r.Fisher != nil {
			fisher = fmt.Sprintf("%.4f", r.Fisher.Relative)
		}
		rows = append(rows, []string{
			r.Name, fmt.Sprint(r.Steps), fmt.Sprintf("%.4g ± %.2g", r.Loss, r.LossError), fisher,
			milliseconds(r.StepTime), fmt.Sprintf("%.1f", r.Compile.Seconds()),
		})
	}
	return markdown(rows)
}

// String is [Table.Markdown].
func (t Table) String() string { return t.Markdown() }

// Markdown returns the table for a page or a notebook: milliseconds per step for each objective and dimension, and
// the exponent in d.
func (t *CostTable) Markdown() string {
	head := []string{"ms per step"}
	for _, d := range t.Dims {
		head = append(head, fmt.Sprintf("d = %d", d))
	}
	rows := [][]string{append(head, "exponent")}
	for k, name := range t.Names {
		row := []string{name}
		for _, v := range t.StepTime[k] {
			row = append(row, milliseconds(v))
		}
		exponent := "–"
		if !math.IsNaN(t.Exponents[k]) {
			exponent = fmt.Sprintf("%.2f", t.Exponents[k])
		}
		rows = append(rows, append(row, exponent))
	}
	return markdown(rows)
}

// String is [CostTable.Markdown].
func (t *CostTable) String() string { return t.Markdown() }

func milliseconds(d time.Duration) string {
	if d == 0 {
		return "–"
	}
	return fmt.Sprintf("%.3g", float64(d)/float64(time.Millisecond))
}

// markdown sets rows as a table, the first as its head, that is also aligned as plain text: names to the left,
// numbers to the right.
func markdown(rows [][]string) string {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for j, cell := range row {
			row[j] = strings.NewReplacer("|", `\|`, "\n", " ").Replace(cell)
			width[j] = max(width[j], utf8.RuneCountInString(row[j]))
		}
	}
	var b strings.Builder
	for i, row := range rows {
		for j, cell := range row {
			pad := strings.Repeat(" ", width[j]-utf8.RuneCountInString(cell))
			if j == 0 {
				b.WriteString("| " + cell + pad + " |")
			} else {
				b.WriteString(" " + pad + cell + " |")
			}
		}
		b.WriteByte('\n')
		if i > 0 {
			continue
		}
		b.WriteString("|" + strings.Repeat("-", width[0]+2) + "|")
		for _, w := range width[1:] {
			b.WriteString(strings.Repeat("-", w+1) + ":|")
		}
		b.WriteByte('\n')
	}
	return b.String()
}
