package site

import (
	"errors"
	"fmt"
	"maps"
	"mime"
	"path"
	"slices"
	"strings"

	"scripter/objectdb"
)

// An Action is an action as the tables define it (specification, 2.1). It has a row in
// the action handler table, an object that answers for it, or both.
type Action struct {
	Name    string           // as spelled in the action handler table, or else as the name of the object
	Handler string           // URL path of its handler; "" if it has no row
	Object  objectdb.Address // the object that answers; nil = the path names one
}

// A MimeType is a row of the mime extension table.
type MimeType struct {
	Extension, Type, Action string
}

// A PathRow is a row of Overrides or DirectoryIndex.
type PathRow struct {
	Host   string // lower case, without port; "*" = all
	Prefix string // of the URL path
	Value  string // an action, or file names with blanks between them
}

// A pathTable maps a folded host to its rows in Overrides or DirectoryIndex.
type pathTable map[string][]PathRow

// Action returns the action with a name. It ignores case.
func (s *Snapshot) Action(name string) (Action, bool) {
	a, ok := s.actions[objectdb.Fold(name)]
	return a, ok
}

// Actions lists the actions by name.
func (s *Snapshot) Actions() []Action { return sorted(s.actions) }

// MimeType returns the row of an extension such as ".fcgi". It ignores case.
func (s *Snapshot) MimeType(extension string) (MimeType, bool) {
	t, ok := s.mime[objectdb.Fold(extension)]
	return t, ok
}

// MimeTypes lists the mime extension table by extension.
func (s *Snapshot) MimeTypes() []MimeType { return sorted(s.mime) }

func sorted[T any](rows map[string]T) []T {
	list := make([]T, 0, len(rows))
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		list = append(list, rows[name])
	}
	return list
}

// Override returns the action that Action Override forces for a path, or "".
func (s *Snapshot) Override(host, path string) string { return s.overrides.find(host, path) }

// DirectoryIndex returns the file names for the URL of a folder, or "".
func (s *Snapshot) DirectoryIndex(host, path string) string { return s.indexes.find(host, path) }

// PathRows lists Overrides or DirectoryIndex.
func (s *Snapshot) PathRows(table objectdb.Address) []PathRow {
	if table.Equal(Overrides) {
		return s.overrides.rows()
	}
	return s.indexes.rows()
}

// rows lists the rows by host and prefix.
func (t pathTable) rows() []PathRow { return slices.Concat(sorted(t)...) }

// find returns the value of the row with the longest prefix of a path. The rows of the
// host take precedence over those of "*".
func (t pathTable) find(host, path string) string {
	if len(t) == 0 {
		return ""
	}
	for _, h := range [...]string{host, "*"} {
		longest, value := -1, ""
		for _, row := range t[objectdb.Fold(h)] {
			if len(row.Prefix) > longest && hasPathPrefix(path, row.Prefix) {
				longest, value = len(row.Prefix), row.Value
			}
		}
		if longest >= 0 {
			return value
		}
	}
	return ""
}

func (r *reader) mimeTypes() map[string]MimeType {
	rows := map[string]MimeType{}
	for _, n := range r.children("mimeTable") {
		if n.Kind() == objectdb.KindTable {
			rows[objectdb.Fold(n.Name())] = MimeType{n.Name(), r.text(r.child(n, "type")), r.text(r.child(n, "action"))}
		}
	}
	return rows
}

func (r *reader) actions() map[string]Action {
	rows := map[string]Action{}
	for _, n := range r.children("actions") {
		rows[objectdb.Fold(n.Name())] = Action{Name: n.Name(), Object: ActionObjects.Child(n.Name())}
	}
	for _, n := range r.children("actionTable") {
		name := objectdb.Fold(n.Name())
		rows[name] = Action{n.Name(), r.text(n), rows[name].Object}
	}
	return rows
}

func (r *reader) pathTable(table objectdb.Address) pathTable {
	rows := pathTable{}
	for _, host := range r.children(table.Name()) {
		for _, n := range r.in(host) {
			if n.Kind() != objectdb.KindTable {
				h := objectdb.Fold(host.Name())
				rows[h] = append(rows[h], PathRow{host.Name(), n.Name(), r.text(n)})
			}
		}
	}
	return rows
}

