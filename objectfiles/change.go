package objectfiles

import "scripter/objectdb"

// ImportResult counts the objects of an import, tables included.
type ImportResult struct {
	Added   int // did not exist
	Changed int // had another value or another spelling
	Same    int // existed, and were not written
	Removed int // were removed, because the manifest of the archive lists them
	// Skipped are the paths of files and folders that are not objects, such as backups of
	// editors and .git, with "/" between the parts.
	Skipped []string
}

// Change is what an import does to one object.
type Change struct {
	Address objectdb.Address // as it is spelled before the import
	State   ChangeState
	Kind    objectdb.Kind  // after the import; before it, if the object is removed
	Old     objectdb.Value // before the import; nil for a table and for a new object
}

// ChangeState is what an import does to an object, as ImportResult counts it.
type ChangeState int

// What an import may do to an object.
const (
	Added ChangeState = iota + 1
	Changed
	Same
	Removed
)

func (s ChangeState) String() string {
	return [...]string{"", "added", "changed", "same", "removed"}[s]
}

// count adds one object.
func (r *ImportResult) count(s ChangeState) {
	switch s {
	case Added:
		r.Added++
	case Changed:
		r.Changed++
	case Same:
		r.Same++
	case Removed:
		r.Removed++
	}
}
