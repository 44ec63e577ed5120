package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"scripter/objectdb"
	"scripter/requestlog"
	"scripter/textdiff"
)

// objectDiff is one object in two states of the root.
type objectDiff struct {
	how           string // as howText
	before, after *objectSide
}

// objectSide is an object in one state of the root.
type objectSide struct {
	address objectdb.Address
	kind    objectdb.Kind
	size    int64
	value   objectdb.Value // nil of a table, and if why is set
	why     string         // why there is no value
	note    string         // a remark on the value, or ""
	label   string         // names the state: "change 16"
}

// masked replaces a secret.
const masked = "(masked)"

// isSecret reports whether the values are not shown.
func (d *objectDiff) isSecret() bool {
	for _, s := range []*objectSide{d.before, d.after} {
		if s != nil && requestlog.IsSecret(s.address, s.kind) {
			return true
		}
	}
	return false
}

// last returns the newer state, or the older one if the object was removed.
func (d *objectDiff) last() *objectSide {
	if d.after != nil {
		return d.after
	}
	return d.before
}

// headline returns the line about an object, in the words of the commands that change it.
func (d *objectDiff) headline() string {
	text, s := d.how+" ", d.last()
	if d.before != nil && strings.HasPrefix(d.how, "moved") {
		text += d.before.address.String() + " to "
	}
	text += s.address.String() + ", "
	if d.before != nil && d.before.kind != s.kind {
		text += "was " + d.before.kind.String() + ", is now "
	}
	text += s.kind.String()
	if s.kind != objectdb.KindTable && !d.isSecret() {
		text += ", " + thousands(int(s.size), "byte")
	}
	return text
}

// unified returns the unified difference of the values, or "". Values of one line have only
// their signs, without a head.
func (d *objectDiff) unified() string {
	labels, texts := [2]string{}, [2]string{}
	oneLine := true
	for i, s := range []*objectSide{d.before, d.after} {
		labels[i] = "nothing"
		if s != nil {
			labels[i], texts[i] = s.address.String()+" ("+s.label+")", s.text()
			oneLine = oneLine && s.isOneLine(texts[i])
		}
	}
	if d.isSecret() {
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
	if d.isSecret() && d.how == "changed" || texts[0] != texts[1] {
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
func (s *objectSide) isOneLine(text string) bool {
	switch s.kind {
	case objectdb.KindText, objectdb.KindScript, objectdb.KindOutline:
		return s.value == nil
	}
	return !strings.Contains(strings.TrimSuffix(text, "\n"), "\n")
}

// text returns the value as lines that are compared.
func (s *objectSide) text() string {
	switch v := s.value.(type) {
	case nil:
		if s.kind == objectdb.KindTable {
			return ""
		}
		return "(" + s.why + ")\n"
	case objectdb.Text, objectdb.Script, objectdb.Outline:
		return valueText(v)
	case objectdb.Binary:
		sum := sha256.Sum256([]byte(v.Data))
		return fmt.Sprintf("%s, %s, SHA-256 %s\n", v.Type, thousands(len(v.Data), "byte"), hex.EncodeToString(sum[:]))
	case objectdb.List:
		var b bytes.Buffer
		if err := json.Indent(&b, []byte(valueText(maskFields(v))), "", "  "); err == nil {
			return b.String() + "\n"
		}
	}
	return valueText(s.value) + "\n"
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

// notes returns notes on values that were not kept, and for which later ones are shown.
func (d *objectDiff) notes() []string {
	var list []string
	for _, s := range []*objectSide{d.before, d.after} {
		if s != nil && s.note != "" {
			list = append(list, s.note)
		}
	}
	if b, a := d.before, d.after; b != nil && a != nil && b.value != nil && a.value != nil && !d.isSecret() &&
		b.text() == a.text() && !objectdb.Equal(b.value, a.value) && b.kind == objectdb.KindList {
		list = append(list, "what differs is masked")
	}
	return list
}

// printObjectDiff prints how the object has changed.
func (t *tool) printObjectDiff(d *objectDiff) {
	t.printStyled(bold, oneLine(d.headline()))
	for _, n := range d.notes() {
		fmt.Fprintf(t.out, "(%s)\n", n)
	}
	if text := d.unified(); text != "" {
		t.printDifference(text)
	}
}

// fields returns how the object has changed, for --json.
func (d *objectDiff) fields() map[string]any {
	s, secret := d.last(), d.isSecret()
	m := map[string]any{"address": s.address.String(), "change": d.how, "kind": s.kind.String(), "masked": secret,
		"notes": append([]string{}, d.notes()...), "diff": d.unified()}
	if d.before != nil && d.before.kind != s.kind {
		m["was"] = d.before.kind.String()
	}
	if d.before != nil && strings.HasPrefix(d.how, "moved") {
		m["from"] = d.before.address.String()
	}
	if secret {
		return m
	}
	for name, side := range map[string]*objectSide{"before": d.before, "after": d.after} {
		if side != nil && side.value != nil {
			m[name] = jsonValue(maskFields(side.value))
		}
	}
	return m
}

// sideAt returns an object as a generation left it, or nil if there was none. state is its state
// in that generation.
func sideAt(tx *objectdb.Tx, id, generation int64, state *objectdb.ObjectState, label string) (*objectSide, error) {
	if state == nil {
		return nil, nil
	}
	s := &objectSide{address: state.Address, kind: state.Kind, size: state.Size, label: label}
	if state.Kind == objectdb.KindTable {
		return s, nil
	}
	v, err := tx.ValueAt(id, generation)
	switch {
	case errors.Is(err, objectdb.ErrNotKept):
		s.why = fmt.Sprintf("only the length and a hash were kept: %s, SHA-256 of the stored form %s",
			thousands(int(state.Size), "byte"), hex.EncodeToString(state.Hash))
	case err != nil:
		return nil, err
	case state.Written > generation:
		s.note = fmt.Sprintf("the value of %s in change %d was not kept: this is that of commit %d",
			state.Address, generation, state.Written)
	}
	s.value = v
	return s, nil
}
