package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"scripter/objectdb"
	"scripter/objectfiles"
	"scripter/root"
	"scripter/runner"
)

// newScripts gathers the scripts that an import adds or changes, to find those that do
// not compile.
type newScripts []objectdb.Address

func (n *newScripts) note(c objectfiles.Change) {
	if c.Kind == objectdb.KindScript && (c.State == objectfiles.Added || c.State == objectfiles.Changed) {
		*n = append(*n, slices.Clone(c.Address))
	}
}

// broken returns the errors of the scripts that do not compile, in the order of the
// import, without the supplied sample that shows such an error.
func (n newScripts) broken(tx *objectdb.Tx) (errs []error, err error) {
	for _, a := range n {
		v, err := tx.Get(a)
		if err != nil {
			return nil, err
		}
		source, ok := v.(objectdb.Script)
		if !ok {
			continue
		}
		if err := runner.Compiles(tx, a, source); err != nil && !supplied(source) {
			errs = append(errs, err)
		}
	}
	return errs, nil
}

// supplied reports whether a new root has this script, at any address.
func supplied(s objectdb.Script) bool {
	found := false
	_ = fs.WalkDir(root.FS, ".", func(name string, _ fs.DirEntry, err error) error { // it is in memory
		if err == nil && path.Ext(name) == ".lua" {
			content, err := root.FS.ReadFile(name)
			found = found || err == nil && string(content) == string(s)
		}
		return nil
	})
	return found
}

// brokenError lists the scripts that do not compile.
func brokenError(errs []error) error {
	var b strings.Builder
	if len(errs) == 1 {
		b.WriteString("a script does not compile, and nothing is imported:")
	} else {
		fmt.Fprintf(&b, "%d scripts do not compile, and nothing is imported:", len(errs))
	}
	for _, err := range errs {
		b.WriteString("\n" + syntaxDetail(err).Error())
	}
	return hintError{errors.New(b.String()), "--force imports them all the same"}
}
