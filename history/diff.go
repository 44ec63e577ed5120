package history

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"scripter/objectdb"
	"scripter/requestlog"
	"scripter/textdiff"
	"scripter/valuetext"
)

// Diff is one object in two states of the root.
type Diff struct {
	How           string // what was done: "added", "changed", "moved", "moved and changed" or "removed"
	Before, After *Side  // nil if there was none
}

// Side is an object in one state of the root.
type Side struct {
	Address objectdb.Address
	Kind    objectdb.Kind
	Size    int64
	Value   objectdb.Value // nil of a table, and if Why is set
	Why     string         // why there is no value
	Note    string         // a remark on the value, or ""
	Label   string         // names the state: "change 16"
}

// masked replaces a secret.
const masked = "(masked)"

// IsSecret reports whether the values are not shown.
func (d *Diff) IsSecret() bool {
	for _, s := range []*Side{d.Before, d.After} {
		if s != nil && requestlog.IsSecret(s.Address, s.Kind) {
			return true
		}
	}
	return false
}

// Last returns the newer state, or the older one if the object was removed.
func (d *Diff) Last() *Side {
	if d.After != nil {
		return d.After
	}
	return d.Before
}

// From returns the old address of an object that was moved, else nil.
func (d *Diff) From() objectdb.Address {
	if d.Before != nil && strings.HasPrefix(d.How, "moved") {
		return d.Before.Address
	}
	return nil
}

// Headline returns the line about an object, in the words of the commands that change it: "changed
// user.a, text, 12 bytes".
func (d *Diff) Headline() string {
	text, s := d.How+" ", d.Last()
	if from := d.From(); from != nil {
		text += from.String() + " to "
	}
	text += s.Address.String() + ", "
	if d.Before != nil && d.Before.Kind != s.Kind {
		text += "was " + d.Before.Kind.String() + ", is now "
	}
	text += s.Kind.String()
	if s.Kind != objectdb.KindTable && !d.IsSecret() {
		text += ", " + valuetext.Count(int(s.Size), "byte")
	}
	return text
}

// Unified returns the unified difference of the values, or "". Values of one line have only
// their signs, without a head.
func (d *Diff) Unified() string {
	labels, texts := [2]string{}, [2]string{}
	oneLine := true
	for i, s := range []*Side{d.Before, d.After} {
		labels[i] = "nothing"
		if s != nil {
			labels[i], texts[i] = s.Address.String()+" ("+s.Label+")", s.text()
			oneLine = oneLine && s.isOneLine(texts[i])
		}
	}
	if d.IsSecret() {
		oneLine = true
		for i := range texts {
			if texts[i] != "" {
				texts[i] = masked
			}
		}
	}
	if ends := strings.HasSuffix; !ends(texts[0], "\n") && !ends(texts[1], "\n") {
		// If both lack the last line end, that is not a difference.
		for i := range texts {
			if texts[i] != "" {
				texts[i] += "\n"
			}
		}
	}
	if !oneLine {
		return textdiff.Unified(labels[0], labels[1], texts[0], texts[1], 3)
	}
	var b strings.Builder
	if d.IsSecret() && d.How == "changed" || texts[0] != texts[1] {
		for i, sign := range []string{"-", "+"} {
			if texts[i] != "" {
				b.WriteString(sign + texts[i])
			}
		}
	}
	return b.String()
}

// isOneLine reports whether the text of the value is shown without the head of a
// difference by line.
func (s *Side) isOneLine(text string) bool {
	switch s.Kind {
	case objectdb.KindText, objectdb.KindScript, objectdb.KindOutline:
		return s.Value == nil
	}
	return !strings.Contains(strings.TrimSuffix(text, "\n"), "\n")
}

// text returns the value as lines that are compared.
func (s *Side) text() string {
	switch v := s.Value.(type) {
	case nil:
		if s.Kind == objectdb.KindTable {
			return ""
		}
		return "(" + s.Why + ")\n"
	case objectdb.Text, objectdb.Script, objectdb.Outline:
		return valuetext.Format(v)
	case objectdb.Binary:
		sum := sha256.Sum256([]byte(v.Data))
		return fmt.Sprintf("%s, %s, SHA-256 %s\n", v.Type, valuetext.Count(len(v.Data), "byte"),
			hex.EncodeToString(sum[:]))
	case objectdb.List:
		return valuetext.Indented(maskFields(v))
	}
	return valuetext.Format(s.Value) + "\n"
}

