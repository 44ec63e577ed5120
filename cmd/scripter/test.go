package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"scripter/gateway"
	"scripter/objectdb"
	"scripter/objectdb/roots"
	"scripter/objectdb/sqlitestore"
	"scripter/objectfiles"
	"scripter/root"
	"scripter/site"
	"scripter/sitetest"
)

// testRun is one run of "scripter test".
type testRun struct {
	*tool
	target  string           // the argument: an address or a folder; "" for the whole root
	folder  bool             // it is a folder
	into    objectdb.Address // the table of the folder's objects
	pattern string           // --run
	match   *regexp.Regexp   // pattern, of the addresses of tests; nil: all
	site    string

	verbose, tap, watch bool
}

func (t *tool) testCommand() *cobra.Command {
	f := testRun{tool: t}
	var into string
	c := &cobra.Command{
		Use:   "test [ADDRESS|DIR]",
		Short: "run the tests of scripts",
		Long: `Test runs the test at ADDRESS, or all tests of the table there (else of the whole
root). A test is a script whose name begins with "test", in suites.tests or in a
table _test beside what it tests. Each runs in a transaction of its own, which is
thrown away: a test changes nothing. A script setup in the same table runs before
each. A test fails when it ends with an error. Only tests have these verbs, which
check results: expect.equal, expect.contains, expect.match, expect.error. The verb
request makes a request to the site.

With DIR, an existing folder or a name with a slash, the tests run on a new root
with the supplied objects and those in the folder, which "scripter export" has
written or which is a git checkout. No other root is needed.

The exit status is 1 when a test fails, or when there is none.`,
		Args:              args(0, 1),
		ValidArgsFunction: t.arguments(testTargets),
		RunE: func(c *cobra.Command, args []string) (err error) {
			f.target = strings.Join(args, "")
			f.folder = isFolderArg(f.target)
			if f.tap && t.json {
				return usageError{errors.New("--tap and --json exclude each other")}
			}
			if into != "" && !f.folder {
				return usageError{errors.New("--into is for a folder, and none is given")}
			}
			if f.into, err = address(into); err != nil {
				return err
			}
			if f.site, err = filepath.Abs(f.site); err != nil {
				return err
			}
			if f.pattern != "" {
				if _, err := regexp.Compile(f.pattern); err != nil {
					return usageError{fmt.Errorf("--run: %w", err)}
				}
				f.match = regexp.MustCompile("(?i:" + f.pattern + ")")
			}
			if f.watch {
				return f.watchAndRun(c.Context())
			}
			return f.run(c.Context())
		},
	}
	c.Flags().StringVar(&f.pattern, "run", "", "only the tests whose addresses match the regular expression")
	c.Flags().BoolVarP(&f.verbose, "verbose", "v", false, "list the tests that pass, too, and what tests write")
	c.Flags().BoolVar(&f.tap, "tap", false, "print in the Test Anything Protocol")
	c.Flags().BoolVar(&f.watch, "watch", false, "run again whenever something changes, until Ctrl-C")
	c.Flags().StringVar(&into, "into", "", "the table whose objects DIR has; the whole root")
	c.Flags().StringVar(&f.site, "site", "www", "folder of the pages (DOCUMENT_ROOT)")
	t.flag(c, "run", nothing)
	t.flag(c, "into", addressOf(objectdb.KindTable))
	t.flag(c, "site", folders)
	return c
}

// testTargets completes the address of a test or a table, else a folder.
func testTargets(t *tool, c *cobra.Command, args []string, typed string) []offer {
	folders(t, c, args, typed)
	return addressOf(objectdb.KindScript)(t, c, args, typed)
}

// isFolderArg reports whether an argument names a folder: it exists as one, or has a slash.
func isFolderArg(arg string) bool {
	if strings.Contains(arg, "/") {
		return true
	}
	info, err := os.Stat(arg)
	return arg != "" && err == nil && info.IsDir()
}

