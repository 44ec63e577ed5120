package json

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"scripter/script"
)

func decode(v *script.Call) error {
	d := decoder{json.NewDecoder(strings.NewReader(v.String(1))), v}
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

type decoder struct {
	*json.Decoder
	call *script.Call
}

// valueCharge is what one value of JSON counts, in instructions.
const valueCharge = 8

func (d decoder) value(depth int) (script.Value, error) {
	d.call.Charge(valueCharge)
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
		return d.call.Value(2), nil
	}
	return token, nil // a string or a bool
}

var errNull = errors.New("an array has null; " +
	"pass a value for it as the second argument: json.decode (text, json.null)")

func (d decoder) array(depth int) (script.Value, error) {
	t := script.NewList()
	for d.More() {
		v, err := d.value(depth + 1)
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
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		t.Set(name.(string), v)
	}
	_, err := d.Token()
	return t, err
}
