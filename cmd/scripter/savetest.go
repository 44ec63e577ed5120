package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"scripter/objectdb"
	"scripter/sitetest"
)

// saveTest makes a test of a recorded request.
func (t *tool) saveTest(c *cobra.Command, args []string, name string) error {
	if len(args) == 0 {
		return usageError{errors.New("--save-test needs the number of the request")}
	}
	which, err := recordedFrom(args)
	if err != nil {
		return err
	}
	a, err := testAddress(name)
	if err != nil {
		return err
	}
	command := fmt.Sprintf("scripter requests %s --save-test %s", args[0], name)
	var masked []string
	_, err = t.change(c.Context(), changeFlags{}, func(tx *objectdb.Tx) ([]doneObject, error) {
		request, err := findRecorded(tx, which)
		if err != nil {
			return nil, err
		}
		if _, err := tx.Stat(a); !errors.Is(err, objectdb.ErrNotFound) {
			if err == nil {
				err = fmt.Errorf("make %s: %w", a, objectdb.ErrExists)
			}
			return nil, err
		}
		var source string
		source, masked = sitetest.Script(request, command)
		p := put{kind: objectdb.KindScript.String(), parents: true}
		o, err := p.store(tx, a, source)
		return []doneObject{o}, err
	})
	if err != nil {
		return err
	}
	for _, item := range masked {
		t.warn("masked or cut: %s (the test does not have its value)", item)
	}
	return nil
}

// testAddress returns the address of the test that a NAME stands for.
func testAddress(name string) (objectdb.Address, error) {
	a, err := sitetest.Address(strings.TrimSuffix(name, "."))
	switch {
	case errors.Is(err, sitetest.ErrNotTest):
		return nil, usageError{hintError{err,
			"a test is a script called test…, in suites.tests or in a table _test beside what it tests"}}
	case err != nil:
		return nil, usageError{err}
	}
	return a, nil
}
