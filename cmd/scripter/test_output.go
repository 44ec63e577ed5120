package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"scripter/sitetest"
	"scripter/textdiff"
)

// testOutput prints the results of tests.
type testOutput struct {
	*testRun
	ran, failed int
	objects     []any // of --json
}

// newTestOutput begins the output of a number of tests.
func (f *testRun) newTestOutput(n int) *testOutput {
	if f.tap {
		fmt.Fprintf(f.out, "TAP version 13\n1..%d\n", n)
	}
	return &testOutput{testRun: f, objects: []any{}}
}

// add prints the result of a test.
func (o *testOutput) add(r sitetest.Result) error {
	o.ran++
	f := r.Failure()
	if f != nil {
		o.failed++
	}
	switch {
	case o.json:
		o.objects = append(o.objects, jsonResult(&r, f))
	case o.tap:
		o.printTAP(&r, f)
	default:
		o.print(&r, f)
	}
	return nil
}

// end prints the summary, and returns an error if something has failed.
func (o *testOutput) end(took time.Duration, broken []error) error {
	seconds := fmt.Sprintf("%.2f s", took.Seconds())
	sum := fmt.Sprintf("%s passed in %s", counted(o.ran, "test"), seconds)
	switch {
	case o.failed > 0 && o.ran == 1:
		sum = "the test failed in " + seconds
	case o.failed > 0:
		sum = fmt.Sprintf("%d of %d tests failed in %s", o.failed, o.ran, seconds)
	}
	var err error
	switch {
	case len(broken) > 0:
		text := fmt.Sprintf("%s; %s not compile:", sum, counted(len(broken), "script")+" do")
		if len(broken) == 1 {
			text = sum + "; a script does not compile:"
		}
		for _, why := range broken {
			text += "\n" + syntaxDetail(why).Error()
		}
		err = errors.New(text)
	case o.failed > 0:
		err = errors.New(sum)
	}
	switch {
	case o.json:
		compile := []string{}
		for _, why := range broken {
			compile = append(compile, why.Error())
		}
		if err := o.printJSON(map[string]any{
			"tests": o.objects, "run": o.ran, "failed": o.failed, "seconds": took.Seconds(), "broken": compile,
		}); err != nil {
			return err
		}
	case o.tap:
		fmt.Fprintf(o.out, "# %s\n", sum)
	case err == nil:
		fmt.Fprintln(o.out, sum)
	}
	return err
}

// print prints a test that failed, and with --verbose also one that passed.
func (o *testOutput) print(r *sitetest.Result, f *sitetest.Failure) {
	if f == nil && !o.verbose {
		return
	}
	word := "ok  "
	if f != nil {
		word = "FAIL"
	}
	fmt.Fprintf(o.out, "%s %s (%s)\n", word, r.Address, milli(r.Took))
	for _, line := range explained(r, f, o.verbose) {
		fmt.Fprintf(o.out, "    %s\n", line)
	}
}

func milli(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}

// explained returns the lines that explain a result: the error with the line of the script and the
// calls, the difference of texts, failed requests, and what the test has written.
func explained(r *sitetest.Result, f *sitetest.Failure, verbose bool) []string {
	var lines []string
	add := func(text string) { lines = append(lines, strings.Split(strings.TrimSuffix(text, "\n"), "\n")...) }
	if f != nil {
		add(f.Detail)
		if f.Compared && strings.Contains(f.Got+f.Wanted, "\n") {
			add(difference(f.Wanted, f.Got))
		}
	}
	if f != nil || verbose {
		for _, note := range r.Notes {
			add(note)
		}
		if r.Written != "" {
			add("it wrote:")
			add(r.Written)
		}
	}
	return lines
}

// longestDifference is the number of lines of a difference that are printed.
const longestDifference = 60

func difference(wanted, got string) string {
	text := textdiff.Unified("wanted", "got", wanted, got, 2)
	lines := strings.SplitAfter(text, "\n")
	if len(lines) <= longestDifference {
		return text
	}
	return strings.Join(lines[:longestDifference], "") + fmt.Sprintf("… %d more lines", len(lines)-longestDifference)
}

// printTAP prints a result in the Test Anything Protocol, version 13. The details are YAML: each
// text is a quoted one, as JSON writes it.
func (o *testOutput) printTAP(r *sitetest.Result, f *sitetest.Failure) {
	word := "ok"
	if f != nil {
		word = "not ok"
	}
	name := strings.NewReplacer("#", `\#`, "\\", `\\`).Replace(oneLine(r.Address.String()))
	fmt.Fprintf(o.out, "%s %d - %s\n", word, o.ran, name)
	text := func(name, value string) {
		b, _ := json.Marshal(strings.ToValidUTF8(value, "�"))
		fmt.Fprintf(o.out, "  %s: %s\n", name, b)
	}
	fmt.Fprintf(o.out, "  ---\n  duration_ms: %.1f\n", float64(r.Took)/float64(time.Millisecond))
	if f != nil {
		text("message", f.Message)
		if f.Compared {
			text("found", f.Got)
			text("wanted", f.Wanted)
		}
		text("detail", strings.Join(explained(r, f, false), "\n"))
	}
	fmt.Fprint(o.out, "  ...\n")
}

// jsonResult returns what --json prints of a result.
func jsonResult(r *sitetest.Result, f *sitetest.Failure) map[string]any {
	m := map[string]any{"address": r.Address.String(), "passed": f == nil, "seconds": r.Took.Seconds()}
	if r.Written != "" {
		m["written"] = r.Written
	}
	if len(r.Notes) > 0 {
		m["requests"] = r.Notes
	}
	if f == nil {
		return m
	}
	e := map[string]any{"message": f.Message, "script": f.Script, "line": f.Line, "source": f.Source,
		"calls": append([]string{}, f.Calls...)}
	if f.Compared {
		e["got"], e["wanted"] = f.Got, f.Wanted
	}
	m["error"] = e
	return m
}
