package site

import (
	"fmt"
	"path"
	"strings"

	"scripter/objectdb"
)

// Cells returns the row of a route: host, name, methods and pattern, what answers.
func (r *Route) Cells() []string {
	if r.Err != nil {
		return []string{r.Host, r.Name, r.Text, ""}
	}
	return []string{r.Host, r.Name, r.Methodic(), r.Target()}
}

// SetRoute checks a route and stores it. It returns the route as stored. What answers need not exist
// yet: then there is a warning.
func SetRoute(tx *objectdb.Tx, host, name, text string) (stored *Route, warnings []string, err error) {
	if host, err = checkRowHost(host); err != nil {
		return nil, nil, err
	}
	if err := checkRouteName(name); err != nil {
		return nil, nil, err
	}
	r, err := ParseRoute(strings.Join(strings.Fields(text), " "))
	if err != nil {
		return nil, nil, err
	}
	row := RouteRows.Child(host).Child(name)
	if err := tx.Put(row, objectdb.String(r.Methodic()+" "+r.Target())); err != nil {
		return nil, nil, err
	}
	s, err := Read(tx)
	if err != nil {
		return nil, nil, err
	}
	stored = s.routes.names[routeKey{objectdb.Fold(host), objectdb.Fold(name)}]
	if stored == nil {
		return nil, nil, fmt.Errorf("%s was not stored", row)
	}
	if other := s.routes.twin(stored); other != nil {
		return nil, nil, fmt.Errorf("the route %s has the same pattern and method: %s", other.Name, other.Methodic())
	}
	if err := s.idle(stored); err != nil {
		return nil, nil, err
	}
	warnings, err = s.targetNotes(tx, stored)
	return stored, warnings, err
}

// twin returns another route that has the same pattern and method, or nil.
func (r *Routes) twin(route *Route) *Route {
	if route.Before != nil {
		return route.Before
	}
	for _, other := range r.rows {
		if other.Before == route {
			return other
		}
	}
	return nil
}

// RemoveRoute removes a route, and a host without routes.
func RemoveRoute(tx *objectdb.Tx, host, name string) error {
	return removeFrom(tx, RouteRows.Child(strings.ToLower(host)), name)
}

// RouteNotes says what is wrong with a route.
func (s *Snapshot) RouteNotes(tx *objectdb.Tx, r *Route) ([]string, error) {
	switch {
	case r.Err != nil:
		return []string{r.Err.Error()}, nil
	case r.Before != nil:
		return []string{fmt.Sprintf("the route %s has the same pattern and method, and answers in its place: %s",
			r.Before.Name, r.Before.Methodic())}, nil
	}
	notes, err := s.targetNotes(tx, r)
	if why := s.idle(r); why != nil {
		notes = append([]string{why.Error()}, notes...)
	}
	return notes, err
}

// idle returns why a route has no effect, whatever its parameters are.
func (s *Snapshot) idle(r *Route) error {
	host := r.Host
	if host == anyHost {
		host = ""
	}
	if why := s.goesBefore(host, r.Pattern.Example()); why != "" {
		return fmt.Errorf("it never answers: %s", why)
	}
	if r.Page == "" {
		return nil
	}
	if !s.IsPage(r.Page) {
		return fmt.Errorf("%s is no page: its extension does not belong to the action MACRO", r.Page)
	}
	return nil
}

// targetNotes says what is wrong with the object that answers for a route.
func (s *Snapshot) targetNotes(tx *objectdb.Tx, r *Route) ([]string, error) {
	if r.Object == nil {
		return nil, nil
	}
	n, err := tx.Find(r.Object)
	switch {
	case objectdb.IsMissing(err):
		return []string{fmt.Sprintf("there is no %s", r.Object)}, nil
	case err != nil:
		return nil, err
	case !IsServable(n.Kind()):
		return []string{fmt.Sprintf("%s is a %s, which cannot be served", r.Object, n.Kind())}, nil
	}
	return nil, nil
}

// IsPage reports whether a path has an extension that belongs to the action MACRO.
func (s *Snapshot) IsPage(p string) bool {
	t, _ := s.MimeType(path.Ext(p))
	return strings.EqualFold(t.Action, "MACRO")
}

// IsServable reports whether objects of a kind can answer a request.
func IsServable(k objectdb.Kind) bool {
	switch k {
	case objectdb.KindScript, objectdb.KindString, objectdb.KindText, objectdb.KindOutline, objectdb.KindBinary:
		return true
	}
	return false
}
