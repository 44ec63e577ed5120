package main

import (
	"slices"

	"scripter/objectdb"
)

// newScripts gathers the scripts that an import adds or changes, to tell which of
// them do not compile: they are taken as they are, but their owner should know.
type newScripts []objectdb.Address

func (n *newScripts) note(c objectdb.Change) {
	if c.Kind == objectdb.KindScript && (c.State == objectdb.Added || c.State == objectdb.Changed) {
		*n = append(*n, slices.Clone(c.Address))
	}
}

// broken gives the errors of those that do not compile, in the order of the import.
func (n newScripts) broken(tx *objectdb.Tx) (errs []string, err error) {
	for _, a := range n {
		v, err := tx.Get(a)
		if err != nil {
			return nil, err
		}
		if source, ok := v.(objectdb.Script); ok {
			if err := compiles(tx, a, source); err != nil {
				errs = append(errs, err.Error())
			}
		}
	}
	return errs, nil
}
