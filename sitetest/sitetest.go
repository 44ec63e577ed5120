// Package sitetest finds the tests of a site and runs them.
//
// A test is a script whose name begins with "test", in suites.tests or in a table _test beside
// what it tests. [Find] lists them, [Run] runs one after the other, each in a transaction of its own
// that is never committed. [Script] makes a test of a recorded request, for an [Address].
package sitetest

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"scripter/lua"
	"scripter/objectdb"
	"scripter/runner"
	"scripter/script"
	"scripter/site"
	"scripter/verbs/expect"
)

// A Test is a test of a root.
type Test struct {
	Address objectdb.Address
	// Setup is the address of the script that runs before the test, or nil if there is none.
	Setup objectdb.Address
}

// ErrNoTest says that an object is not a test.
var ErrNoTest = errors.New("it is not a test")

// Find returns the tests at and below a, in the order of their addresses. If match is not nil, it
// returns those whose addresses match.
func Find(tx *objectdb.Tx, a objectdb.Address, match *regexp.Regexp) ([]Test, error) {
	var list []Test
	err := tx.Walk(a, func(at objectdb.Address, n *objectdb.Node) error {
		if n.Kind() != objectdb.KindScript || !site.IsTest(at) {
			if len(at) == len(a) && n.Kind() != objectdb.KindTable {
				return fmt.Errorf("%s: %w", at, ErrNoTest)
			}
			return nil
		}
		if match != nil && !match.MatchString(at.String()) {
			return nil
		}
		test := Test{Address: tx.Address(n)}
		setup := site.TestSetup(test.Address)
		if o, err := tx.Stat(setup); err == nil && o.Kind == objectdb.KindScript {
			test.Setup = setup
		} else if err != nil && !errors.Is(err, objectdb.ErrNotFound) {
			return err
		}
		list = append(list, test)
		return nil
	})
	return list, err
}

// A Result is the result of a test.
type Result struct {
	Test
	runner.TestResult
	Took time.Duration
}

// Run runs tests one after the other, and calls report after each. Its error is that of the
// context or of report, or objectdb.ErrReadOnly: what tests write is undone, but they must be able
// to write.
func Run(ctx context.Context, r *runner.Runner, tests []Test, report func(Result) error) error {
	for _, t := range tests {
		begun := time.Now()
		result := Result{Test: t, TestResult: r.Test(ctx, t.Address, t.Setup)}
		result.Took = time.Since(begun)
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if errors.Is(result.Err, objectdb.ErrReadOnly) {
			return result.Err
		}
		if err := report(result); err != nil {
			return err
		}
	}
	return nil
}

// A Failure says why a test has failed.
type Failure struct {
	Message string   // with its place, such as "suites.tests.testX:4: …"
	Script  string   // the script where it failed, which may be another one than the test; "" if unknown
	Line    int      // 0 if unknown
	Source  string   // the text of that line
	Detail  string   // the message, the line and the calls, for people
	Calls   []string // the calls that led there, the innermost first

	// Compared says that two values were compared: Got and Wanted are their texts.
	Compared    bool
	Got, Wanted string
}

// Failure returns why the test has failed, or nil if it has passed.
func (r *Result) Failure() *Failure {
	if r.Err == nil {
		return nil
	}
	f := &Failure{Message: r.Err.Error(), Detail: r.Err.Error()}
	var s *script.Error
	if errors.As(r.Err, &s) {
		plain := *s
		plain.Frames = usefulFrames(s)
		f.Message, f.Script, f.Line, f.Source, f.Detail = s.Error(), s.Name, s.Line, s.Source, plain.Detail()
		for _, frame := range plain.Frames {
			f.Calls = append(f.Calls, frame.String())
		}
	}
	var e *expect.Failure
	if errors.As(r.Err, &e) && (e.Got != "" || e.Wanted != "") {
		f.Compared, f.Got, f.Wanted = true, e.Got, e.Wanted
	}
	return f
}

// usefulFrames returns the calls that led to an error, unless they say no more than its place.
func usefulFrames(s *script.Error) []lua.Frame {
	frames := s.Frames
	if len(frames) > 0 && frames[0].Line == 0 {
		frames = frames[1:] // a verb or a library function: the message already names it
	}
	if len(frames) == 1 && frames[0].Source == s.Name && frames[0].Line == s.Line {
		return nil
	}
	return frames
}
