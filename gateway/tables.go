package gateway

import (
	"errors"
	"fmt"
	"mime"
	"slices"
	"strings"

	"scripter/objectdb"
)

// Addresses of the tables of the specification's section 2.1, and of Action
// Override and DirectoryIndex (2.1, 4.4.3, 4.4.4).
var (
	actionTable = objectdb.Address{"user", "webserver", "actionTable"}
	mimeTable   = objectdb.Address{"user", "webserver", "mimeTable"}

	// Overrides and DirectoryIndex are tables host -> path prefix -> value.
	Overrides      = objectdb.Address{"user", "webserver", "overrides"}
	DirectoryIndex = objectdb.Address{"user", "webserver", "directoryIndex"}
)

// ActionEntry is one row of the action handler table. An action may also be
// known only by its script at user.webserver.actions.
type ActionEntry struct {
	Name    string
	Handler string // URL path; "" without a row
	Script  string // address of its object; "" = the path names an object
}

// Actions lists the known actions.
func Actions(tx *objectdb.Tx) ([]ActionEntry, error) {
	var list []ActionEntry
	s := readSettings(tx)
	for _, table := range []string{"actionTable", "actions"} {
		n := s.table(table)
		if n == nil {
			continue
		}
		children, err := tx.Children(n)
		if err != nil {
			return nil, err
		}
		for _, c := range children {
			i := slices.IndexFunc(list, func(e ActionEntry) bool { return objectdb.Fold(e.Name) == objectdb.Fold(c.Name()) })
			if i < 0 {
				i, list = len(list), append(list, ActionEntry{Name: c.Name()})
			}
			if table == "actionTable" {
				list[i].Handler = s.text(c)
			} else {
				list[i].Script = tx.Address(c).String()
			}
		}
	}
	slices.SortFunc(list, func(a, b ActionEntry) int { return strings.Compare(objectdb.Fold(a.Name), objectdb.Fold(b.Name)) })
	return list, nil
}

// SetAction checks a row of the action handler table and puts it into the root.
func SetAction(tx *objectdb.Tx, name, handler string) (warnings []string, err error) {
	if err := checkActionName(name); err != nil {
		return nil, err
	}
	switch {
	case !strings.HasPrefix(handler, "/"):
		return nil, fmt.Errorf("the handler %q is no URL path: it begins with /", handler)
	case strings.HasSuffix(handler, "/"):
		return nil, fmt.Errorf("the handler %q is a folder; it is a program's path, such as /cgi-bin/Scripter.acgi", handler)
	case strings.ContainsAny(handler, " ?#"):
		return nil, fmt.Errorf("the handler %q has a blank, ? or #, which its URL path cannot have", handler)
	}
	if err := CheckPath(handler); err != nil {
		return nil, err
	}
	if base := handler[strings.LastIndexByte(handler, '/')+1:]; !isHandlerName(base) {
		warnings = append(warnings, fmt.Sprintf("%s is known as our handler only when the program itself has this name, or handler names it in scripter.conf", base))
	}
	return warnings, tx.Put(actionTable.Child(name), objectdb.String(handler))
}

func checkActionName(name string) error {
	for i := 0; i < len(name); i++ {
		if !isAlnum(name[i]) && name[i] != '_' && name[i] != '-' {
			return fmt.Errorf("the action %q has other characters than letters, digits, _ and -", name)
		}
	}
	if name == "" || len(name) > 64 {
		return errors.New("an action's name has 1 to 64 characters")
	}
	return nil
}

// RemoveAction removes a row of the action handler table, and tells what
// still names the action.
func RemoveAction(tx *objectdb.Tx, name string) (warnings []string, err error) {
	if err := removeRow(tx, actionTable.Child(name)); err != nil {
		return nil, err
	}
	if _, _, still := (actionTables{readSettings(tx)}).handler(name); still {
		return []string{"user.webserver.actions." + name + " still answers for it"}, nil
	}
	types, err := MimeTypes(tx)
	if err != nil {
		return nil, err
	}
	for _, e := range types {
		if strings.EqualFold(e.Action, name) {
			warnings = append(warnings, "the extension "+e.Extension+" is still bound to it")
		}
	}
	rows, err := PathRows(tx, Overrides)
	for _, r := range rows {
		if strings.EqualFold(r.Value, name) {
			warnings = append(warnings, fmt.Sprintf("the override of %s %s still names it", r.Host, r.Prefix))
		}
	}
	return warnings, err
}

