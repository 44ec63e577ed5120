package site

import (
	"slices"
	"strings"

	"scripter/objectdb"
)

// Tests is the table of the tests of scripts. Tests also lie in tables called testTable beside
// what they test.
var Tests = objectdb.Address{"suites", "tests"}

const (
	testTable  = "_test"
	testPrefix = "test"
	setupName  = "setup"
)

// IsInTests reports whether an object lies among tests. The scripts there see the verbs of tests.
func IsInTests(a objectdb.Address) bool {
	if len(a) == 0 {
		return false
	}
	above := a[:len(a)-1]
	return isIn(above, Tests) || slices.ContainsFunc(above, isTestTable)
}

func isTestTable(name string) bool { return strings.EqualFold(name, testTable) }

// IsTest reports whether the script at a is a test.
func IsTest(a objectdb.Address) bool {
	return IsInTests(a) && strings.HasPrefix(objectdb.Fold(a.Name()), testPrefix)
}

// TestSetup returns the address of the script that runs before each test of the table of the
// test at a.
func TestSetup(a objectdb.Address) objectdb.Address { return a.Parent().Child(setupName) }
