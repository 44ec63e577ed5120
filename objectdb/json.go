package objectdb

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// The JSON form of a value, of lists in the database and of .json files in an
// export: boolean, number, string and list are those of JSON, and what JSON
// lacks is an object with the kind as its one name:
//
//	{"date": "2026-01-02T15:04:05Z"}
//	{"address": "user.webserver"}
//	{"number": "nan"}                               also "inf", "-inf"
//	{"text": "…"} {"outline": "…"} {"script": "…"}
//	{"string": "/w==", "base64": true}              for bytes that are not UTF-8
//	{"binary": "…", "type": "image/gif"}            always in base 64
//
// Within a list, null is null, and every other object is a record. A record that
// has the form of one of the above is written within {"record": …}.

// AppendJSON appends the JSON form of v, a list as it is stored. v has one of the types
// of this package.
func AppendJSON(b []byte, v Value) []byte {
	switch v := v.(type) {
	case Boolean:
		return strconv.AppendBool(b, bool(v))
	case Number:
		return appendJSONNumber(b, float64(v))
	case String:
		if utf8.ValidString(string(v)) {
			return appendJSONString(b, string(v))
		}
	case Binary:
		b = append(b, `{"binary":"`...)
		b = base64.StdEncoding.AppendEncode(b, []byte(v.Data))
		b = append(b, `","type":`...)
		return append(appendJSONString(b, v.Type), '}')
	case List:
		b = append(b, '[')
		for i, item := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = AppendJSON(b, item)
		}
		return append(b, ']')
	case Record:
		if v.looksTyped() {
			return append(v.appendJSON(append(b, `{"record":`...)), '}')
		}
		return v.appendJSON(b)
	case Null:
		return append(b, "null"...)
	}
	return appendJSONText(b, v.Kind(), textForm(v))
}

func (r Record) appendJSON(b []byte) []byte {
	b = append(b, '{')
	for i, f := range r {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendJSONString(b, f.Name), ':')
		b = AppendJSON(b, f.Value)
	}
	return append(b, '}')
}

// looksTyped reports whether a record's names are those of the {"kind": …} form.
func (r Record) looksTyped() bool {
	names := make([]string, len(r))
	for i, f := range r {
		names[i] = f.Name
	}
	return typedForm(slices.Values(names))
}

// recordForm is the only name of an object around a record.
const recordForm = "record"

// typedForm reports whether an object with these names is a {"kind": …} form: it has the
// name of one kind, and otherwise only "base64" and "type".
func typedForm(names iter.Seq[string]) bool {
	kinds := 0
	for name := range names {
		switch {
		case name == "base64" || name == "type":
		case name == recordForm || slices.Contains(objectKinds[1:], name):
			kinds++
		default:
			return false
		}
	}
	return kinds == 1
}

func appendJSONNumber(b []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return appendJSONText(b, KindNumber, formatOdd(f))
	}
	format := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(b, f, format, -1, 64)
}

// formatOdd names the numbers that have no digits.
func formatOdd(f float64) string {
	switch {
	case f > 0:
		return "inf"
	case f < 0:
		return "-inf"
	}
	return "nan"
}

func parseOdd(s string) (float64, error) {
	switch s {
	case "nan":
		return math.NaN(), nil
	case "inf":
		return math.Inf(1), nil
	case "-inf":
		return math.Inf(-1), nil
	}
	return 0, fmt.Errorf("%q is no number; nan, inf and -inf are", s)
}

// sameNumber reports whether a and b would be stored alike.
func sameNumber(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
}

func appendJSONText(b []byte, k Kind, s string) []byte {
	b = append(append(append(b, `{"`...), k.String()...), `":`...)
	if utf8.ValidString(s) {
		return append(appendJSONString(b, s), '}')
	}
	b = append(b, '"')
	b = base64.StdEncoding.AppendEncode(b, []byte(s))
	return append(b, `","base64":true}`...)
}

