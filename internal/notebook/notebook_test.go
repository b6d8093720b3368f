package notebook

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func names(books []Notebook) string {
	var all []string
	for _, book := range books {
		all = append(all, book.Name)
	}
	return strings.Join(all, " ")
}

func TestChoose(t *testing.T) {
	all := []Notebook{{Name: "00-tour"}, {Name: "01-explicit"}, {Name: "08-noise-levels"}, {Name: "10-images"}}
	tests := []struct {
		wishes []string
		want   string // names, or part of the error after "!"
	}{
		{nil, "00-tour 01-explicit 08-noise-levels 10-images"},
		{[]string{"08"}, "08-noise-levels"},
		{[]string{"8", "0"}, "00-tour 08-noise-levels"},
		{[]string{"1"}, "01-explicit"},
		{[]string{"10", "10-images", "010"}, "10-images"},
		{[]string{"08-noise"}, "08-noise-levels"},
		{[]string{"notebooks/00-tour.ipynb"}, "00-tour"},
		{[]string{"00", "99"}, "!no notebook \"99\"; there are: 00-tour, 01-explicit"},
		{[]string{"tour"}, "!no notebook"},
		{[]string{"0x"}, "!no notebook"},
		{[]string{""}, "!no notebook"},
	}
	for _, test := range tests {
		got, err := Choose(all, test.wishes)
		if part, fails := strings.CutPrefix(test.want, "!"); fails {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("Choose %q: %v, %v; want an error with %q", test.wishes, names(got), err, part)
			}
		} else if err != nil || names(got) != test.want {
			t.Errorf("Choose %q: %v, %v; want %v", test.wishes, names(got), err, test.want)
		}
	}
}

func TestListAndTitle(t *testing.T) {
	books, err := List("testdata")
	if err != nil {
		t.Fatal(err)
	}
	want := "00-passes 01-panics 02-does-not-compile 03-unknown-command 04-hangs 05-exits 06-panics-in-a-function"
	if names(books) != want {
		t.Errorf("notebooks %q, want %q", names(books), want)
	}
	if got := books[0].Title(); got != "A notebook that passes" {
		t.Errorf("title %q", got)
	}
	if _, err := List(t.TempDir()); err == nil {
		t.Error("an empty folder gave no error")
	}
}