func removeRow(tx *objectdb.Tx, a objectdb.Address) error {
	err := tx.Delete(a)
	if errors.Is(err, objectdb.ErrNotFound) {
		return fmt.Errorf("there is no %s: %w", a, objectdb.ErrNotFound)
	}
	return err
}

// knownAction gives an action's name as its table spells it, or fails with
// the known ones.
func knownAction(tx *objectdb.Tx, name string) (string, error) {
	if own, _, ok := (actionTables{readSettings(tx)}).handler(name); ok {
		return own, nil
	}
	list, err := Actions(tx)
	if err != nil {
		return "", err
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name)
	}
	return "", fmt.Errorf("%q is no action; the known ones are %s", name, strings.Join(names, ", "))
}

// MimeTypes lists the mime extension table.
func MimeTypes(tx *objectdb.Tx) ([]MimeEntry, error) {
	t := actionTables{readSettings(tx)}
	n := t.settings.table("mimeTable")
	if n == nil {
		return nil, nil
	}
	children, err := tx.Children(n)
	if err != nil {
		return nil, err
	}
	var list []MimeEntry
	for _, c := range children {
		if e, ok := t.mime(c.Name()); ok {
			list = append(list, e)
		}
	}
	return list, nil
}

// SetMimeType checks a row of the mime extension table and puts it into the
// root. A nil action leaves that of the row as it is, "" takes it away.
func SetMimeType(tx *objectdb.Tx, ext, typ string, action *string) error {
	if len(ext) < 2 || ext[0] != '.' || strings.ContainsAny(ext[1:], "./\\ $?#\x00\r\n") {
		return fmt.Errorf("%q is no extension such as .mcro", ext)
	}
	if media, _, err := mime.ParseMediaType(typ); err != nil || !strings.Contains(media, "/") || strings.ContainsAny(typ, "\r\n") {
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
	name, err := knownAction(tx, *action)
	if err != nil {
		return err
	}
	return tx.Put(row.Child("action"), objectdb.String(name))
}

// RemoveMimeType removes a row of the mime extension table.
func RemoveMimeType(tx *objectdb.Tx, ext string) error { return removeRow(tx, mimeTable.Child(ext)) }

// PathRow is one row of Overrides or DirectoryIndex.
type PathRow struct {
	Host   string // lower case, without port; "*" = all
	Prefix string // of the URL path
	Value  string // an action, or file names with blanks between them
}

// PathRows lists Overrides or DirectoryIndex.
func PathRows(tx *objectdb.Tx, table objectdb.Address) ([]PathRow, error) {
	n, err := tx.Find(table)
	if errors.Is(err, objectdb.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	hosts, err := tx.Children(n)
	if err != nil {
		return nil, err
	}
	var list []PathRow
	s := readSettings(tx)
	for _, h := range hosts {
		if h.Kind() != objectdb.KindTable {
			continue
		}
		rows, err := tx.Children(h)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			list = append(list, PathRow{h.Name(), r.Name(), s.text(r)})
		}
	}
	return list, nil
}

// SetPathRow checks a row of Overrides or DirectoryIndex and puts it into
// the root. It gives the row as it was put.
func SetPathRow(tx *objectdb.Tx, table objectdb.Address, r PathRow) (PathRow, error) {
	r.Host = strings.ToLower(r.Host)
	if r.Host != "*" && (r.Host == "" || !IsHost(r.Host) || strings.Contains(r.Host, ":") && !strings.HasSuffix(r.Host, "]")) {
		return r, fmt.Errorf("%q is no host: it is a name without port, or * for every host", r.Host)
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
	var err error
	if table.Equal(Overrides) {
		r.Value, err = knownAction(tx, r.Value)
	} else {
		r.Value, err = checkIndex(r.Value)
	}
	if err != nil {
		return r, err
	}
	return r, tx.Put(table.Child(r.Host).Child(r.Prefix), objectdb.String(r.Value))
}

// checkIndex checks the names of a DirectoryIndex: files of the folder itself.
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

// RemovePathRow removes a row of Overrides or DirectoryIndex, and the host
// with its last row.
func RemovePathRow(tx *objectdb.Tx, table objectdb.Address, host, prefix string) error {
	h := table.Child(strings.ToLower(host))
	if err := removeRow(tx, h.Child(prefix)); err != nil {
		return err
	}
	rows, err := tx.List(h)
	if err == nil && len(rows) == 0 {
		err = tx.Delete(h)
	}
	return err
}
