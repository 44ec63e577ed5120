package sitetest

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"scripter/objectdb"
	"scripter/site"
)

// ErrNotTest is the error for an address at which a script is no test.
var ErrNotTest = errors.New("would not be a test")

// Address returns the address of the test that a person calls name: an address, or the name of a
// script in suites.tests, with or without "test" at its beginning.
func Address(name string) (objectdb.Address, error) {
	a, err := objectdb.ParseAddress(name)
	if err != nil {
		return nil, err
	}
	if len(a) == 1 {
		if !strings.HasPrefix(objectdb.Fold(name), "test") {
			first, size := utf8.DecodeRuneInString(name)
			name = "test" + string(unicode.ToUpper(first)) + name[size:]
		}
		a = site.Tests.Child(name)
	}
	if !site.IsTest(a) {
		return nil, fmt.Errorf("%s %w", a, ErrNotTest)
	}
	return a, nil
}
