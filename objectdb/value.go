package objectdb

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Kind says what sort of object lies at an address.
type Kind uint8

// The kinds. A table holds other objects; all other kinds hold a Value.
const (
	KindBoolean Kind = iota + 1
	KindNumber
	KindString
	KindText
	KindOutline
	KindScript
	KindDate
	KindBinary
	KindList
	KindAddress
	KindTable

	// KindRecord and KindNull are kinds of items in a list. No object has them.
	KindRecord
	KindNull
)

var kindNames = [...]string{
	KindBoolean: "boolean",
	KindNumber:  "number",
	KindString:  "string",
	KindText:    "text",
	KindOutline: "outline",
	KindScript:  "script",
	KindDate:    "date",
	KindBinary:  "binary",
	KindList:    "list",
	KindAddress: "address",
	KindTable:   "table",
	KindRecord:  "record",
	KindNull:    "null",
}

// objectKinds are the names of the kinds that an object can have, by kind.
var objectKinds = kindNames[:KindTable+1]

// String returns the kind's name, such as "script".
func (k Kind) String() string {
	if k == 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("kind(%d)", uint8(k))
	}
	return kindNames[k]
}

// ParseKind returns the kind of object with the name s. Case does not matter.
func ParseKind(s string) (Kind, error) {
	for k, name := range objectKinds {
		if name != "" && strings.EqualFold(name, s) {
			return Kind(k), nil
		}
	}
	return 0, fmt.Errorf("objectdb: %q is no kind; the kinds are %s", s, strings.Join(objectKinds[1:], ", "))
}

// A Value is what an object other than a table holds. The types of this
// package are the only ones that can be stored. A Value that was read from
// the database is shared: copy a List, a Record or an Address before you change it.
type Value interface{ Kind() Kind }

type (
	// Boolean is true or false.
	Boolean bool
	// Number is a double. Integers to 2^53 are exact; NaN, the infinities
	// and negative zero are kept.
	Number float64
	// String is any bytes, as a rule a short text in UTF-8.
	String string
	// Text is a longer text that is edited as such, a page for instance.
	Text string
	// Outline is a text whose lines have a depth: the number of tabs before them.
	Outline string
	// Script is the source of a Lua chunk.
	Script string
	// Date is an instant, to the nanosecond, in UTC, in the years 0 to 9999.
	Date struct{ time.Time }
	// Binary is any bytes and the MIME type that says what they are.
	Binary struct{ Type, Data string }
	// List is a sequence of values of any kinds but table, and of records and
	// nulls: all that JSON can say. Lists nest.
	List []Value
	// Record is an item of a list that has fields: a JSON object. The fields are in
	// the order of their names, which are any UTF-8, each once. No object is a
	// record: what has names of its own in the root is a table.
	Record []Field
	// Field is one field of a Record.
	Field struct {
		Name  string
		Value Value
	}
	// Null is an item of a list, or a field of a record, that is JSON's null.
	Null struct{}
)

// NewRecord returns the record with these fields.
func NewRecord(fields map[string]Value) Record {
	r := make(Record, 0, len(fields))
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		r = append(r, Field{name, fields[name]})
	}
	return r
}

func (Boolean) Kind() Kind { return KindBoolean }
func (Number) Kind() Kind  { return KindNumber }
func (String) Kind() Kind  { return KindString }
func (Text) Kind() Kind    { return KindText }
func (Outline) Kind() Kind { return KindOutline }
func (Script) Kind() Kind  { return KindScript }
func (Date) Kind() Kind    { return KindDate }
func (Binary) Kind() Kind  { return KindBinary }
func (List) Kind() Kind    { return KindList }
func (Address) Kind() Kind { return KindAddress }
func (Record) Kind() Kind  { return KindRecord }
func (Null) Kind() Kind    { return KindNull }

// MaxValue is the size of the largest value, in bytes.
const MaxValue = 1 << 29 // SQLite's own limit is 10^9 bytes for a whole row

const (
	maxTypeBytes = 255
	maxListDepth = 200
)

