package notebook

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/scorekit/lab/internal/atomicfile"
)

//go:embed index.html.tmpl
var indexText string

var indexTemplate = template.Must(template.New("index").Funcs(template.FuncMap{
	"took": took,
	"held": held,
	"when": func(t time.Time) string { return t.Format("2 January 2006, 15:04") },
}).Parse(indexText))

// writeIndex writes the page that lists the executed notebooks by name.
func writeIndex(file string, results map[string]Result) error {
	page := struct {
		Results []Result
		Failed  int
		Claims  int
		Seconds float64
	}{}
	for _, name := range slices.Sorted(maps.Keys(results)) {
		result := results[name]
		page.Results = append(page.Results, result)
		page.Seconds += result.Seconds
		page.Claims += len(result.Claims)
		if result.Failed != "" {
			page.Failed++
		}
	}
	return atomicfile.WriteFunc(file, 0o644, func(w io.Writer) error { return indexTemplate.Execute(w, page) })
}

// took says a time in minutes and seconds.
func took(s float64) string {
	whole := int(math.Round(s))
	if whole < 60 {
		return fmt.Sprintf("%d s", whole)
	}
	return fmt.Sprintf("%d min %02d s", whole/60, whole%60)
}
