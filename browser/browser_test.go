//go:build browser

package browser

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/scorekit/lab/internal/home"
	"github.com/scorekit/lab/internal/kernel"
	"github.com/scorekit/lab/internal/notebook"
	"github.com/scorekit/lab/internal/process"
	"github.com/scorekit/lab/internal/setup"
)

const tour = "00-tour"

// job is what drive.mjs is asked to do.
type job struct {
	Address       string         `json:"address"`
	Token         string         `json:"token"`
	Chromium      string         `json:"chromium"`
	Root          bool           `json:"root"`          // Chromium's sandbox does not work for root
	Pictures      string         `json:"pictures"`      // folder of the screenshots
	Cells         map[string]int `json:"cells"`         // code cells, by notebook
	ShownPictures int            `json:"shownPictures"` // in the tour
	Progress      int            `json:"progress"`      // runs that the tour shows the progress of
	Gopls         bool           `json:"gopls"`
}

// seen is one thing that drive.mjs has looked at.
type seen struct {
	Check  string `json:"check"`
	Failed string `json:"failed"`
	Seen   string `json:"seen"`
}

func TestJupyterLab(t *testing.T) {
	chromium, node := programs(t)
	s, err := setup.Find(".", false)
	if err != nil {
		t.Fatal(err)
	}
	s.Out = os.Stdout
	if err := s.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}

	// A checkout's notebooks folder of its own, in the checkout, so that cells import its packages.
	output := filepath.Join(s.Checkout, "build", "browser")
	books := filepath.Join(output, "notebooks")
	if err := errors.Join(os.RemoveAll(output), os.MkdirAll(books, 0o755)); err != nil {
		t.Fatal(err)
	}
	j := job{Token: "of-the-browser-test", Chromium: chromium, Root: os.Geteuid() == 0, Pictures: output, Cells: map[string]int{}, Gopls: hasGopls(s)}
	if !j.Gopls {
		fmt.Println(`left out without gopls: completion by Tab (to include it: scorelab setup --gopls)`)
	}
	// That the notebook itself is in JupyterLab's form is for the test of Form.
	before, err := notebook.Form(book(t, filepath.Join(s.Checkout, "notebooks", tour+".ipynb")))
	if err != nil {
		t.Fatal(err)
	}
	text := string(before)
	j.ShownPictures = strings.Count(text, "<img width=")
	j.Progress = len(regexp.MustCompile(`>(training|sampling) [\d,]+/`).FindAllString(text, -1))
	copies := map[string][]byte{tour: before, "saved": before}
	for _, name := range []string{"mistakes", "interrupted"} {
		copies[name] = book(t, filepath.Join("testdata", name+".ipynb"))
	}
	for name, file := range copies {
		j.Cells[name] = strings.Count(string(file), `   "cell_type": "code"`)
		if err := os.WriteFile(filepath.Join(books, name+".ipynb"), file, 0o644); err != nil {
			t.Fatal(err)
		}
	}

	j.Address = serve(t, s, output, j.Token)
	drive(t, node, j)
	t.Run("saving changes nothing", func(t *testing.T) {
		if after := book(t, filepath.Join(books, "saved.ipynb")); !bytes.Equal(before, after) {
			t.Errorf("JupyterLab saves another file than it opened:\n%s", difference(string(before), string(after)))
		}
	})
	t.Run("a run changes outputs only", func(t *testing.T) {
		after := book(t, filepath.Join(books, tour+".ipynb"))
		if b, a := withoutOutputs(string(before)), withoutOutputs(string(after)); b != a {
			t.Errorf("a run and saving changed more than the outputs:\n%s", difference(b, a))
		}
	})
}

// programs returns Chromium and Node.js, and ends the test where something is missing.
func programs(t *testing.T) (chromium, node string) {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			chromium = path
			break
		}
	}
	node, err := exec.LookPath("node")
	_, moduleErr := os.Stat(filepath.Join("node_modules", "playwright-core"))
	if chromium == "" || err != nil || moduleErr != nil {
		t.Fatal("Chromium, Node.js or playwright-core is missing: run browser/setup first")
	}
	return chromium, node
}

func hasGopls(s setup.Setup) bool {
	_, err := exec.LookPath("gopls")
	_, own := os.Stat(filepath.Join(home.Bin(s.Home), kernel.Program("gopls")))
	return err == nil || own == nil
}

func book(t *testing.T, path string) []byte {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// serve starts JupyterLab on the notebooks folder of a checkout, until the test ends, and returns its address.
func serve(t *testing.T, s setup.Setup, checkout, token string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	listener.Close()
	s.Checkout = checkout
	lab := notebook.Lab{Setup: s, IP: "127.0.0.1", Port: port, Arguments: []string{"--IdentityProvider.token=" + token}, Out: os.Stdout}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	begin := time.Now()
	go func() { ended <- lab.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	address := fmt.Sprintf("http://127.0.0.1:%d", port)
	for {
		if answer, err := http.Get(address + "/api"); err == nil {
			answer.Body.Close()
			fmt.Printf("JupyterLab answers after %.1f s\n", time.Since(begin).Seconds())
			return address
		}
		select {
		case err := <-ended:
			ended <- nil
			t.Fatalf("JupyterLab ended: %v", err)
		case <-time.After(50 * time.Millisecond):
		}
		if time.Since(begin) > 5*time.Minute {
			t.Fatal("JupyterLab does not answer")
		}
	}
}

// drive runs drive.mjs and makes a subtest of each of its lines.
func drive(t *testing.T, node string, j job) {
	t.Helper()
	asked, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	command := process.Command(t.Context(), node, "drive.mjs")
	command.Stdin, command.Stderr = bytes.NewReader(asked), os.Stderr
	lines, told, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer lines.Close()
	command.Stdout = told
	ended := make(chan error, 1)
	go func() {
		ended <- process.Run(t.Context(), command)
		told.Close()
	}()
	checks := 0
	for scanner := bufio.NewScanner(lines); scanner.Scan(); {
		var look seen
		if err := json.Unmarshal(scanner.Bytes(), &look); err != nil {
			t.Errorf("drive.mjs said %q", scanner.Text())
			continue
		}
		checks++
		t.Run(look.Check, func(t *testing.T) {
			if look.Failed != "" {
				t.Fatal(look.Failed)
			}
			fmt.Printf("%s: %s\n", look.Check, look.Seen)
		})
	}
	if err := <-ended; err != nil {
		t.Errorf("drive.mjs: %v", err)
	}
	if checks < 15 {
		t.Errorf("only %d checks", checks)
	}
}

// outputs are a cell's outputs and its number, in the form in which JupyterLab saves.
var outputs = regexp.MustCompile(`(?ms)^   "outputs": \[$.*?^   \],?$\n|^   "outputs": \[\],?\n|^   "execution_count": (\d+|null),\n`)

func withoutOutputs(file string) string { return outputs.ReplaceAllString(file, "") }

// difference returns the first line that differs, of each.
func difference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for k := range min(len(x), len(y)) {
		if x[k] != y[k] {
			return fmt.Sprintf("line %d: %.200q\nnow:     %.200q", k+1, x[k], y[k])
		}
	}
	return fmt.Sprintf("%d lines, now %d", len(x), len(y))
}
