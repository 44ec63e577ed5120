package json

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"scripter/objectdb"
	"scripter/script"
)

func decode(v *script.Call) error {
	null := v.Value(2)
	value, err := decoder{charge: v.Charge, member: null, item: null}.decode(v.String(1))
	if err != nil {
		return err
	}
	v.Return(value)
	return nil
}

// Decode returns the value of a JSON text. null is left out of objects; elsewhere it is json.null. charge
// counts the steps of the work.
func Decode(text string, charge func(n int)) (script.Value, error) {
	return decoder{charge: charge, item: objectdb.Null{}}.decode(text)
}

type decoder struct {
	*json.Decoder
	charge       func(n int)
	member, item script.Value // what stands for null in objects, and elsewhere; nil leaves it out
}

func (d decoder) decode(text string) (script.Value, error) {
	d.Decoder = json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	value, err := d.value(0, d.item)
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("at byte %d: %w", d.InputOffset(), err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("at byte %d: more text after the value", d.InputOffset())
	}
	return value, nil
}

// valueCharge is what one value of JSON counts, in instructions.
const valueCharge = 8

func (d decoder) value(depth int, null script.Value) (script.Value, error) {
	d.charge(valueCharge)
	if depth > maxDepth {
		return nil, fmt.Errorf("values nest deeper than %d", maxDepth)
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
		return null, nil
	}
	return token, nil // a string or a bool
}

var errNull = errors.New("an array has null; " +
	"pass a value for it as the second argument: json.decode (text, json.null)")

func (d decoder) array(depth int) (script.Value, error) {
	t := script.NewList()
	for d.More() {
		v, err := d.value(depth+1, d.item)
		if err != nil {
			return nil, err
		}
		if v == nil {
			return nil, errNull
		}
		t.Append(v)
	}
	_, err := d.Token()
	return t, err
}

func (d decoder) object(depth int) (script.Value, error) {
	t := script.NewTable()
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := d.value(depth+1, d.member)
		if err != nil {
			return nil, err
		}
		t.Set(name.(string), v)
	}
	_, err := d.Token()
	return t, err
}