func appendJSONString(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\r':
			b = append(b, `\r`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c < ' ':
			b = append(b, `\u00`...)
			b = append(b, hexDigits[c>>4], hexDigits[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// ParseJSON returns the value whose JSON form is text. If text is not JSON, the error
// says at which byte.
func ParseJSON(text string) (Value, error) {
	if !utf8.ValidString(text) {
		return nil, errors.New("the JSON is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	var parsed any
	if err := d.Decode(&parsed); err != nil {
		return nil, jsonError(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("there is more after the value, at byte %d", d.InputOffset())
	}
	v, err := jsonValue(parsed, 0)
	switch v.(type) {
	case Record:
		return nil, errors.New("a JSON object is a record, which can only be within a list; " +
			`a value of another kind is written as in {"date": "…"}`)
	case Null:
		return nil, errors.New("null can only be within a list")
	}
	return v, err
}

func jsonError(err error) error {
	syntax := new(json.SyntaxError)
	if errors.As(err, &syntax) {
		return fmt.Errorf("the JSON is wrong at byte %d: %w", syntax.Offset, err)
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errors.New("the JSON ends too early")
	}
	return fmt.Errorf("the JSON is wrong: %w", err)
}

func jsonValue(parsed any, depth int) (Value, error) {
	if depth > maxListDepth {
		return nil, fmt.Errorf("lists and records nest more than %d deep", maxListDepth)
	}
	switch p := parsed.(type) {
	case bool:
		return Boolean(p), nil
	case string:
		return String(p), nil
	case json.Number:
		f, err := strconv.ParseFloat(p.String(), 64)
		if err != nil {
			return nil, fmt.Errorf("%s is too large for a number", p)
		}
		return Number(f), nil
	case []any:
		list := make(List, len(p))
		for i, item := range p {
			v, err := jsonValue(item, depth+1)
			if err != nil {
				return nil, fmt.Errorf("item %d: %w", i+1, err)
			}
			list[i] = v
		}
		return list, nil
	case map[string]any:
		if !typedForm(maps.Keys(p)) {
			return jsonRecord(p, depth)
		}
		if inner, ok := p[recordForm]; ok {
			record, ok := inner.(map[string]any)
			if !ok || len(p) > 1 {
				return nil, errors.New(`{"record": …} has an object in it, and nothing beside it`)
			}
			return jsonRecord(record, depth)
		}
		return jsonObject(p)
	}
	return Null{}, nil
}

// jsonRecord returns the record for a JSON object.
func jsonRecord(p map[string]any, depth int) (Value, error) {
	fields := make(map[string]Value, len(p))
	for name, field := range p {
		v, err := jsonValue(field, depth+1)
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", name, err)
		}
		fields[name] = v
	}
	return NewRecord(fields), nil
}

// jsonObject returns the value of a {"kind": …} form, which typedForm has recognised.
func jsonObject(p map[string]any) (Value, error) {
	var (
		kind    Kind
		payload string
		mime    string
		encoded bool
	)
	for name, field := range p {
		var fits bool
		switch name {
		case "base64":
			encoded, fits = field.(bool)
		case "type":
			mime, fits = field.(string)
		default:
			kind, _ = ParseKind(name) // it is a kind: see typedForm
			payload, fits = field.(string)
		}
		if !fits {
			return nil, fmt.Errorf("the value of %q has the wrong type; "+
				`a record with this name is written {"record": {…}}`, name)
		}
	}
	if _, ok := p["type"]; ok && kind != KindBinary {
		return nil, errors.New(`only a binary has a "type"`)
	}
	if encoded || kind == KindBinary {
		raw, err := base64.StdEncoding.DecodeString(payload)
		if err != nil {
			return nil, fmt.Errorf("the base 64 is wrong: %w", err)
		}
		payload = string(raw)
	}
	return parseText(kind, mime, payload)
}

// textForm returns the text of a value that is no boolean, number or list.
func textForm(v Value) string {
	switch v := v.(type) {
	case String:
		return string(v)
	case Text:
		return string(v)
	case Outline:
		return string(v)
	case Script:
		return string(v)
	case Binary:
		return v.Data
	case Date:
		return formatDate(v)
	case Address:
		return v.String()
	}
	panic(fmt.Sprintf("objectdb: a value has the type %T", v)) // own refuses all others
}

// parseText returns the value of the given kind whose text form is s.
func parseText(kind Kind, mime, s string) (Value, error) {
	switch kind {
	case KindString:
		return String(s), nil
	case KindText:
		return Text(s), nil
	case KindOutline:
		return Outline(s), nil
	case KindScript:
		return Script(s), nil
	case KindBinary:
		return Binary{Type: mime, Data: s}, nil
	case KindDate:
		return parseDate(s)
	case KindNumber:
		f, err := parseOdd(s)
		return Number(f), err
	case KindAddress:
		a, err := ParseAddress(s)
		return a, err
	}
	return nil, fmt.Errorf("a %s is not written so", kind)
}

func formatDate(d Date) string { return d.UTC().Format(time.RFC3339Nano) }

func parseDate(s string) (Value, error) {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return nil, fmt.Errorf("%q is no date as RFC 3339 has it: %w", s, err)
	}
	return Date{t.UTC()}, nil
}
