package runner

import (
	"cmp"
	"context"
	"errors"

	"scripter/objectdb"
)

// A TestResult is the result of a test.
type TestResult struct {
	Written string   // what the verb write wrote
	Notes   []string // what helps to understand a failure, such as requests that failed
	Err     error    // nil: the test has passed
}

// testSeed is the seed of math.random in tests, so that they give the same result each time.
const testSeed = 1

// testTries is how often a test is begun again because the root has changed.
const testTries = 20

var errChanged = errors.New("the root is changed too often to test on it: test on a copy")

// Test runs the script at a as a test, in a transaction that is undone. Before it, the script at
// setup, unless that is nil, runs in the same transaction; the test gets its result as argument.
// A test holds no lock: if the root changes while it runs, and it has read what was changed, the
// test begins again.
func (r *Runner) Test(ctx context.Context, a, setup objectdb.Address) TestResult {
	var t TestResult
	for range testTries {
		t.Err = r.outside(ctx, Options{Test: true, Seed: testSeed}, a, func(run *Run) error {
			t = TestResult{}
			if run.Again { // a second attempt would hold the writer's lock
				return errChanged
			}
			err := run.test(a, setup)
			t.Notes = run.notes
			var failed error
			t.Written, failed = run.Output().Text()
			return cmp.Or(err, failed)
		})
		if t.Err != errChanged {
			break
		}
	}
	return t
}

func (r *Run) test(a, setup objectdb.Address) error {
	if setup == nil {
		_, err := r.Thread.Run(a)
		return err
	}
	v, err := r.Thread.Run(setup)
	if err == nil {
		_, err = r.Thread.Run(a, v)
	}
	return err
}
