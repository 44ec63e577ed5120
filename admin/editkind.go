package admin

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"unicode/utf8"

	"scripter/objectdb"
	"scripter/valuetext"
)

// plainType is the type of a binary that was made of a text.
const plainType = "text/plain; charset=utf-8"

// longConverted is the size in bytes of the longest value that is converted to see whether that
// loses something.
const longConverted = 64 << 10

// lossless returns the kinds that a value can have without a loss.
func lossless(v objectdb.Value) []string {
	var list []string
	for _, k := range kinds {
		if k != v.Kind() && k != objectdb.KindTable && mayConvert(v, k) {
			list = append(list, k.String())
		}
	}
	return list
}

// mayConvert reports whether a value has another kind in which it loses nothing.
func mayConvert(v objectdb.Value, k objectdb.Kind) bool {
	if isLines(k) && v.Kind() != objectdb.KindBinary {
		return true
	}
	_, ok := converted(v, k)
	return ok
}

// converted returns the value of another kind with the same text, and whether it is there and has
// all that v has.
func converted(v objectdb.Value, k objectdb.Kind) (objectdb.Value, bool) {
	if !isLines(k) && !isLines(v.Kind()) {
		return nil, false
	}
	text, ok := convertibleText(v)
	switch {
	case !ok:
		return nil, false
	case isLines(k):
		w, err := valuetext.Parse(k, text)
		return w, err == nil
	case len(text) > longConverted && k != objectdb.KindBinary:
		return nil, false
	case k == objectdb.KindBinary:
		return objectdb.Binary{Type: plainType, Data: text}, utf8.ValidString(text)
	case k == objectdb.KindList:
		return convertedList(text)
	}
	w, err := valuetext.Parse(k, text)
	return w, err == nil && valuetext.Format(w) == text
}

// convertedList returns the list whose JSON form is a text, but for the white space.
func convertedList(text string) (objectdb.Value, bool) {
	v, err := objectdb.ParseJSON(text)
	var b bytes.Buffer
	if err != nil || v.Kind() != objectdb.KindList || json.Compact(&b, []byte(text)) != nil {
		return nil, false
	}
	return v, b.String() == string(objectdb.AppendJSON(nil, v))
}

// convertibleText returns the text of a value, and whether it says all of the value.
func convertibleText(v objectdb.Value) (string, bool) {
	if b, ok := v.(objectdb.Binary); ok {
		return b.Data, b.Type == plainType
	}
	return editText(v)
}

// isLines reports whether the values of a kind are any text.
func isLines(k objectdb.Kind) bool {
	switch k {
	case objectdb.KindString, objectdb.KindText, objectdb.KindOutline, objectdb.KindScript:
		return true
	}
	return false
}

// convertObject gives an object another kind, if that loses nothing.
func (c *call) convertObject(a objectdb.Address) (*result, error) {
	k, err := objectdb.ParseKind(c.field("kind"))
	if err != nil {
		return nil, bad("value.noKind", c.field("kind"))
	}
	change, err := c.update("kind of "+a.String(), func(tx *objectdb.Tx) error {
		n, err := tx.Find(a)
		if err != nil {
			return err
		}
		if err := c.checkEdit(a, n.Kind()); err != nil {
			return err
		}
		if n.Version() != c.version() {
			return newProblem(http.StatusConflict, "value.meanwhile", a.String())
		}
		v, err := tx.Value(n)
		if err != nil {
			return err
		}
		w, ok := converted(v, k)
		if !ok {
			return bad("value.loses", n.Kind(), k)
		}
		if err := check(tx, a, w, false); err != nil {
			return err
		}
		return tx.Put(a, w)
	})
	var refused *notStored
	if errors.As(err, &refused) {
		return nil, refused.problem()
	}
	if err != nil {
		return nil, err
	}
	return c.redirect(c.linkTo("at", a), "converted", change), nil
}
