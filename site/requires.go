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
// The rules of a web server apply to URLs, and a script has many URLs: in upper or lower
// case, with other folders before its name, with an extra path after it. A row applies
// to the object, whatever URL leads to it.
var RequireRows = home.Child("requires")

// A Requirement says who may call an object by its URL.
type Requirement struct {
	From objectdb.Address // its row; nil: there is none, and everybody may call it
	Text string
	Err  error // why the row is invalid: then nobody may call it

	kind  string   // requireAnyone, requireUser, requireRealm
	names []string // of requireUser: the admitted names, none = all; of requireRealm: the realm
}

const (
	requireAnyone = "anyone"
	requireUser   = "user"
	requireRealm  = "realm"
)

// parseRequirement reads the text of a row, words separated by blanks:
//
//	anyone              everybody, as if there were no row
//	user                REMOTE_USER, whom the web server has checked, or a user of
//	                    the root, of the realm "default", who logs in
//	user ada grace      the same, with one of these names
//	realm Members       a user of the root, of this realm, who logs in
func parseRequirement(text string) (Requirement, error) {
	r := Requirement{Text: text}
	words := strings.Fields(text)
	if len(words) == 0 {
		return r, errors.New(`it is empty: say "user", "user NAME ...", "realm NAME" or "anyone"`)
	}
	r.kind, r.names = strings.ToLower(words[0]), words[1:]
	switch {
	case r.kind == requireUser, r.kind == requireAnyone && len(r.names) == 0:
		return r, nil
	case r.kind == requireAnyone:
		return r, fmt.Errorf(`"anyone" takes no names, but %q follows it`, r.names[0])
	case r.kind == requireRealm:
		r.names = []string{strings.TrimSpace(strings.TrimSpace(text)[len(requireRealm):])}
		return r, objectdb.CheckName(r.names[0])
	}
	return r, fmt.Errorf(`it begins with %.40q: say "user", "user NAME ...", "realm NAME" or "anyone"`, words[0])
}

// Anyone reports whether everybody may call the object.
func (r Requirement) Anyone() bool { return r.Err == nil && r.kind == requireAnyone }

// TakesCheckedUser reports whether a name that the web server has checked is enough.
func (r Requirement) TakesCheckedUser() bool { return r.kind == requireUser }

// Realm returns the realm whose users may call the object after they have logged in.
func (r Requirement) Realm() string {
	if r.kind == requireRealm {
		return r.names[0]
	}
	return DefaultRealm
}

// Admits reports whether the user with this checked name may call the object.
func (r Requirement) Admits(name string) bool {
	return r.kind == requireRealm || len(r.names) == 0 || slices.Contains(r.names, name)
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
	return Requirement{Text: requireAnyone, kind: requireAnyone}
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
