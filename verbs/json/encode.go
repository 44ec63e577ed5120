package json

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"scripter/objectdb"
	"scripter/script"
)

func encode(v *script.Call) error {
	text, err := Encode(v.Thread(), v.Value(1))
	if err != nil {
		return err
	}
	v.Return(string(text))
	return nil
}

// Encode returns a value of a script as JSON.
func Encode(t *script.Thread, v script.Value) ([]byte, error) {
	e := encoder{thread: t}
	if err := e.value(v, 0); err != nil {
		return nil, err
	}
	return e.out, nil
}

// maxText bounds what json.encode returns, in bytes.
const maxText = 16 << 20

var errTooLong = fmt.Errorf("the text is longer than %d bytes", maxText)

type encoder struct {
	thread *script.Thread
	out    []byte
}

func (e *encoder) value(v script.Value, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("tables nest deeper than %d, or in a circle", maxDepth)
	}
	if len(e.out) > maxText {
		return errTooLong
	}
	switch v := v.(type) {
	case nil:
		e.out = append(e.out, "null"...)
	case bool:
		e.out = strconv.AppendBool(e.out, v)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return errors.New("JSON has no number that is infinite or none")
		}
		e.out = appendNumber(e.out, v)
	case string:
		return e.string(v)
	case *script.Table:
		if v.IsList() {
			return e.array(v, depth)
		}
		return e.object(v, depth)
	case *script.Function:
		return errors.New("a function has no JSON")
	case *script.Object:
		return e.node(v.Node(), depth)
	case objectdb.Null:
		e.out = append(e.out, "null"...)
	case objectdb.Date:
		return e.string(v.UTC().Format(time.RFC3339Nano))
	default:
		text, err := e.thread.Text(v)
		if err != nil {
			return err
		}
		return e.string(text)
	}
	return nil
}

// appendNumber writes a double so that it reads back the same, whole numbers
// without an exponent as far as JavaScript does (ECMA-262, 6.1.6.1.20).
func appendNumber(dst []byte, n float64) []byte {
	if n == math.Trunc(n) && math.Abs(n) < 1e21 {
		return strconv.AppendFloat(dst, n, 'f', -1, 64)
	}
	return strconv.AppendFloat(dst, n, 'g', -1, 64)
}

func (e *encoder) string(s string) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("the text %.40q is not UTF-8; base64.encode makes JSON of any bytes", s)
	}
	e.out = append(e.out, '"')
	for s != "" {
		piece := s
		if len(piece) > maxPiece {
			end := maxPiece
			for !utf8.RuneStart(s[end]) {
				end--
			}
			piece = s[:end]
		}
		s = s[len(piece):]
		b, err := json.Marshal(piece) // with <, > and & as \u00XX
		if err != nil {
			return err
		}
		if e.out = append(e.out, b[1:len(b)-1]...); len(e.out) > maxText {
			return errTooLong
		}
	}
	e.out = append(e.out, '"')
	return nil
}

// maxPiece is the number of bytes of a text that are encoded at once: escaped text may
// be six times as long.
const maxPiece = 64 << 10

// next writes the comma before a member of an array or object, unless it is the first one.
func (e *encoder) next() {
	if last := e.out[len(e.out)-1]; last != '[' && last != '{' {
		e.out = append(e.out, ',')
	}
}

// name writes the name of a member of an object.
func (e *encoder) name(s string) error {
	e.next()
	err := e.string(s)
	e.out = append(e.out, ':')
	return err
}

func (e *encoder) array(t *script.Table, depth int) error {
	e.out = append(e.out, '[')
	n, err := 0, error(nil)
	t.Each(func(k, v script.Value) bool {
		if n++; k != float64(n) {
			err = errors.New("a table is an array with entries 1 to n, or has names: not both")
			return false
		}
		e.next()
		err = e.value(v, depth+1)
		return err == nil
	})
	e.out = append(e.out, ']')
	return err
}

func (e *encoder) object(t *script.Table, depth int) error {
	e.out = append(e.out, '{')
	var err error
	t.Each(func(k, v script.Value) bool {
		name, ok := k.(string)
		if !ok {
			err = fmt.Errorf("an object's names are texts, not %v", k)
		} else if err = e.name(name); err == nil {
			err = e.value(v, depth+1)
		}
		return err == nil
	})
	e.out = append(e.out, '}')
	return err
}

// node writes an object of the root. It writes a table as a JSON object in its order.
func (e *encoder) node(n *objectdb.Node, depth int) error {
	tx := e.thread.Tx()
	if n == nil {
		return errors.New("a table of verbs has no JSON")
	}
	if n.Kind() != objectdb.KindTable {
		v, err := tx.Value(n)
		if err != nil {
			return err
		}
		return e.stored(v, depth)
	}
	if depth > maxDepth {
		return fmt.Errorf("tables nest deeper than %d", maxDepth)
	}
	children, err := tx.Children(n)
	if err != nil {
		return err
	}
	e.out = append(e.out, '{')
	for _, c := range children {
		if err := e.name(c.Name()); err != nil {
			return err
		}
		if err := e.node(c, depth+1); err != nil {
			return fmt.Errorf("%s: %w", c.Name(), err)
		}
	}
	e.out = append(e.out, '}')
	return nil
}

// stored writes a value of the root.
func (e *encoder) stored(v objectdb.Value, depth int) error {
	switch v := v.(type) {
	case objectdb.Boolean:
		return e.value(bool(v), depth)
	case objectdb.Number:
		return e.value(float64(v), depth)
	case objectdb.List:
		e.out = append(e.out, '[')
		for _, item := range v {
			e.next()
			if err := e.stored(item, depth+1); err != nil {
				return err
			}
		}
		e.out = append(e.out, ']')
		return nil
	case objectdb.Record:
		e.out = append(e.out, '{')
		for _, f := range v {
			if err := e.name(f.Name); err != nil {
				return err
			}
			if err := e.stored(f.Value, depth+1); err != nil {
				return err
			}
		}
		e.out = append(e.out, '}')
		return nil
	}
	return e.value(v, depth)
}