// run runs the tests once.
func (f *testRun) run(ctx context.Context) error {
	if f.folder {
		return f.withFolder(ctx, func(db *objectdb.DB, broken []error) error { return f.runOn(ctx, db, broken) })
	}
	if roots.IsCopy(f.rootName()) {
		return f.withCopy(func(db *objectdb.DB) error { return f.runOn(ctx, db, nil) })
	}
	return f.with(forReading, func(db *objectdb.DB) error { return f.runOn(ctx, db, nil) })
}

// withCopy calls fn with a copy of the root. The root is a saved copy that cannot be written, and
// tests must be able to write, although it is undone.
func (f *testRun) withCopy(fn func(db *objectdb.DB) error) error {
	dir, err := os.MkdirTemp("", "scripter-test-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	content, err := os.Open(f.rootName())
	if err != nil {
		return err
	}
	defer content.Close()
	name := filepath.Join(dir, "scripter.root")
	file, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	if err := cmp.Or(err, file.Close()); err != nil {
		return err
	}
	db, err := sqlitestore.Open(name, forRequests)
	if err != nil {
		return err
	}
	defer db.Close()
	return fn(db)
}

// runOn runs the tests of a root once. broken are the errors of scripts that do not compile.
func (f *testRun) runOn(ctx context.Context, db *objectdb.DB, broken []error) error {
	begun := time.Now()
	list, err := f.find(ctx, db)
	if err != nil {
		return err
	}
	reach, err := f.mayReach()
	if err != nil {
		return err
	}
	g := gateway.New(gateway.Options{DB: db, Reach: reach, Drivers: drivers, TestSite: f.site})
	out := f.newTestOutput(len(list))
	if err := sitetest.Run(ctx, g.Runner(), list, out.add); err != nil {
		return err
	}
	return out.end(time.Since(begun), broken)
}

// find returns the tests that are to run.
func (f *testRun) find(ctx context.Context, db *objectdb.DB) ([]sitetest.Test, error) {
	var a objectdb.Address
	var err error
	if !f.folder {
		if a, err = address(f.target); err != nil {
			return nil, err
		}
	}
	var list []sitetest.Test
	err = db.View(ctx, func(tx *objectdb.Tx) error {
		list, err = sitetest.Find(tx, a, f.match)
		return err
	})
	const hint = `a test is a script called test…, in suites.tests or in a table _test beside what it tests`
	switch {
	case errors.Is(err, sitetest.ErrNoTest):
		return nil, hintError{err, hint}
	case err != nil:
		return nil, err
	case len(list) == 0 && f.match != nil:
		return nil, fmt.Errorf("no test matches --run %s", f.pattern)
	case len(list) == 0 && len(a) > 0:
		return nil, hintError{fmt.Errorf("there is no test in %s", a), hint}
	case len(list) == 0:
		return nil, hintError{errors.New("there is no test"), hint}
	}
	return list, nil
}

// withFolder calls fn with a new root that has the supplied objects and those of the folder.
func (f *testRun) withFolder(ctx context.Context, fn func(db *objectdb.DB, broken []error) error) error {
	s, err := openFolder(f.target, objectfiles.ImportLimits{})
	if err != nil {
		return err
	}
	defer s.close()
	dir, err := os.MkdirTemp("", "scripter-test-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	o := forWork
	o.Relaxed, o.Origin = true, f.origin()
	db, err := sqlitestore.Create(filepath.Join(dir, "scripter.root"), o)
	if err != nil {
		return err
	}
	defer db.Close()
	var broken []error
	err = db.UpdateLocked(ctx, func(tx *objectdb.Tx) error {
		if _, err := objectfiles.Import(tx, root.FS, nil, nil); err != nil {
			return err
		}
		var scripts newScripts
		_, err := s.importInto(tx, f.into, func(c objectfiles.Change) error {
			if !site.IsTest(c.Address) { // a test that does not compile fails
				scripts.note(c)
			}
			return nil
		})
		if err != nil {
			return s.explain(err)
		}
		broken, err = scripts.broken(tx)
		return err
	})
	if err != nil {
		return err
	}
	return fn(db, broken)
}