// SetAction checks a row of the action handler table and stores it.
func SetAction(tx *objectdb.Tx, name, handler string) (warnings []string, err error) {
	if err := checkActionName(name); err != nil {
		return nil, err
	}
	switch {
	case !strings.HasPrefix(handler, "/"):
		return nil, fmt.Errorf("the handler %q is not a URL path: a URL path begins with /", handler)
	case strings.HasSuffix(handler, "/"):
		return nil, fmt.Errorf("the handler %q is a folder, not a program such as /cgi-bin/Scripter.acgi", handler)
	case strings.ContainsAny(handler, " ?#"):
		return nil, fmt.Errorf("the handler %q has a blank, ? or #, which its URL path cannot have", handler)
	}
	if err := CheckPath(handler); err != nil {
		return nil, err
	}
	return handlerNotes(handler), tx.Put(actionTable.Child(name), objectdb.String(handler))
}

// handlerNotes says what may be wrong with the handler of an action.
func handlerNotes(handler string) []string {
	if base := path.Base(handler); handler != "" && !IsHandler(base) {
		return []string{fmt.Sprintf("%s is recognized as our handler only if the program itself "+
			"has this name, or handler names it in scripter.conf", base)}
	}
	return nil
}

// actionNotes says what is wrong with the name of an action in another table.
func (s *Snapshot) actionNotes(name string) []string {
	if _, ok := s.Action(name); name != "" && !ok {
		return []string{fmt.Sprintf("%q is no action", name)}
	}
	return nil
}

// handlerNames are the file names of our handler, wherever it lies (specification, 2.1).
var handlerNames = []string{"Scripter.acgi", "nph-Scripter.acgi"}

// IsHandler reports whether a file name is that of our handler.
func IsHandler(name string) bool {
	return slices.ContainsFunc(handlerNames, func(n string) bool { return strings.EqualFold(n, name) })
}

func checkActionName(name string) error {
	for i := 0; i < len(name); i++ {
		if !isAlphanumeric(name[i]) && name[i] != '_' && name[i] != '-' {
			return fmt.Errorf("the action %q has characters other than letters, digits, _ and -", name)
		}
	}
	if name == "" || len(name) > 64 {
		return errors.New("an action's name has 1 to 64 characters")
	}
	return nil
}

// RemoveAction removes a row of the action handler table. The warnings say what still
// names the action.
func RemoveAction(tx *objectdb.Tx, name string) (warnings []string, err error) {
	if err := removeRow(tx, actionTable.Child(name)); err != nil {
		return nil, err
	}
	s, err := Read(tx)
	if err != nil {
		return nil, err
	}
	if _, ok := s.Action(name); ok {
		return []string{"user.webserver.actions." + name + " still answers for it"}, nil
	}
	for _, t := range s.MimeTypes() {
		if strings.EqualFold(t.Action, name) {
			warnings = append(warnings, "the extension "+t.Extension+" is still bound to it")
		}
	}
	for _, r := range s.overrides.rows() {
		if strings.EqualFold(r.Value, name) {
			warnings = append(warnings, fmt.Sprintf("the override of %s %s still names it", r.Host, r.Prefix))
		}
	}
	return warnings, nil
}

func removeRow(tx *objectdb.Tx, a objectdb.Address) error {
	err := tx.Delete(a)
	if errors.Is(err, objectdb.ErrNotFound) {
		return fmt.Errorf("there is no %s: %w", a, objectdb.ErrNotFound)
	}
	return err
}

// removeFrom removes a row of a table, and the table if no row remains.
func removeFrom(tx *objectdb.Tx, table objectdb.Address, name string) error {
	if err := removeRow(tx, table.Child(name)); err != nil {
		return err
	}
	rows, err := tx.List(table)
	if err == nil && len(rows) == 0 {
		err = tx.Delete(table)
	}
	return err
}

// rowName returns the name of the row for the object at a.
func rowName(a objectdb.Address) (string, error) {
	name := a.String()
	if err := objectdb.CheckName(name); err != nil {
		return "", fmt.Errorf("the address %.60s… cannot be the name of a row: %w", name, err)
	}
	return name, nil
}

