package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"scripter/objectdb"
	"scripter/script"
)

var jsonVerbs = []script.Verb{
	{
		Name:    "json.encode",
		Doc:     "The value as JSON (RFC 8259). A table with entries 1 to n is an array, and so is an empty list: odb.list (), a list of the root, [] from json.decode. Any other table is an object in its own order. A date is text as RFC 3339 has it, json.null is null. Safe inside a script element of HTML.",
		Params:  []script.Param{script.Arg("value", "any", "")},
		Results: script.Returns("string", ""),
		Errors:  "a table with names and numbers, nesting deeper than 100, text that is not UTF-8, a function, an infinite number",
		Example: `json.encode ({1, "two", {x = true}})`,
		Gives:   `[1,"two",{"x":true}]`,
		Page:    true,
		Func:    verbJSONEncode,
	},
	{
		Name:    "json.decode",
		Doc:     "The value of a JSON text; objects keep their order, and an empty array stays an array. null becomes the second argument; without one, null is left out of objects and is an error in an array. With json.null as the second argument, lists of the root can hold it, and json.encode writes null again.",
		Params:  []script.Param{script.Arg("text", "string", ""), script.Opt("null", "any", "", "what stands for null")},
		Results: script.Returns("any", ""),
		Errors:  "text that is no JSON, with the byte where it goes wrong; null in an array when there is no second argument",
		Example: `json.decode ('{"a": [1, null]}', "none").a [2]`,
		Gives:   "none",
		Page:    true,
		Func:    verbJSONDecode,
	},
}

// maxJSONDepth bounds how deep arrays and objects nest.
const maxJSONDepth = 100

func verbJSONEncode(v *script.Call) error {
	e := jsonEncoder{thread: v.Thread()}
	if err := e.value(v.Value(1), 0); err != nil {
		return err
	}
	v.Return(string(e.out))
	return nil
}

// maxJSONText bounds what json.encode makes, in bytes.
const maxJSONText = 16 << 20

var errJSONText = fmt.Errorf("the text is longer than %d bytes", maxJSONText)

type jsonEncoder struct {
	thread *script.Thread
	out    []byte
}

func (e *jsonEncoder) value(v script.Value, depth int) error {
	if depth > maxJSONDepth {
		return fmt.Errorf("tables nest deeper than %d, or in a circle", maxJSONDepth)
	}
	if len(e.out) > maxJSONText {
		return errJSONText
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

func (e *jsonEncoder) string(s string) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("the text %.40q is not UTF-8; base64.encode makes JSON of any bytes", s)
	}
	e.out = append(e.out, '"')
	for s != "" {
		piece := s
		if len(piece) > jsonPiece {
			piece = cutText(s, jsonPiece)
		}
		s = s[len(piece):]
		b, err := json.Marshal(piece) // with <, > and & as \u00XX
		if err != nil {
			return err
		}
		if e.out = append(e.out, b[1:len(b)-1]...); len(e.out) > maxJSONText {
			return errJSONText
		}
	}
	e.out = append(e.out, '"')
	return nil
}

// jsonPiece is how much of a text is encoded at once, in bytes: escaped it is
// six times as long.
const jsonPiece = 64 << 10

func (e *jsonEncoder) array(t *script.Table, depth int) error {
	e.out = append(e.out, '[')
	n, err := 0, error(nil)
	t.Each(func(k, v script.Value) bool {
		if i, ok := k.(float64); !ok || i != float64(n+1) {
			err = errors.New("a table is an array with entries 1 to n, or has names: not both")
			return false
		}
		if n++; n > 1 {
			e.out = append(e.out, ',')
		}
		err = e.value(v, depth+1)
		return err == nil
	})
	e.out = append(e.out, ']')
	return err
}

func (e *jsonEncoder) object(t *script.Table, depth int) error {
	e.out = append(e.out, '{')
	first, err := true, error(nil)
	t.Each(func(k, v script.Value) bool {
		name, ok := k.(string)
		if !ok {
			err = fmt.Errorf("an object's names are texts, not %v", k)
			return false
		}
		if !first {
			e.out = append(e.out, ',')
		}
		first = false
		if err = e.string(name); err != nil {
			return false
		}
		e.out = append(e.out, ':')
		err = e.value(v, depth+1)
		return err == nil
	})
	e.out = append(e.out, '}')
	return err
}

