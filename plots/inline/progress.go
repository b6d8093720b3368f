package inline

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/janpfeifer/gonb/gonbui"

	"github.com/scorekit/lab/scorekit"
)

// Progress returns a function that shows the reports of a run in one line, replaced as the run proceeds, with a thin
// bar under it, for [scorekit.WithProgress]. The notebook keeps one output, that of the last report. title is put in front of the line and may be
// empty. Call Progress once for each run. Outside a notebook the function does nothing.
func Progress(title string) func(scorekit.Report) {
	id := "scorekit-progress-" + gonbui.UniqueId()
	return func(r scorekit.Report) {
		gonbui.UpdateHTML(id, progressHTML(title, r)) // which does nothing outside a notebook
	}
}

// progressHTML is the line and the bar, whose length is the share of steps done.
func progressHTML(title string, r scorekit.Report) string {
	share := 0.0
	if r.Total > 0 {
		share = min(max(float64(r.Step)/float64(r.Total), 0), 1)
	}
	return fmt.Sprintf(`<div style="max-width:700px;font-variant-numeric:tabular-nums">%s`+
		`<div style="height:3px;margin-top:3px;background:#d9d9d9"><div style="height:3px;width:%.1f%%;background:#0072b2"></div></div></div>`,
		html.EscapeString(progressText(title, r)), 100*share)
}

// progressText is the line: "training 1,200/2,000 · 410 steps/s · loss 0.684 · 2 s left".
func progressText(title string, r scorekit.Report) string {
	steps := r.Verb + " " + thousands(r.Step)
	if r.Total > 0 {
		steps += "/" + thousands(r.Total)
	}
	parts := []string{strings.TrimSpace(steps)}
	if title != "" {
		parts = append([]string{title}, parts...)
	}
	each := " " + cmp.Or(r.Unit, "steps") + "/s"
	switch {
	case r.Rate > 0 && r.Rate < 10:
		parts = append(parts, strconv.FormatFloat(r.Rate, 'f', 1, 64)+each)
	case r.Rate >= 10 && r.Rate < 1e12:
		parts = append(parts, thousands(int(math.Round(r.Rate)))+each)
	case !r.Done:
		parts = append(parts, "compiling")
	}
	if !math.IsNaN(r.Loss) {
		parts = append(parts, "loss "+strconv.FormatFloat(r.Loss, 'g', 4, 64))
	}
	switch {
	case r.Done:
		parts = append(parts, duration(r.Elapsed))
	case r.Left > 0:
		parts = append(parts, duration(r.Left)+" left")
	}
	return strings.Join(parts, " · ")
}

// thousands writes n with a comma between thousands.
func thousands(n int) string {
	if n < 0 {
		return "−" + thousands(-n)
	}
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// duration writes d as a reader of a clock would: "0.4 s", "12 s", "3 min 05 s", "2 h 10 min".
func duration(d time.Duration) string {
	seconds := int(d.Round(time.Second) / time.Second)
	switch {
	case d < 950*time.Millisecond:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	case seconds < 60:
		return strconv.Itoa(seconds) + " s"
	case seconds < 3600:
		return fmt.Sprintf("%d min %02d s", seconds/60, seconds%60)
	}
	return fmt.Sprintf("%d h %02d min", seconds/3600, seconds%3600/60)
}