// maskFields returns a value of a list with the fields masked whose names mean a secret.
func maskFields(v objectdb.Value) objectdb.Value {
	switch v := v.(type) {
	case objectdb.List:
		list := make(objectdb.List, len(v))
		for i, item := range v {
			list[i] = maskFields(item)
		}
		return list
	case objectdb.Record:
		r := make(objectdb.Record, len(v))
		for i, f := range v {
			if f.Value = maskFields(f.Value); requestlog.IsSecretName(f.Name) {
				f.Value = objectdb.String(masked)
			}
			r[i] = f
		}
		return r
	}
	return v
}

// Notes returns notes on values that were not kept, and for which later ones are shown.
func (d *Diff) Notes() []string {
	var list []string
	for _, s := range []*Side{d.Before, d.After} {
		if s != nil && s.Note != "" {
			list = append(list, s.Note)
		}
	}
	if b, a := d.Before, d.After; b != nil && a != nil && b.Value != nil && a.Value != nil && !d.IsSecret() &&
		b.text() == a.text() && !objectdb.Equal(b.Value, a.Value) && b.Kind == objectdb.KindList {
		list = append(list, "what differs is masked")
	}
	return list
}

// Fields returns how the object has changed, as programs read it.
func (d *Diff) Fields() map[string]any {
	s, secret := d.Last(), d.IsSecret()
	m := map[string]any{"address": s.Address.String(), "change": d.How, "kind": s.Kind.String(), "masked": secret,
		"notes": append([]string{}, d.Notes()...), "diff": d.Unified()}
	if d.Before != nil && d.Before.Kind != s.Kind {
		m["was"] = d.Before.Kind.String()
	}
	if from := d.From(); from != nil {
		m["from"] = from.String()
	}
	if secret {
		return m
	}
	for name, side := range map[string]*Side{"before": d.Before, "after": d.After} {
		if side != nil && side.Value != nil {
			m[name] = valuetext.JSON(maskFields(side.Value))
		}
	}
	return m
}

// sideAt returns an object as a generation left it, or nil if there was none. state is its state
// in that generation.
func sideAt(tx *objectdb.Tx, id, generation int64, state *objectdb.ObjectState, label string) (*Side, error) {
	if state == nil {
		return nil, nil
	}
	s := &Side{Address: state.Address, Kind: state.Kind, Size: state.Size, Label: label}
	if state.Kind == objectdb.KindTable {
		return s, nil
	}
	v, err := tx.ValueAt(id, generation)
	switch {
	case errors.Is(err, objectdb.ErrNotKept):
		s.Why = fmt.Sprintf("only the length and a hash were kept: %s, SHA-256 of the stored form %s",
			valuetext.Count(int(state.Size), "byte"), hex.EncodeToString(state.Hash))
	case err != nil:
		return nil, err
	case state.Written > generation:
		s.Note = fmt.Sprintf("the value of %s in change %d was not kept: this is that of commit %d",
			state.Address, generation, state.Written)
	}
	s.Value = v
	return s, nil
}

// Pending returns what a transaction has written and not committed: one or more lines for each
// object.
func Pending(tx *objectdb.Tx) (string, error) {
	list, err := tx.Pending()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, p := range list {
		a := p.Address.String()
		switch {
		case p.Node == nil:
			fmt.Fprintf(&b, "%s is removed\n", a)
		case p.Node.Kind() == objectdb.KindTable:
			fmt.Fprintf(&b, "%s is a table\n", a)
		case requestlog.IsSecret(p.Address, p.Node.Kind()):
			fmt.Fprintf(&b, "%s = %s\n", a, masked)
		default:
			side := Side{Address: p.Address, Kind: p.Node.Kind()}
			if side.Value, err = tx.Value(p.Node); err != nil {
				return b.String(), err
			}
			text := strings.TrimSuffix(side.text(), "\n")
			if strings.Contains(text, "\n") {
				text = "\n    " + strings.ReplaceAll(text, "\n", "\n    ")
			}
			fmt.Fprintf(&b, "%s = %s\n", a, text)
		}
	}
	return b.String(), nil
}