// node writes an object of the root: a table as an object in its order.
func (e *jsonEncoder) node(n *objectdb.Node, depth int) error {
	tx := e.thread.Tx()
	if n.Kind() != objectdb.KindTable {
		v, err := tx.Value(n)
		if err != nil {
			return err
		}
		return e.rootValue(v, depth)
	}
	if depth > maxJSONDepth {
		return fmt.Errorf("tables nest deeper than %d", maxJSONDepth)
	}
	children, err := tx.Children(n)
	if err != nil {
		return err
	}
	e.out = append(e.out, '{')
	for i, c := range children {
		if i > 0 {
			e.out = append(e.out, ',')
		}
		if err := e.string(c.Name()); err != nil {
			return err
		}
		e.out = append(e.out, ':')
		if err := e.node(c, depth+1); err != nil {
			return fmt.Errorf("%s: %w", c.Name(), err)
		}
	}
	e.out = append(e.out, '}')
	return nil
}

// rootValue writes a value of the root.
func (e *jsonEncoder) rootValue(v objectdb.Value, depth int) error {
	switch v := v.(type) {
	case objectdb.Boolean:
		return e.value(bool(v), depth)
	case objectdb.Number:
		return e.value(float64(v), depth)
	case objectdb.String:
		return e.value(string(v), depth)
	case objectdb.Text:
		return e.value(string(v), depth)
	case objectdb.Outline:
		return e.value(string(v), depth)
	case objectdb.Script:
		return e.value(string(v), depth)
	case objectdb.List:
		e.out = append(e.out, '[')
		for i, item := range v {
			if i > 0 {
				e.out = append(e.out, ',')
			}
			if err := e.rootValue(item, depth+1); err != nil {
				return err
			}
		}
		e.out = append(e.out, ']')
		return nil
	case objectdb.Record:
		e.out = append(e.out, '{')
		for i, f := range v {
			if i > 0 {
				e.out = append(e.out, ',')
			}
			if err := e.string(f.Name); err != nil {
				return err
			}
			e.out = append(e.out, ':')
			if err := e.rootValue(f.Value, depth+1); err != nil {
				return err
			}
		}
		e.out = append(e.out, '}')
		return nil
	}
	return e.value(v, depth)
}

func verbJSONDecode(v *script.Call) error {
	d := jsonDecoder{json.NewDecoder(strings.NewReader(v.String(1))), v}
	d.UseNumber()
	value, err := d.value(0)
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return fmt.Errorf("at byte %d: %w", d.InputOffset(), err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("at byte %d: more text after the value", d.InputOffset())
	}
	v.Return(value)
	return nil
}

type jsonDecoder struct {
	*json.Decoder
	call *script.Call
}

// jsonCharge is what one value of JSON counts, in instructions.
const jsonCharge = 8

func (d jsonDecoder) value(depth int) (script.Value, error) {
	d.call.Charge(jsonCharge)
	if depth > maxJSONDepth {
		return nil, fmt.Errorf("values nest deeper than %d", maxJSONDepth)
	}
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch x := token.(type) {
	case json.Delim:
		if x == '[' {
			return d.array(depth)
		}
		return d.object(depth)
	case json.Number:
		f, err := x.Float64()
		if err != nil {
			return nil, fmt.Errorf("the number %s is too large", x)
		}
		return f, nil
	case nil:
		return d.call.Value(2), nil
	}
	return token, nil // a string or a bool
}

func (d jsonDecoder) array(depth int) (script.Value, error) {
	t := script.NewList()
	for d.More() {
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		if v == nil {
			return nil, errors.New("an array has null; pass a value for it as the second argument: json.decode (text, json.null)")
		}
		t.Append(v)
	}
	_, err := d.Token()
	return t, err
}

func (d jsonDecoder) object(depth int) (script.Value, error) {
	t := script.NewTable()
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		t.Set(name.(string), v)
	}
	_, err := d.Token()
	return t, err
}