// recorded reads the outputs of a cell as Jupyter recorded them.
func recorded(t *testing.T, outputs string) []Output {
	t.Helper()
	var all []Output
	if err := json.Unmarshal([]byte(outputs), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestFailure(t *testing.T) {
	tests := []struct {
		name, outputs string
		want          string // part of the report; "" for none
	}{
		{"nothing printed", `[]`, ""},
		{"text", `[{"output_type":"stream","name":"stdout","text":"half of 42\n"}]`, ""},
		{"text about statuses on standard output", `[{"output_type":"stream","name":"stdout","text":["exit status 3\n"]}]`, ""},
		{"log", `[{"output_type":"stream","name":"stderr","text":"2026/11/30 step 3: exit status 1 was expected\n"}]`, ""},
		{"panic", `[{"output_type":"stream","name":"stderr","text":"panic: assignment to entry in nil map\n\ngoroutine 1 [running]:\nmain.main()\n\t \u001b[7m[[ Cell [2] Line 3 ]]\u001b[0m /tmp/gonb_1f7e8c7c/main.go:11 +0x67\nexit status 2\n"}]`, "[[ Cell [2] Line 3 ]] /tmp"},
		{"exit", `[{"output_type":"stream","name":"stderr","text":"2026/11/30 08:09:30 the number is off\nexit status 1\n"}]`, "the number is off"},
		{"status without a line end", `[{"output_type":"stream","name":"stderr","text":"exit status 7"}]`, "exit status 7"},
		{"status in a second piece", `[{"output_type":"stream","name":"stderr","text":"oh\n"},{"output_type":"stream","name":"stdout","text":"x"},{"output_type":"stream","name":"stderr","text":"exit status 1\n"}]`, "oh"},
		{"killed", `[{"output_type":"stream","name":"stderr","text":"signal: killed\n"}]`, "signal: killed"},
		{"unknown command", `[{"output_type":"stream","name":"stdout","text":"printed all the same\n"},{"output_type":"stream","name":"stderr","text":"\"%nonsense\" unknown or not implemented yet."}]`, "%nonsense"},
		{"compile error", `[{"output_type":"error","ename":"ERROR","evalue":"# gonb_3c86cfe6\n./main.go:11:19: cannot use 42\n","traceback":["# gonb_3c86cfe6","Cell[1]: Line 2\n\ncannot use 42 (untyped int constant) as string value",""]}]`, "Cell[1]: Line 2"},
		{"panic that is an error, too", `[{"output_type":"stream","name":"stderr","text":"panic: off\n\t[[ Cell [2] Line 3 ]]\nexit status 2\n"},{"output_type":"error","ename":"ERROR","evalue":"exit status 2","traceback":["the cell's program ended with: exit status 2"]}]`, "[[ Cell [2] Line 3 ]]"},
		{"error without a trace", `[{"output_type":"error","ename":"ERROR","evalue":"lost","traceback":[]}]`, "ERROR: lost"},
	}
	for _, test := range tests {
		got := Failure(recorded(t, test.outputs))
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q in it", test.name, got, test.want)
		}
	}
}

func TestCellErrorShowsExcerpts(t *testing.T) {
	long := strings.Repeat("line\n", 50)
	err := &CellError{"00-tour", 3, 9, "first\n" + long, long + "the cause\n"}
	got := err.Error()
	for _, want := range []string{"00-tour, code cell 3 of 9 failed", "    | first\n", "(39 more lines)", "(21 lines before)"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if !strings.HasSuffix(got, "the cause") {
		t.Errorf("the cause is not last in\n%s", got)
	}
}

func TestScratchCopiesDataOnly(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"points.csv", "00-tour.ipynb", "notebooks_test.go", ".hidden", "data/more.csv", ".ipynb_checkpoints/old.csv"} {
		file := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, err := newScratch(folder)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	if err := filepath.WalkDir(s.work, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			relative, _ := filepath.Rel(s.work, path)
			got = append(got, filepath.ToSlash(relative))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	if want := []string{"data/more.csv", "points.csv"}; !slices.Equal(got, want) {
		t.Errorf("copied %q, want %q", got, want)
	}
	if err := s.remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.root); !os.IsNotExist(err) {
		t.Error("the scratch folder is still there")
	}
}

func TestResultsAndIndex(t *testing.T) {
	folder, source := t.TempDir(), t.TempDir()
	for _, name := range []string{"00-tour", "08-noise"} {
		if err := os.WriteFile(filepath.Join(source, name+".ipynb"), []byte("{}"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	when := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	for _, result := range []Result{
		{Name: "08-noise", Title: "Noise & <levels>", Cells: 4, Passed: 1, Seconds: 75, Finished: when, Failed: "the number is off", Page: true},
		{Name: "00-tour", Title: "Tour", Cells: 3, Passed: 3, Seconds: 12.4, Finished: when, Page: true},
	} {
		if err := record(folder, source, result); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(filepath.Join(folder, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`<a href="00-tour.html">Tour</a>`, "Noise &amp; &lt;levels&gt;", "failed after 1 of 4 cells", "1 min 15 s", "the number is off", "2 executed", "1 failed"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("no %q in the index", want)
		}
	}
	if strings.Contains(string(page), "://") {
		t.Error("the index refers to a server")
	}
	// A notebook that is run again replaces its own result.
	if err := record(folder, source, Result{Name: "08-noise", Cells: 4, Passed: 4}); err != nil {
		t.Fatal(err)
	}
	if results, err := readResults(folder); err != nil || len(results) != 2 || results["08-noise"].Failed != "" {
		t.Errorf("results %v, %v", results, err)
	}
	// One that is gone is no longer listed.
	if err := os.Remove(filepath.Join(source, "00-tour.ipynb")); err != nil {
		t.Fatal(err)
	}
	if err := record(folder, source, Result{Name: "08-noise", Cells: 4, Passed: 4}); err != nil {
		t.Fatal(err)
	}
	if results, err := readResults(folder); err != nil || len(results) != 1 {
		t.Errorf("results %v, %v", results, err)
	}
}
