package site

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"scripter/objectdb"
)

// RequireRows is the table that says who may call an object by its URL. The name of
// a row is the address of a script, text, binary or action's script, or of a table:
// then the row applies to everything in the table. The row with the nearest address
// applies. See [parseRequirement] for the texts.
//
// A name that begins with "/" is the path of URLs: the row applies to all requests for this path and
// for those below it, which pages need, because they are files. The row with the longest path applies, and
// that of an object in addition.
//
// The rules of a web server apply to URLs, and a script has many URLs: in upper or lower
// case, with other folders before its name, with an extra path after it. A row applies
// to the object, whatever URL leads to it.
var RequireRows = home.Child("requires")

// A Requirement says who may call an object by its URL.
type Requirement struct {
	From objectdb.Address // its row; nil: there is none, and everybody may call it
	Text string
	Err  error // why the row is invalid: then nobody may call it

	kind  string   // requireAnyone, requireUser, requireRealm, requireRole
	names []string // of requireUser: the admitted names, none = all; of requireRealm: the realm; of requireRole: the roles
}

const (
	requireAnyone = "anyone"
	requireUser   = "user"
	requireRealm  = "realm"
	requireRole   = "role"
)

const sayRequirement = `say "user", "user NAME ...", "role ROLE ...", "realm NAME" or "anyone"`

// parseRequirement reads the text of a row, words separated by blanks:
//
//	anyone              everybody, as if there were no row
//	user                REMOTE_USER, whom the web server has checked, or a user of
//	                    the root, of the realm "default", who logs in
//	user ada grace      the same, with one of these names
//	role editor boss    the same, with one of these roles: see [Snapshot.HasRole]
//	realm Members       a user of the root, of this realm, who logs in
func parseRequirement(text string) (Requirement, error) {
	r := Requirement{Text: text}
	words := strings.Fields(text)
	if len(words) == 0 {
		return r, errors.New("it is empty: " + sayRequirement)
	}
	r.kind, r.names = strings.ToLower(words[0]), words[1:]
	switch {
	case r.kind == requireUser, r.kind == requireAnyone && len(r.names) == 0:
		return r, nil
	case r.kind == requireAnyone:
		return r, fmt.Errorf(`"anyone" takes no names, but %q follows it`, r.names[0])
	case r.kind == requireRole && len(r.names) == 0:
		return r, errors.New(`"role" needs the name of a role`)
	case r.kind == requireRole:
		return r, nil
	case r.kind == requireRealm:
		r.names = []string{strings.TrimSpace(strings.TrimSpace(text)[len(requireRealm):])}
		return r, objectdb.CheckName(r.names[0])
	}
	return r, fmt.Errorf("it begins with %.40q: %s", words[0], sayRequirement)
}

// Anyone reports whether everybody may call the object.
func (r Requirement) Anyone() bool { return r.Err == nil && r.kind == requireAnyone }

// TakesCheckedUser reports whether a name that the web server has checked is enough.
func (r Requirement) TakesCheckedUser() bool { return r.kind == requireUser || r.kind == requireRole }

// Realm returns the realm whose users may call the object after they have logged in.
func (r Requirement) Realm() string {
	if r.kind == requireRealm {
		return r.names[0]
	}
	return DefaultRealm
}

// Admits reports whether the user of the realm of the requirement with this checked name may call the object.
func (s *Snapshot) Admits(r Requirement, name string) bool {
	switch r.kind {
	case requireRealm:
		return true
	case requireRole:
		return slices.ContainsFunc(r.names, func(role string) bool { return s.HasRole(DefaultRealm, name, role) })
	}
	return len(r.names) == 0 || slices.Contains(r.names, name)
}

// rights are the rows of a table that says who may do what.
type rights[Row any] struct {
	rows map[string]Row // by the folded name
	err  error          // why the rows cannot be read; then nobody may do anything
}

// readRights reads the rows of a table below user.webserver.
func readRights[Row any](r *reader, table objectdb.Address, read func(*objectdb.Node) Row) rights[Row] {
	n := r.node(table.Name())
	if n == nil {
		return rights[Row]{}
	}
	if n.Kind() != objectdb.KindTable {
		return rights[Row]{err: notTable(table, n)}
	}
	rows := map[string]Row{}
	for _, n := range r.in(n) {
		rows[objectdb.Fold(n.Name())] = read(n)
	}
	return rights[Row]{rows: rows}
}

func (r *reader) requirement(n *objectdb.Node) Requirement {
	q, err := Requirement{}, error(nil)
	if k := n.Kind(); k == objectdb.KindString || k == objectdb.KindText {
		q, err = parseRequirement(r.text(n))
	} else {
		err = fmt.Errorf("it is a %s, not a text", n.Kind())
	}
	q.From, q.Err = RequireRows.Child(n.Name()), err
	return q
}

// Requirement returns the requirement of the object at a.
func (s *Snapshot) Requirement(a objectdb.Address) Requirement {
	if s.requires.err != nil {
		return Requirement{From: RequireRows, Err: s.requires.err}
	}
	if len(s.requires.rows) > 0 {
		for ; len(a) > 0; a = a[:len(a)-1] {
			if r, ok := s.requires.rows[objectdb.Fold(a.String())]; ok {
				return r
			}
		}
	}
	return anyone
}

// anyone is the requirement of an object without a row.
var anyone = Requirement{Text: requireAnyone, kind: requireAnyone}

// PathRequirement returns the requirement of the path of a URL.
func (s *Snapshot) PathRequirement(path string) Requirement {
	if s.requires.err != nil {
		return Requirement{From: RequireRows, Err: s.requires.err}
	}
	best, length := anyone, 0
	if !s.requirePaths {
		return best
	}
	path = objectdb.Fold(CleanPath(path))
	for row, r := range s.requires.rows {
		if row[0] == '/' && len(row) > length && hasPathPrefix(path, strings.TrimSuffix(row, "/")) {
			best, length = r, len(row)
		}
	}
	return best
}

// hasPathRows reports whether some of the rows are for paths of URLs.
func hasPathRows(rows rights[Requirement]) bool {
	for row := range rows.rows {
		if row[0] == '/' {
			return true
		}
	}
	return false
}

// RequirementsIn returns the rows for objects in the table at a, by their names.
func (s *Snapshot) RequirementsIn(a objectdb.Address) []objectdb.Address {
	var list []objectdb.Address
	for _, name := range slices.Sorted(maps.Keys(s.requires.rows)) {
		of, err := objectdb.ParseAddress(s.requires.rows[name].From.Name())
		if err == nil && len(of) > len(a) && isIn(of, a) && HasURLs(of) {
			list = append(list, of)
		}
	}
	return list
}

// HasURLs reports whether a URL can lead to the object at a or to an object in it.
func HasURLs(a objectdb.Address) bool {
	return isIn(a, Scripts) || isIn(Scripts, a) || isIn(a, ActionObjects) || isIn(ActionObjects, a)
}

// isIn reports whether a is the table or lies in it.
func isIn(a, table objectdb.Address) bool {
	return len(a) >= len(table) && slices.EqualFunc(a[:len(table)], table,
		func(x, y string) bool { return objectdb.Fold(x) == objectdb.Fold(y) })
}

func noURLs(a objectdb.Address) error {
	return fmt.Errorf("no URL leads to %s: URLs lead to objects in %s and to the actions in %s",
		a, Scripts, ActionObjects)
}
