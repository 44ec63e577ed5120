package site

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"scripter/objectdb"
)

// A Snapshot holds what the owner of a root has set, read and checked: the settings and
// the tables below user.webserver. It is immutable.
//
// It does not hold the users: there may be very many, and a request needs only one.
type Snapshot struct {
	values       map[*Setting]objectdb.Value
	mime         map[string]MimeType // by the folded extension
	actions      map[string]Action   // by the folded name
	overrides    pathTable
	indexes      pathTable
	routes       Routes
	cors         []CORS
	limits       map[string]limitCells // by the folded name of the row
	requires     rights[Requirement]
	requirePaths bool // some rows of requires are for paths
	roles        rights[Role]
	siteRoles    rights[[]string]
	callbacks    bool
	pageFolders  []string
	trap         objectdb.Address // nil: there is none
}

// A Cache holds the snapshot of a root. It reads the snapshot again after any process
// has written something that the snapshot depends on.
type Cache struct {
	snapshots *objectdb.Derived[*Snapshot]
}

// NewCache returns a cache for the transactions of one database.
func NewCache() *Cache { return &Cache{objectdb.NewDerived(Read)} }

// Snapshot returns the snapshot that the transaction sees, including its own writes.
func (c *Cache) Snapshot(tx *objectdb.Tx) (*Snapshot, error) { return c.snapshots.Get(tx) }

// View returns a view of the site for the transaction.
func (c *Cache) View(tx *objectdb.Tx) (*View, error) {
	s, err := c.Snapshot(tx)
	return &View{cache: c, tx: tx, writes: tx.Writes(), now: s}, err
}

// A View is the site as one transaction sees it. The transaction may write to the site.
type View struct {
	cache  *Cache
	tx     *objectdb.Tx
	writes int64 // tx.Writes when now was read
	now    *Snapshot
	err    error
}

// Now returns the snapshot as the transaction sees it now. If it cannot be read, Now
// returns the previous one, and Err returns the error: do not commit the transaction.
func (v *View) Now() *Snapshot {
	if w := v.tx.Writes(); w != v.writes {
		v.writes = w
		if s, err := v.cache.Snapshot(v.tx); err == nil {
			v.now = s
		} else if v.err == nil {
			v.err = err
		}
	}
	return v.now
}

// Err returns the first error of Now.
func (v *View) Err() error { return v.err }

// Read reads a snapshot. It uses the default for a value that is missing or invalid: a
// mistake of the owner must not take the site down. It returns an error of the database
// and does not treat it as a missing object.
func Read(tx *objectdb.Tx) (*Snapshot, error) {
	r := &reader{tx: tx}
	s := &Snapshot{
		values: make(map[*Setting]objectdb.Value, len(Settings)),
		mime:   r.mimeTypes(), actions: r.actions(),
		overrides: r.pathTable(Overrides), indexes: r.pathTable(DirectoryIndex), routes: r.routes(),
		cors: r.corsRows(), limits: r.limitRows(), requires: readRights(r, RequireRows, r.requirement),
		roles:     readRights(r, Roles, r.role),
		siteRoles: readRights(r, SiteRoles, r.siteRoles),
		callbacks: r.hasCallbacks(), pageFolders: r.pageFolders(),
	}
	s.requirePaths = hasPathRows(s.requires)
	for _, set := range Settings {
		v, err := r.setting(set)
		if err != nil {
			v = set.instead(err)
		}
		s.values[set] = v
	}
	s.trap = r.trap(s.trapTable())
	if r.err != nil {
		return nil, fmt.Errorf("read user.webserver: %w", r.err)
	}
	return s, nil
}

// Value returns the value of a setting.
func (s *Snapshot) Value(set *Setting) objectdb.Value { return s.values[set] }

// Flag returns the value of a boolean setting.
func (s *Snapshot) Flag(set *Setting) bool { return bool(s.values[set].(objectdb.Boolean)) }

// Number returns the value of a number setting.
func (s *Snapshot) Number(set *Setting) float64 { return float64(s.values[set].(objectdb.Number)) }

// String returns the value of a string setting.
func (s *Snapshot) String(set *Setting) string { return string(s.values[set].(objectdb.String)) }

// Strings returns the value of a setting that is a list of strings.
func (s *Snapshot) Strings(set *Setting) []string {
	var list []string
	for _, e := range s.values[set].(objectdb.List) {
		list = append(list, string(e.(objectdb.String)))
	}
	return list
}

// Debugging reports whether requests are recorded, and when that ends: the zero time is never.
// The setting flDebug ends debugMinutes after it was set; the next request then switches it off.
func (s *Snapshot) Debugging(tx *objectdb.Tx, now time.Time) (on bool, ends time.Time, err error) {
	minutes := s.Number(DebugMinutes)
	if on = s.Flag(FlDebug); !on || minutes == 0 {
		return on, ends, nil
	}
	n, err := tx.Find(FlDebug.Address())
	if err != nil {
		return false, ends, err
	}
	ends = n.Modified().Add(time.Duration(minutes * float64(time.Minute)))
	return now.Before(ends), ends, nil
}

// HasCallbacks reports whether there is a callback in user.webserver.callbacks.
func (s *Snapshot) HasCallbacks() bool { return s.callbacks }

// PageFolders returns user.webserver.pageFolders: folders that pages may come from, in
// addition to the site's own.
func (s *Snapshot) PageFolders() []string { return s.pageFolders }

// HasScriptsIn reports whether scripts have URLs in the folder of a URL path.
func (s *Snapshot) HasScriptsIn(p string) bool {
	folder := path.Dir(CleanPath(p))
	for f := range strings.FieldsSeq(s.String(ScriptFolders)) {
		if f == allFolders || f == folder {
			return true
		}
	}
	return false
}

