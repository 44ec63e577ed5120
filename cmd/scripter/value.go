package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"scripter/objectdb"
)

// valueText returns the text of a value as the command line prints and reads it.
func valueText(v objectdb.Value) string {
	switch v := v.(type) {
	case objectdb.Boolean:
		return strconv.FormatBool(bool(v))
	case objectdb.Number:
		return numberText(float64(v))
	case objectdb.String:
		return string(v)
	case objectdb.Text:
		return string(v)
	case objectdb.Outline:
		return string(v)
	case objectdb.Script:
		return string(v)
	case objectdb.Date:
		return v.Format(time.RFC3339Nano)
	case objectdb.Binary:
		return v.Data
	case objectdb.Address:
		return v.String()
	case objectdb.List:
		b, err := json.Marshal(jsonValue(v))
		if err != nil {
			return ""
		}
		return string(b)
	}
	return ""
}

// numberText writes a number exactly, and with an exponent only where it would have
// many zeros: as JSON does.
func numberText(n float64) string {
	if size := math.Abs(n); size != 0 && (size < 1e-6 || size >= 1e21) || math.IsNaN(n) {
		return strconv.FormatFloat(n, 'g', -1, 64)
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

// jsonObject returns what --json prints of an object.
func jsonObject(a objectdb.Address, o objectdb.Object, v objectdb.Value) map[string]any {
	m := map[string]any{
		"address": a.String(), "name": o.Name, "kind": o.Kind.String(), "version": o.Version,
		"created": o.Created.UTC(), "modified": o.Modified.UTC(), "size": o.Size,
	}
	if o.Type != "" {
		m["type"] = o.Type
	}
	if v != nil {
		m["value"] = jsonValue(v)
	}
	return m
}

func jsonValue(v objectdb.Value) any {
	switch v := v.(type) {
	case objectdb.Boolean:
		return bool(v)
	case objectdb.Number:
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return valueText(v)
		}
		return float64(v)
	case objectdb.List:
		list := []any{}
		for _, e := range v {
			list = append(list, jsonValue(e))
		}
		return list
	case objectdb.Record:
		m := map[string]any{}
		for _, f := range v {
			m[f.Name] = jsonValue(f.Value)
		}
		return m
	case objectdb.Null:
		return nil
	case objectdb.Binary:
		return base64.StdEncoding.EncodeToString([]byte(v.Data))
	}
	return valueText(v)
}

// parseValue reads a value of a kind from text.
func parseValue(k objectdb.Kind, text, file string) (objectdb.Value, error) {
	word := strings.TrimSpace(text)
	bad := func(what string) error { return usageError{fmt.Errorf("%.60q is no %s: %s", word, k, what)} }
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
		if file == "-" {
			text = strings.TrimSuffix(text, "\n") // echo adds one
		}
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
		return parseList(word, bad)
	}
	return nil, fmt.Errorf("a %s cannot be put", k)
}

// parseList returns the list that a JSON text stands for.
func parseList(word string, bad func(string) error) (objectdb.Value, error) {
	var elements []any
	if err := json.Unmarshal([]byte(word), &elements); err != nil || elements == nil || !utf8.ValidString(word) {
		return nil, bad(`it is written as JSON, such as [1, "two", true, {"a": []}]`)
	}
	return itemOf(elements), nil
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
