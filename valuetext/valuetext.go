// Package valuetext writes values of the root as people read and type them, for the commands and
// the web page.
//
// Format returns the text of a value, and Parse reads it again. JSON returns what programs read, and
// KindOf the kind that a file becomes.
// None of them is the stored form: the JSON form of package objectdb is, which loses nothing.
package valuetext

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"mime"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"scripter/objectdb"
)

// Format returns the text of a value. A list is JSON in one line, and a date is as RFC 3339 has it.
func Format(v objectdb.Value) string {
	switch v := v.(type) {
	case objectdb.Boolean:
		return strconv.FormatBool(bool(v))
	case objectdb.Number:
		return number(float64(v))
	case objectdb.String:
		return string(v)
	case objectdb.Text:
		return string(v)
	case objectdb.Outline:
		return string(v)
	case objectdb.Script:
		return string(v)
	case objectdb.Date:
		return v.Time.Format(time.RFC3339Nano)
	case objectdb.Binary:
		return v.Data
	case objectdb.Address:
		return v.String()
	case objectdb.List:
		b, err := json.Marshal(JSON(v))
		if err != nil {
			return ""
		}
		return string(b)
	}
	return ""
}

// Indented does what Format does, but a list has a line for each item.
func Indented(v objectdb.Value) string {
	text := Format(v)
	if v.Kind() == objectdb.KindList {
		var b bytes.Buffer
		if err := json.Indent(&b, []byte(text), "", "  "); err == nil {
			return b.String() + "\n"
		}
	}
	return text
}

// number writes a number exactly, and with an exponent only where it would have many zeros: as
// JSON does.
func number(n float64) string {
	if size := math.Abs(n); size != 0 && (size < 1e-6 || size >= 1e21) || math.IsNaN(n) {
		return strconv.FormatFloat(n, 'g', -1, 64)
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

// JSON returns a value as package json encodes it: booleans, numbers, strings, slices and maps. A
// binary is in base 64.
func JSON(v objectdb.Value) any {
	switch v := v.(type) {
	case objectdb.Boolean:
		return bool(v)
	case objectdb.Number:
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return Format(v)
		}
		return float64(v)
	case objectdb.List:
		list := []any{}
		for _, e := range v {
			list = append(list, JSON(e))
		}
		return list
	case objectdb.Record:
		m := map[string]any{}
		for _, f := range v {
			m[f.Name] = JSON(f.Value)
		}
		return m
	case objectdb.Null:
		return nil
	case objectdb.Binary:
		return base64.StdEncoding.EncodeToString([]byte(v.Data))
	}
	return Format(v)
}

// Parse returns the value of a kind that a text stands for. A binary gets no type.
func Parse(k objectdb.Kind, text string) (objectdb.Value, error) {
	word := strings.TrimSpace(text)
	bad := func(what string) error { return fmt.Errorf("%.60q is no %s: %s", word, k, what) }
	switch k {
	case objectdb.KindBoolean:
		if word != "true" && word != "false" {
			return nil, bad("it is true or false")
		}
		return objectdb.Boolean(word == "true"), nil
	case objectdb.KindNumber:
		n, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return nil, bad("it is decimal, such as 12.5 or 1e6")
		}
		return objectdb.Number(n), nil
	case objectdb.KindString:
		return objectdb.String(text), nil
	case objectdb.KindText:
		return objectdb.Text(text), nil
	case objectdb.KindOutline:
		return objectdb.Outline(text), nil
	case objectdb.KindScript:
		return objectdb.Script(text), nil
	case objectdb.KindDate:
		d, err := time.Parse(time.RFC3339Nano, word)
		if err != nil {
			return nil, bad("it is like 2026-01-31T18:30:00Z")
		}
		return objectdb.Date{Time: d.UTC()}, nil
	case objectdb.KindBinary:
		return objectdb.Binary{Data: text}, nil
	case objectdb.KindAddress:
		return objectdb.ParseAddress(word)
	case objectdb.KindList:
		var items []any
		if err := json.Unmarshal([]byte(word), &items); err != nil || items == nil || !utf8.ValidString(word) {
			return nil, bad(`it is written as JSON, such as [1, "two", true, {"a": []}]`)
		}
		return itemOf(items), nil
	}
	return nil, fmt.Errorf("a %s cannot be put", k)
}

// KindOf returns the kind of object that the content of a file becomes, by the suffix of its name.
func KindOf(file string) objectdb.Kind {
	switch ext := strings.ToLower(filepath.Ext(file)); ext {
	case "", ".str":
		return objectdb.KindString
	case ".lua":
		return objectdb.KindScript
	case ".txt", ".html", ".htm", ".md", ".css", ".js":
		return objectdb.KindText
	default:
		if mime.TypeByExtension(ext) != "" {
			return objectdb.KindBinary
		}
	}
	return objectdb.KindString
}

// itemOf returns the list, or the item of a list, for a value of the JSON decoder.
func itemOf(decoded any) objectdb.Value {
	switch d := decoded.(type) {
	case string:
		return objectdb.String(d)
	case float64:
		return objectdb.Number(d)
	case bool:
		return objectdb.Boolean(d)
	case []any:
		list := make(objectdb.List, len(d))
		for i, item := range d {
			list[i] = itemOf(item)
		}
		return list
	case map[string]any:
		fields := make(map[string]objectdb.Value, len(d))
		for name, field := range d {
			fields[name] = itemOf(field)
		}
		return objectdb.NewRecord(fields)
	}
	return objectdb.Null{}
}

// Count returns a number with its noun, such as "1,204 bytes".
func Count(n int, noun string) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	if n != 1 {
		noun += "s"
	}
	return digits + " " + noun
}

// Time returns a time to the second, in UTC.
func Time(t time.Time) string { return t.UTC().Format(time.DateTime) }