// traps is the table of the scripts that receive events. eventClass and eventID are the
// names of a request's event in the original (specification, 6.1).
var traps = objectdb.Address{"system", "verbs", "traps"}

const (
	eventClass = "WWWΩ"
	eventID    = "sdoc"
)

// Trap returns the address of the script that receives the event of a request.
func (s *Snapshot) Trap() (a objectdb.Address, ok bool) { return s.trap, s.trap != nil }

// TrapAddress returns the address of the trap in the specification (section 2.3).
func (s *Snapshot) TrapAddress() objectdb.Address { return traps.Child(s.trapTable()).Child(eventID) }

func (s *Snapshot) trapTable() string { return strings.TrimRight(s.String(ServerID), " ") }

// A reader reads the objects below user.webserver. It records the first error of the
// database; after one, its results must not be used.
type reader struct {
	tx   *objectdb.Tx
	home *objectdb.Node // user.webserver, once it was found
	err  error
}

func (r *reader) note(err error) {
	if r.err == nil && err != nil && !objectdb.IsMissing(err) {
		r.err = err
	}
}

// child returns an object in a table, or nil.
func (r *reader) child(table *objectdb.Node, name string) *objectdb.Node {
	n, err := r.tx.Child(table, name)
	if err != nil {
		r.note(err)
		return nil
	}
	return n
}

// node returns an object below user.webserver, or nil.
func (r *reader) node(names ...string) *objectdb.Node {
	if r.home == nil {
		home, err := r.tx.Find(home)
		if err != nil {
			r.note(err)
			return nil
		}
		r.home = home
	}
	n := r.home
	for _, name := range names {
		if n = r.child(n, name); n == nil {
			return nil
		}
	}
	return n
}

// children returns the objects in a table below user.webserver, in order.
func (r *reader) children(names ...string) []*objectdb.Node { return r.in(r.node(names...)) }

// in returns the objects in n, in order; none if it is not a table.
func (r *reader) in(n *objectdb.Node) []*objectdb.Node {
	if n == nil || n.Kind() != objectdb.KindTable {
		return nil
	}
	nodes, err := r.tx.Children(n)
	r.note(err)
	return nodes
}

// text returns the text of a string or text object, or "".
func (r *reader) text(n *objectdb.Node) string {
	if n == nil || n.Kind() != objectdb.KindString && n.Kind() != objectdb.KindText {
		return ""
	}
	v, err := r.tx.Value(n)
	r.note(err)
	switch v := v.(type) {
	case objectdb.String:
		return string(v)
	case objectdb.Text:
		return string(v)
	}
	return ""
}

// errNotSet is the error of a setting that has no value in the root.
var errNotSet = errors.New("it is not set")

// setting returns the value of a setting in the root, or an error if it has no valid one.
func (r *reader) setting(set *Setting) (objectdb.Value, error) {
	n := r.node(set.Name)
	if n == nil {
		return nil, errNotSet
	}
	return r.checked(n, set)
}

// instead returns the value that replaces one that is missing or invalid in the root.
func (s *Setting) instead(err error) objectdb.Value {
	if s.Refused != nil && !errors.Is(err, errNotSet) {
		return s.Refused
	}
	return s.Default
}

// checked returns the value of an object after checking that it is valid for a setting.
func (r *reader) checked(n *objectdb.Node, set *Setting) (objectdb.Value, error) {
	if n.Kind() == objectdb.KindTable {
		return nil, errors.New("it is a table")
	}
	v, err := r.tx.Value(n)
	if err != nil {
		r.note(err)
		return nil, err
	}
	if t, ok := v.(objectdb.Text); ok {
		v = objectdb.String(t)
	}
	if v.Kind() != set.Default.Kind() {
		return nil, fmt.Errorf("it is a %s, not a %s", v.Kind(), set.Default.Kind())
	}
	if set.Check != nil && !set.NamesFile() {
		if err := set.Check(v); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// hasCallbacks reports whether any table of callbacks has an entry.
func (r *reader) hasCallbacks() bool {
	return slices.ContainsFunc(r.children("callbacks"), func(n *objectdb.Node) bool { return len(r.in(n)) > 0 })
}

func (r *reader) pageFolders() []string {
	n := r.node("pageFolders")
	if n == nil || n.Kind() != objectdb.KindList {
		return nil
	}
	v, err := r.tx.Value(n)
	if err != nil {
		r.note(err)
		return nil
	}
	var folders []string
	for _, f := range v.(objectdb.List) {
		if text, ok := f.(objectdb.String); ok {
			folders = append(folders, string(text))
		}
	}
	return folders
}

// trap finds the trap as the original did. It looks for a script with the event's id in
// the table of traps, then in the table named by the server's id, then in the one named
// by the event's class. Names shorter than four letters may be padded with blanks.
func (r *reader) trap(server string) objectdb.Address {
	all, err := r.tx.Find(traps)
	if err != nil {
		r.note(err)
		return nil
	}
	if r.isScript(all, eventID) {
		return traps.Child(eventID)
	}
	for _, name := range []string{server, eventClass} {
		table := r.child(all, name)
		if n := 4 - utf8.RuneCountInString(name); table == nil && n > 0 {
			name += strings.Repeat(" ", n)
			table = r.child(all, name)
		}
		if table != nil && table.Kind() == objectdb.KindTable && r.isScript(table, eventID) {
			return traps.Child(name).Child(eventID)
		}
	}
	return nil
}

func (r *reader) isScript(table *objectdb.Node, name string) bool {
	n := r.child(table, name)
	return n != nil && n.Kind() == objectdb.KindScript
}
