package objectdb

import (
	"crypto/sha256"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// EncodeColumn returns the form in which a store keeps a value in a column: an int64, a
// float64, a string or a []byte, and nil for nil.
func EncodeColumn(v Value) any {
	switch v := v.(type) {
	case nil:
		return nil
	case Boolean:
		if v {
			return int64(1)
		}
		return int64(0)
	case Number:
		if math.IsNaN(float64(v)) { // SQLite would store NULL
			return "nan"
		}
		return float64(v)
	case Binary:
		return []byte(v.Data)
	case List:
		return string(AppendJSON(nil, v))
	}
	s := textForm(v)
	if strings.IndexByte(s, 0) >= 0 || !utf8.ValidString(s) { // SQL has no text for it
		return []byte(s)
	}
	return s
}

// EncodeText returns the form in which a store keeps a value, other than nil, in a column that
// has only texts or bytes.
func EncodeText(v Value) string {
	switch column := EncodeColumn(v).(type) {
	case []byte:
		return string(column)
	case string:
		return column
	default:
		return fmt.Sprint(column)
	}
}

// StorableText returns a text from outside in a form that every store can hold: UTF-8 without NUL.
func StorableText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", "\ufffd")
}

// HashColumn returns the SHA-256 of the form in which a store keeps a value (EncodeText), or nil
// for a nil value.
func HashColumn(v Value) []byte {
	if v == nil {
		return nil
	}
	sum := sha256.Sum256([]byte(EncodeText(v)))
	return sum[:]
}

// DecodeText returns the value that EncodeText has encoded as s. mime is the type of a binary.
func DecodeText(k Kind, mime, s string) (Value, error) {
	switch k {
	case KindBoolean:
		if s == "0" || s == "1" {
			return Boolean(s == "1"), nil
		}
		return nil, fmt.Errorf("it is not a boolean: %q", s)
	case KindNumber:
		n, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return nil, fmt.Errorf("it is not a number: %w", err)
		}
		return Number(n), nil
	case KindList:
		return decodeList(s)
	}
	return parseText(k, mime, s)
}

// DecodeColumn returns the value that EncodeColumn has made column of. mime is the type
// of a binary.
func DecodeColumn(k Kind, mime string, column any) (Value, error) {
	switch c := column.(type) {
	case int64:
		if k == KindBoolean && (c == 0 || c == 1) {
			return Boolean(c == 1), nil
		}
	case float64:
		if k == KindNumber {
			return Number(c), nil
		}
	case []byte:
		switch k {
		case KindBinary, KindString, KindText, KindOutline, KindScript:
			return parseText(k, mime, string(c))
		}
	case string:
		switch k {
		case KindList:
			return decodeList(c)
		case KindBinary, KindBoolean, KindTable:
		default:
			return parseText(k, "", c)
		}
	}
	return nil, fmt.Errorf("it is stored as %T", column)
}

func decodeList(column string) (Value, error) {
	v, err := ParseJSON(column)
	if err != nil {
		return nil, err
	}
	if _, ok := v.(List); !ok {
		return nil, fmt.Errorf("it is a %s", v.Kind())
	}
	return v, nil
}
