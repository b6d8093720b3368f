// Command count reads what "go test -json" writes, from one or several runs one after another, and says what happened:
// a line for each package, what was skipped or left out, the output of the first failure, and at the very end
//
//	N listed cases passed, N failed
//	N claims of the notebooks checked
//	N passed, N failed
//
// A listed case is one of exact reference values or of another library's recorded outputs: a subtest whose name starts
// with case_. It counts once for a package, however many tests and backends look at it, and passes if all of
// them do. A claim is a check in a notebook that held, a subtest whose name starts with claim_; one that does not hold
// fails its notebook.
//
// A test with subtests counts through them; a package that fails without a failing test, because it does not compile
// or ends early, counts as one failure. The exit status is 1 if anything failed or nothing was run.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// event is a line of go test -json. Output that cannot be ascribed to a package comes with an ImportPath instead.
type event struct {
	Action, Package, ImportPath, Test, Output, FailedBuild string
	Elapsed                                                float64
}

// running is a package whose tests are at work.
type running struct {
	result map[string]string   // test → pass, fail or skip
	output map[string][]string // test, or "" for the package itself → its lines
}

func main() {
	passed, failed, claims := 0, 0, 0
	first := "" // the output of the first failure
	open, builds := map[string]*running{}, map[string]string{}
	cases := map[string]bool{} // package and case → passed wherever it ran
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			fmt.Println(lines.Text())
			continue
		}
		if e.Package == "" {
			builds[e.ImportPath] += e.Output
			continue
		}
		p := open[e.Package]
		if p == nil {
			p = &running{map[string]string{}, map[string][]string{}}
			open[e.Package] = p
		}
		switch {
		case e.Action == "output":
			p.output[e.Test] = append(p.output[e.Test], e.Output)
			if strings.Contains(strings.ToLower(e.Output), "left out") {
				fmt.Printf("     %s: %s\n", e.Package, strings.TrimSpace(e.Output))
			}
		case e.Action != "pass" && e.Action != "fail" && e.Action != "skip":
		case e.Test != "":
			p.result[e.Test] = e.Action
			if e.Action == "skip" {
				fmt.Printf("     %s: %s skipped:%s\n", e.Package, e.Test, said(p.output[e.Test]))
			}
		default:
			ok, bad, output := p.sum(e.Action == "fail")
			if ok+bad > 0 {
				fmt.Printf("%-4s %s: %d passed, %d failed, %.1f s\n", e.Action, e.Package, ok, bad, e.Elapsed)
			}
			passed, failed = passed+ok, failed+bad
			p.cases(e.Package, cases)
			claims += p.claims()
			if bad > 0 && first == "" {
				first = fmt.Sprintf("\n%s:\n%s%s", e.Package, builds[e.FailedBuild], output)
			}
			delete(open, e.Package)
		}
	}
	for name := range open {
		fmt.Println("fail", name, "did not end")
		failed++
	}
	if err := lines.Err(); err != nil {
		fmt.Println(err)
		failed++
	}
	fmt.Print(first)
	good := 0
	for _, ok := range cases {
		if ok {
			good++
		}
	}
	fmt.Printf("%d listed cases passed, %d failed\n", good, len(cases)-good)
	fmt.Printf("%d claims of the notebooks checked\n", claims)
	fmt.Printf("%d passed, %d failed\n", passed, failed)
	if failed > 0 || passed == 0 {
		os.Exit(1)
	}
}

// sum counts the tests of a package that has ended and returns the output of the first that failed.
func (p *running) sum(packageFailed bool) (passed, failed int, output string) {
	parents, failedBelow := map[string]bool{}, map[string]bool{}
	for test, result := range p.result {
		for at := strings.LastIndexByte(test, '/'); at > 0; at = strings.LastIndexByte(test[:at], '/') {
			parents[test[:at]] = true
			if result == "fail" {
				failedBelow[test[:at]] = true
			}
		}
	}
	firstFailed := ""
	for test, result := range p.result {
		switch {
		case result == "pass" && !parents[test]:
			passed++
		case result == "fail" && !failedBelow[test]:
			failed++
			if firstFailed == "" || test < firstFailed {
				firstFailed = test
			}
		}
	}
	if packageFailed && failed == 0 {
		failed = 1
		// Whatever ended it was one of the tests that have no result.
		for test, lines := range p.output {
			if test != "" && p.result[test] == "" {
				output += strings.Join(lines, "")
			}
		}
	}
	return passed, failed, output + strings.Join(p.output[firstFailed], "")
}

// cases adds the listed cases of a package that has ended.
func (p *running) cases(name string, all map[string]bool) {
	for test, result := range p.result {
		at := strings.LastIndexByte(test, '/')
		if at < 0 || !strings.HasPrefix(test[at+1:], "case_") {
			continue
		}
		key := name + test[at:]
		before, seen := all[key]
		all[key] = result == "pass" && (before || !seen)
	}
}

// said returns what a test wrote without the lines of the testing package.
func said(lines []string) (text string) {
	for _, line := range lines {
		if !strings.HasPrefix(line, "=== ") && !strings.HasPrefix(strings.TrimSpace(line), "--- ") {
			text += " " + strings.TrimSpace(line)
		}
	}
	return text
}

// claims returns how many claims held in the notebooks of a package that has ended.
func (p *running) claims() int {
	held := 0
	for test, result := range p.result {
		if result == "pass" && strings.HasPrefix(test[strings.LastIndexByte(test, '/')+1:], "claim_") {
			held++
		}
	}
	return held
}