// spelledAction returns an action's name as its table spells it.
func spelledAction(tx *objectdb.Tx, name string) (string, error) {
	s, err := Read(tx)
	if err != nil {
		return "", err
	}
	if a, ok := s.Action(name); ok {
		return a.Name, nil
	}
	var names []string
	for _, a := range s.Actions() {
		names = append(names, a.Name)
	}
	return "", fmt.Errorf("%q is no action; the known ones are %s", name, strings.Join(names, ", "))
}

// SetMimeType checks a row of the mime extension table and stores it. If action is nil,
// the row keeps its action; "" removes it.
func SetMimeType(tx *objectdb.Tx, ext, typ string, action *string) error {
	if len(ext) < 2 || ext[0] != '.' || strings.ContainsAny(ext[1:], "./\\ $?#\x00\r\n") {
		return fmt.Errorf("%q is no extension such as .mcro", ext)
	}
	media, _, err := mime.ParseMediaType(typ)
	if err != nil || !strings.Contains(media, "/") || strings.ContainsAny(typ, "\r\n") {
		return fmt.Errorf("%q is no MIME type such as text/html", typ)
	}
	row := mimeTable.Child(ext)
	if err := tx.Put(row.Child("type"), objectdb.String(typ)); err != nil {
		return err
	}
	switch {
	case action == nil:
		return nil
	case *action == "":
		err := tx.Delete(row.Child("action"))
		if errors.Is(err, objectdb.ErrNotFound) {
			return nil
		}
		return err
	}
	name, err := spelledAction(tx, *action)
	if err != nil {
		return err
	}
	return tx.Put(row.Child("action"), objectdb.String(name))
}

// RemoveMimeType removes a row of the mime extension table.
func RemoveMimeType(tx *objectdb.Tx, ext string) error { return removeRow(tx, mimeTable.Child(ext)) }

// SetPathRow checks a row of Overrides or DirectoryIndex and stores it. It returns the
// row as stored.
func SetPathRow(tx *objectdb.Tx, table objectdb.Address, r PathRow) (PathRow, error) {
	var err error
	if r.Host, err = checkRowHost(r.Host); err != nil {
		return r, err
	}
	if !strings.HasPrefix(r.Prefix, "/") {
		return r, fmt.Errorf("the path prefix %q does not begin with /", r.Prefix)
	}
	if err := CheckPath(r.Prefix); err != nil {
		return r, err
	}
	if err := objectdb.CheckName(r.Prefix); err != nil {
		return r, fmt.Errorf("the path prefix %.60q: %w", r.Prefix, err)
	}
	if table.Equal(Overrides) {
		r.Value, err = spelledAction(tx, r.Value)
	} else {
		r.Value, err = checkIndex(r.Value)
	}
	if err != nil {
		return r, err
	}
	return r, tx.Put(table.Child(r.Host).Child(r.Prefix), objectdb.String(r.Value))
}

// checkRowHost returns the host of a row in lower case.
func checkRowHost(host string) (string, error) {
	hasPort := strings.Contains(host, ":") && !strings.HasSuffix(host, "]")
	if host != anyHost && (host == "" || !IsHost(host) || hasPort) {
		return "", fmt.Errorf("%q is not a host: write a name without a port, or * for every host", host)
	}
	return strings.ToLower(host), nil
}

// checkIndex checks the file names of a DirectoryIndex. They may not contain a folder.
func checkIndex(value string) (string, error) {
	names := strings.Fields(value)
	if len(names) == 0 {
		return "", errors.New("a directory index has at least one file name")
	}
	for _, n := range names {
		if strings.ContainsAny(n, "/\\\x00") || n == "." || n == ".." {
			return "", fmt.Errorf("%q is no file name: a directory index names files of the folder itself", n)
		}
	}
	return strings.Join(names, " "), nil
}

// RemovePathRow removes a row of Overrides or DirectoryIndex, and a host without rows.
func RemovePathRow(tx *objectdb.Tx, table objectdb.Address, host, prefix string) error {
	return removeFrom(tx, table.Child(strings.ToLower(host)), prefix)
}
