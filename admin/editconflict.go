package admin

import (
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"scripter/objectdb"
	"scripter/textdiff"
)

// conflict is a value that two people have changed at the same time. Nothing was stored.
type conflict struct {
	Address objectdb.Address `json:"-"`
	Dotted  string           `json:"-"`
	Base    string           `json:"-"`                // what the person has read
	Known   *string          `json:"base"`             // Base, or nil if it is not known
	Mine    string           `json:"mine"`             // what the person wants to store
	Theirs  string           `json:"theirs"`           // what somebody else has stored
	Merged  string           `json:"merged,omitempty"` // has both changes
	Clashes int              `json:"clashes"`          // the number of conflicts that are marked in Merged
	Version int64            `json:"version"`          // of Theirs, 0 if there is nothing
	Kind    string           `json:"kind,omitempty"`   // of Theirs
	OwnKind string           `json:"-"`                // of Mine
	Deleted bool             `json:"deleted,omitempty"`
	Who     string           `json:"who,omitempty"` // the person or the visitor who made the change
	When    string           `json:"when,omitempty"`
	Said    string           `json:"-"` // a sentence on who made the change, without its full stop; "" = not known
	Change  int64            `json:"change,omitempty"`
	Href    string           `json:"href,omitempty"` // of the change
	Error   string           `json:"-"`              // why Mine was not stored, if the reason is another one

	Bytes bool `json:"-"` // the values are not text
	File  bool `json:"-"` // Mine is a file, which has to be chosen again
	same  bool // Theirs is what the person has read
}

// conflictData is the page of a conflict.
type conflictData struct {
	Error                string     `json:"error"`
	Conflict             *conflict  `json:"conflict"`
	DiffMine, DiffTheirs []diffLine `json:"-"`
}

// conflictOf describes a conflict.
func (c *call) conflictOf(a objectdb.Address, f *form, changed *changedMeanwhile) (*conflict, error) {
	m := &conflict{Address: a, Dotted: a.String(), Version: changed.version, Deleted: changed.kind == 0,
		File: f.file != nil}
	if changed.kind != 0 {
		m.Kind = changed.kind.String()
	}
	base, err := c.valueThen(a, f.version)
	if err != nil {
		return nil, err
	}
	if base != nil && !c.mayEdit(a, base.Kind()) {
		base = nil // it was a secret, and what is there now is none
	}
	kind := f.kind
	switch {
	case kind != 0:
	case base != nil:
		kind = base.Kind()
	default:
		kind = changed.kind
	}
	m.OwnKind = kind.String()
	if base != nil {
		m.Known = &m.Base
	}
	m.same = base != nil && changed.theirs != nil && objectdb.Equal(base, changed.theirs)
	mine, err := f.value(kind, base)
	var refused *notStored
	if errors.As(err, &refused) { // it is shown as it was typed
		m.Mine = f.typed
	} else if err != nil {
		return nil, err
	}
	var ok [3]bool
	texts := [3]*string{&m.Base, &m.Mine, &m.Theirs}
	for i, v := range []objectdb.Value{base, mine, changed.theirs} {
		if ok[i] = v == nil; !ok[i] {
			*texts[i], ok[i] = shownText(v)
		}
	}
	m.Bytes = !ok[0] || !ok[1] || !ok[2]
	lines := isLines(kind) || kind == objectdb.KindList || kind == objectdb.KindBinary
	if !m.Bytes && lines && changed.theirs != nil && kind == changed.kind && (base == nil || base.Kind() == kind) {
		m.Merged, m.Clashes = textdiff.MergeMarked(m.Base, m.Mine, m.Theirs, text("conflict.markMine"),
			text("conflict.markTheirs"))
	}
	return m, c.describeChange(a, m)
}

// shownText returns the text of a value, or what it is if it has none.
func shownText(v objectdb.Value) (string, bool) {
	if t, ok := editText(v); ok && utf8.ValidString(t) && !strings.ContainsRune(t, 0) {
		return t, true
	}
	b, _ := v.(objectdb.Binary)
	return text("conflict.bytes", v.Kind(), b.Type, len(b.Data)), false
}

// valueThen returns the value that an object had in a version, or nil if the history does not have
// it.
func (c *call) valueThen(a objectdb.Address, version int64) (v objectdb.Value, err error) {
	if version <= 0 {
		return nil, nil
	}
	exact := true
	err = c.DB.At(version, func(int64, int64) { exact = false }).View(c.ctx(), func(tx *objectdb.Tx) error {
		n, err := tx.Find(a)
		if err != nil || n.Kind() == objectdb.KindTable || n.Version() != version {
			exact = false
			return err
		}
		v, err = tx.Value(n)
		return err
	})
	if objectdb.IsMissing(err) || errors.Is(err, objectdb.ErrReach) || errors.Is(err, objectdb.ErrNotKept) {
		return nil, nil
	}
	if !exact || err != nil {
		return nil, err
	}
	return v, nil
}