// own returns a copy of v that shares nothing its caller could change, in the
// one form in which it is stored, and the number of bytes it takes.
func own(v Value) (Value, int64, error) {
	switch v.(type) {
	case Record, Null:
		return nil, 0, fmt.Errorf("%w: a %s can only be within a list", ErrValue, v.Kind())
	}
	v, err := ownNested(v, 0)
	if err != nil {
		return nil, 0, err
	}
	var size int64
	switch v := v.(type) {
	case Boolean:
		size = 1
	case Number:
		size = 8
	case List:
		size = int64(len(AppendJSON(nil, v)))
	default:
		size = int64(len(textForm(v)))
	}
	if size > MaxValue {
		return nil, 0, fmt.Errorf("%w: %d bytes are more than %d", ErrValue, size, MaxValue)
	}
	return v, size, nil
}

func ownNested(v Value, depth int) (Value, error) {
	switch v := v.(type) {
	case Boolean, Number, String, Text, Outline, Script, Null:
		return v, nil
	case Date:
		utc := v.Time.Round(0).UTC()
		if y := utc.Year(); y < 0 || y > 9999 {
			return nil, fmt.Errorf("%w: year %d is not in 0 to 9999", ErrValue, y)
		}
		return Date{utc}, nil
	case Binary:
		return v, checkType(v.Type)
	case Address:
		for _, name := range v {
			if err := CheckName(name); err != nil {
				return nil, err
			}
		}
		return slices.Clone(v), nil
	case List:
		if depth == maxListDepth {
			return nil, errListDepth
		}
		list := make(List, len(v))
		for i, item := range v {
			var err error
			if list[i], err = ownNested(item, depth+1); err != nil {
				return nil, fmt.Errorf("item %d: %w", i+1, err)
			}
		}
		return list, nil
	case Record:
		if depth == maxListDepth {
			return nil, errListDepth
		}
		return v.own(depth)
	case nil:
		return nil, fmt.Errorf("%w: there is none", ErrValue)
	}
	return nil, fmt.Errorf("%w: its Go type is %T", ErrValue, v)
}

var errListDepth = fmt.Errorf("%w: lists and records nest more than %d deep", ErrValue, maxListDepth)

func (r Record) own(depth int) (Value, error) {
	record := make(Record, len(r))
	for i, f := range r {
		if !utf8.ValidString(f.Name) {
			return nil, fmt.Errorf("%w: the name %q of a field is not UTF-8", ErrValue, f.Name)
		}
		v, err := ownNested(f.Value, depth+1)
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", f.Name, err)
		}
		record[i] = Field{f.Name, v}
	}
	slices.SortFunc(record, func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
	for i := 1; i < len(record); i++ {
		if record[i].Name == record[i-1].Name {
			return nil, fmt.Errorf("%w: the field %q occurs twice", ErrValue, record[i].Name)
		}
	}
	return record, nil
}

func checkType(mime string) error {
	if len(mime) > maxTypeBytes || !utf8.ValidString(mime) {
		return fmt.Errorf("%w: a MIME type is at most %d bytes of UTF-8", ErrValue, maxTypeBytes)
	}
	for _, r := range mime {
		if r < ' ' || r == 0x7f {
			return fmt.Errorf("%w: the MIME type %q holds a control character", ErrValue, mime)
		}
	}
	return nil
}

// Equal reports whether a and b are the same value of the same kind. Numbers
// are the same when their bits are, all kinds of NaN being one; addresses
// when they have the same names, letter for letter.
func Equal(a, b Value) bool {
	switch a := a.(type) {
	case Number:
		b, ok := b.(Number)
		return ok && sameNumber(float64(a), float64(b))
	case Date:
		b, ok := b.(Date)
		return ok && a.Time.Equal(b.Time)
	case Address:
		b, ok := b.(Address)
		return ok && slices.Equal(a, b)
	case List:
		b, ok := b.(List)
		return ok && slices.EqualFunc(a, b, Equal)
	case Record:
		b, ok := b.(Record)
		return ok && slices.EqualFunc(a, b, func(a, b Field) bool { return a.Name == b.Name && Equal(a.Value, b.Value) })
	case nil:
		return b == nil
	}
	switch b.(type) {
	case List, Record, Address: // not comparable with ==
		return false
	}
	return a == b
}
