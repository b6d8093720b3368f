package inline

import (
	"encoding/gob"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gomlx/gomlx/pkg/core/tensors"
	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/scorekit/lab/plots"
	"github.com/scorekit/lab/scorekit"
)

func figure(t *testing.T) *plots.Figure {
	t.Helper()
	f, err := plots.Scatter{Title: `a "b" <c>`, Sets: []plots.PointSet{{Points: tensors.FromValue([][]float64{{1, 2}})}}}.Figure()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func animation(t *testing.T) plots.Animation {
	t.Helper()
	a, err := plots.PointStrip{Title: `"run"`, Frames: []plots.Frame{
		{Title: "t = 0", State: tensors.FromValue([][]float64{{1, 2}})},
		{Title: "t = 1", State: tensors.FromValue([][]float64{{2, 1}})},
	}}.Animation()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestOutsideANotebook runs first: there is no kernel yet.
func TestOutsideANotebook(t *testing.T) {
	if gonbui.IsNotebook {
		t.Fatal("the test runs in a notebook")
	}
	f := figure(t)
	for name, err := range map[string]error{"Show": Show(f), "SVG": SVG(f), "GIF": GIF(animation(t)), "Markdown": Markdown("x")} {
		if err == nil || !strings.HasPrefix(err.Error(), "inline: not in a notebook") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if err := Show(f); !strings.Contains(err.Error(), "Save") {
		t.Errorf("error %q does not say how to save the figure", err)
	}
	Progress("")(scorekit.Report{}) // does nothing
}

// TestWhatTheKernelReceives stands in for the kernel: a file in place of its pipe keeps the messages.
func TestWhatTheKernelReceives(t *testing.T) {
	dir := t.TempDir()
	pipe, back := filepath.Join(dir, "pipe"), filepath.Join(dir, "back")
	for _, path := range []string{pipe, back} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv(protocol.GONB_PIPE_ENV, pipe)
	t.Setenv(protocol.GONB_PIPE_BACK_ENV, back)
	gonbui.IsNotebook = true
	defer func() { gonbui.IsNotebook = false }()
	// Nobody answers here.
	defer func(was time.Duration) { patience = was }(patience)
	patience = time.Millisecond

	f := figure(t)
	report := Progress("a<b")
	moving := animation(t)
	for _, err := range []error{Show(f), SVG(f), Markdown("$x^2$"), GIF(moving)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	Table(2, []string{"$d$", "error"}, []any{2, 0.1234})
	report(scorekit.Report{Verb: "training", Step: 1, Total: 4, Loss: math.NaN()})
	report(scorekit.Report{Verb: "training", Step: 4, Total: 4, Loss: math.NaN(), Done: true})
	if err := Show(nil); err == nil || !strings.HasPrefix(err.Error(), "plots: ") {
		t.Errorf("no figure: error %v", err)
	}

	messages, asked := received(t, pipe)
	if len(messages) != 7 || asked != 5 {
		t.Fatalf("%d messages, %d questions: want 7, and 5 for all but the reports", len(messages), asked)
	}
	text := func(i int, kind protocol.MIMEType) string {
		s, _ := messages[i].Data[kind].(string)
		return s
	}
	var img struct {
		Width  int    `xml:"width,attr"`
		Height int    `xml:"height,attr"`
		Alt    string `xml:"alt,attr"`
		Src    string `xml:"src,attr"`
	}
	if err := xml.Unmarshal([]byte(strings.TrimSuffix(text(0, protocol.MIMETextHTML), ">")+"/>"), &img); err != nil {
		t.Fatal(err)
	}
	w, h, err := f.Size()
	if err != nil {
		t.Fatal(err)
	}
	if img.Width != w || img.Height != h || img.Alt != f.Alt || !strings.HasPrefix(img.Src, "data:image/png;base64,iVBOR") {
		t.Errorf("image %d × %d, %q, %.40s", img.Width, img.Height, img.Alt, img.Src)
	}
	if got := text(0, protocol.MIMETextPlain); got != f.Alt {
		t.Errorf("plain text %q", got)
	}
	if got := text(1, protocol.MIMETextHTML); !strings.HasPrefix(got, "<div><svg ") || strings.Contains(got, "<?xml") || !strings.HasSuffix(got, "</div>") {
		t.Errorf("SVG: %.60s … %s", got, got[max(0, len(got)-20):])
	}
	if got := text(2, protocol.MIMETextMarkdown); got != "$x^2$" {
		t.Errorf("markdown %q", got)
	}
	if err := xml.Unmarshal([]byte(strings.TrimSuffix(text(3, protocol.MIMETextHTML), ">")+"/>"), &img); err != nil {
		t.Fatal(err)
	}
	if w, h, err = moving.Size(); err != nil {
		t.Fatal(err)
	}
	if img.Width != w || img.Height != h || img.Alt != moving.Alt() || !strings.HasPrefix(img.Src, "data:image/gif;base64,R0lGODlh") {
		t.Errorf("animation %d × %d, %q, %.40s", img.Width, img.Height, img.Alt, img.Src)
	}
	if got := text(4, protocol.MIMETextMarkdown); got != "| $d$ | error |\n| ---: | ---: |\n| 2 | 0.12 |" {
		t.Errorf("table %q", got)
	}
	if messages[5].DisplayID == "" || messages[5].DisplayID != messages[6].DisplayID {
		t.Errorf("progress in outputs %q and %q: must be one", messages[5].DisplayID, messages[6].DisplayID)
	}
	if got := text(5, protocol.MIMETextHTML); !strings.Contains(got, "a&lt;b · training 1/4") || !strings.Contains(got, "width:25.0%") {
		t.Errorf("progress: %s", got)
	}
}

// received returns the messages, and how often the kernel was asked whether it has them.
func received(t *testing.T, path string) (out []*protocol.DisplayData, asked int) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	decoder := gob.NewDecoder(file)
	for {
		message := &protocol.DisplayData{}
		err := decoder.Decode(message)
		if errors.Is(err, io.EOF) {
			return out, asked
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := message.Data[protocol.MIMECommValue]; ok {
			asked++
			continue
		}
		out = append(out, message)
	}
}

func TestTable(t *testing.T) {
	got, err := table(3, []string{"method", "d | k", "error"}, [][]any{
		{"exact | trace", 1200, 0.012345}, {"Hutchinson", -2, float32(2)}, {true, int64(7), "1.2 ± 0.1"}})
	want := `| method | d \| k | error |
| --- | ---: | --- |
| exact \| trace | 1,200 | 0.0123 |
| Hutchinson | −2 | 2.00 |
| true | 7 | 1.2 ± 0.1 |`
	if err != nil || got != want {
		t.Errorf("error %v:\n%s\nwant\n%s", err, got, want)
	}
	for _, c := range []struct {
		digits  int
		headers []string
		row     []any
		want    string
	}{
		{3, nil, nil, "inline: table: no headers"},
		{0, []string{"a"}, []any{1}, "inline: table: 0 digits: must be 1 to 17"},
		{3, []string{"a"}, []any{1, 2}, "inline: table: row 0: 2 values: must be 1, one for each header"},
	} {
		if _, err := table(c.digits, c.headers, [][]any{c.row}); err == nil || err.Error() != c.want {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		v      float64
		digits int
		want   string
	}{
		{0, 3, "0"}, {1, 3, "1.00"}, {0.012345, 3, "0.0123"}, {-0.5, 2, "−0.50"}, {1234.5, 3, "1,230"}, {123456.7, 7, "123,456.7"},
		{9.999, 3, "10.0"}, {0.00009999, 2, "0.00010"}, {0.0001, 2, "0.00010"}, {1e-5, 2, "1.0·10⁻⁵"}, {-2.5e12, 2, "−2.5·10¹²"},
		{999999, 3, "1.00·10⁶"}, {math.Inf(-1), 3, "−∞"}, {math.NaN(), 3, "NaN"},
	} {
		if got := Number(c.v, c.digits); got != c.want {
			t.Errorf("Number(%v, %d) = %q, want %q", c.v, c.digits, got, c.want)
		}
	}
}

func TestProgressText(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		report scorekit.Report
		want   string
	}{
		{scorekit.Report{Verb: "training", Step: 1200, Total: 2000, Rate: 410.4, Loss: 0.6841, Left: 1950 * time.Millisecond}, "training 1,200/2,000 · 410 steps/s · loss 0.6841 · 2 s left"},
		{scorekit.Report{Verb: "sampling", Step: 0, Total: 1000000, Loss: nan}, "sampling 0/1,000,000 · compiling"},
		{scorekit.Report{Verb: "sampling", Step: 5, Total: 10, Rate: 0.25, Loss: nan, Left: 20 * time.Second}, "sampling 5/10 · 0.2 steps/s · 20 s left"},
		{scorekit.Report{Verb: "log Z", Unit: "points", Step: 5, Total: 10, Rate: 250, Loss: nan, Left: 20 * time.Second}, "log Z 5/10 · 250 points/s · 20 s left"},
		{scorekit.Report{Verb: "training", Step: 2000, Total: 2000, Rate: 12345, Loss: 0.5, Elapsed: 185 * time.Second, Done: true}, "training 2,000/2,000 · 12,345 steps/s · loss 0.5 · 3 min 05 s"},
		{scorekit.Report{Verb: "training", Step: 3, Total: 9, Rate: 10, Loss: 2, Left: 7800 * time.Second}, "training 3/9 · 10 steps/s · loss 2 · 2 h 10 min left"},
		{scorekit.Report{Verb: "training", Step: 2, Total: 2, Loss: nan, Elapsed: 340 * time.Millisecond, Done: true}, "training 2/2 · 0.3 s"},
	} {
		if got := progressText("", c.report); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if got := progressText("ring", scorekit.Report{Verb: "training", Total: 1, Loss: nan}); got != "ring · training 0/1 · compiling" {
		t.Errorf("with a title: %q", got)
	}
}