// describeChange says who has made the change that came between.
func (c *call) describeChange(a objectdb.Address, m *conflict) error {
	return c.DB.View(c.ctx(), func(tx *objectdb.Tx) error {
		number := m.Version
		if m.Deleted {
			ids, err := tx.IDsAt(a)
			if err != nil {
				return err
			}
			changes, err := tx.ChangesOf(ids)
			if err != nil || len(changes) == 0 {
				return err
			}
			number = changes[0]
		}
		change, err := tx.Change(number)
		if errors.Is(err, objectdb.ErrNotFound) || errors.Is(err, objectdb.ErrReach) {
			return nil // nothing of it was kept
		}
		if err != nil {
			return err
		}
		at := time.Unix(0, change.Time)
		m.Who, m.When, m.Said = whoOf(change.Origin), when(at), c.saidOf(m, change.Origin, at)
		m.Change, m.Href = number, c.link("history/"+versionText(number))
		return nil
	})
}

// whoOf returns who made a change.
func whoOf(o objectdb.Origin) string {
	switch {
	case o.Who != "":
		return o.Who
	case o.Person:
		return text("conflict.somebody")
	case isMethod(o.Why):
		return text("conflict.visitor")
	}
	return text("conflict.scripter")
}

// isMethod reports whether the reason of a change is the method of a request.
func isMethod(why string) bool { return why != "" && why == strings.ToUpper(why) }

// saidOf returns a sentence that says who made a change, when and how: "Grace changed user.note 2 minutes ago with
// scripter put".
func (c *call) saidOf(m *conflict, o objectdb.Origin, at time.Time) string {
	who, isMe := whoOf(o), o.Person && o.Who == c.user && o.Why == "web page"
	switch {
	case isMe:
		who = text("conflict.you")
	case isMethod(o.Why) && o.Who != "":
		who = text("conflict.visitorName", o.Who)
	}
	if who != o.Who { // a name stays as it is
		who = strings.ToUpper(who[:1]) + who[1:]
	}
	key := "conflict.changed"
	if m.Deleted {
		key = "conflict.removed"
	}
	said := text(key, who, m.Dotted, ago(c.Now().Sub(at)))
	switch {
	case isMe:
		said += " " + text("conflict.elsewhere")
	case o.Person && o.Why == "web page":
	case o.Person && o.Why != "":
		said += " " + text("conflict.with", strings.TrimSpace(o.Why+" "+o.Path))
	case o.Why != "":
		said += " (" + strings.TrimSpace(o.Why+" "+o.Path) + ")"
	}
	return said
}

// ago returns how long ago something was, such as "2 minutes ago".
func ago(d time.Duration) string {
	one, many, n := "", "ago.seconds", int(d/time.Second) // never 1
	switch {
	case d < 5*time.Second: // another program's clock may be ahead
		return text("ago.now")
	case d >= 48*time.Hour:
		many, n = "ago.days", int(d/(24*time.Hour))
	case d >= time.Hour:
		one, many, n = "ago.hour", "ago.hours", int(d/time.Hour)
	case d >= time.Minute:
		one, many, n = "ago.minute", "ago.minutes", int(d/time.Minute)
	}
	if n == 1 {
		return text(one)
	}
	return text(many, n)
}

// showConflict shows a conflict, and what can be done.
func (c *call) showConflict(m *conflict) *result {
	said, rest := m.Said, "conflict.text"
	title := text("conflict.title", m.Address.Name())
	if said == "" {
		said = text("conflict.unknown", m.Dotted)
	}
	if m.Deleted {
		rest, title = "conflict.deleted", text("conflict.gone", m.Address.Name())
		if m.Said == "" {
			said = text("conflict.unknownRemoved", m.Dotted)
		}
	}
	d := &conflictData{Error: text(rest, said), Conflict: m}
	if !m.Bytes && m.Known != nil && !m.Deleted {
		d.DiffTheirs, d.DiffMine = changedLines(m.Base, m.Theirs), changedLines(m.Base, m.Mine)
	}
	return &result{status: http.StatusConflict, template: "edit-conflict", title: title, data: d}
}

// maxDiffLines is how many lines of a difference a page shows.
const maxDiffLines = 2000

// changedLines returns the difference of two texts, without the labels above it.
func changedLines(before, after string) []diffLine {
	list := diffLines(textdiff.Unified("", "", before, after, 3))
	list = list[min(2, len(list)):]
	if len(list) > maxDiffLines {
		list = append(list[:maxDiffLines:maxDiffLines], diffLine{"hunk", "…"})
	}
	return list
}
