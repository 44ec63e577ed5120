package records

import (
	"fmt"
	"maps"
	"math"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"scripter/objectdb"
)

// A Shape says which fields the records of a table have, by their folded names.
type Shape map[string]*Field

// Field says what a field may hold.
type Field struct {
	Name     string
	Kind     objectdb.Kind // 0: any
	Required bool
	Trim     bool // blanks around a text are dropped
	Integer  bool
	Unique   bool           // no two records have the same text (without regard to case) or value
	Min, Max objectdb.Value // of numbers and dates; of texts and lists the length; or nil
	Format   string         // "", "email" or "url"
	Values   []objectdb.Value
	Default  objectdb.Value // of a record that is added without it, or nil
	Now      bool           // the default is the time
	Message  string         // takes the place of all messages about the field, if it is not ""
}

// KeyField is the name that the key of a record has where a record is shown with its fields. No field has it.
const KeyField = "key"

// rules are the names in the declaration of a field.
var rules = []string{
	"default", "format", "integer", "kind", "max", "message", "min", "required", "trim", "unique", "values",
}

// kinds are those that a field can have.
var kinds = map[string]objectdb.Kind{
	"any": 0, "boolean": objectdb.KindBoolean, "number": objectdb.KindNumber, "string": objectdb.KindString,
	"text": objectdb.KindText, "date": objectdb.KindDate, "binary": objectdb.KindBinary, "list": objectdb.KindList,
	"address": objectdb.KindAddress, "table": objectdb.KindTable,
}

// NewField returns the field that a declaration describes, by the names of its rules. An error says which rule is wrong.
func NewField(name string, declared map[string]objectdb.Value) (*Field, error) {
	f := &Field{Name: name, Kind: objectdb.KindString}
	if objectdb.Fold(name) == KeyField {
		return nil, fmt.Errorf("%s: a field cannot have this name, which stands for the key", name)
	}
	if err := objectdb.CheckName(name); err != nil {
		return nil, err
	}
	if v, ok := declared["kind"]; ok {
		text, _ := v.(objectdb.String)
		kind, known := kinds[strings.ToLower(string(text))]
		if !known {
			return nil, fmt.Errorf("%s: its kind is one of %s", name, strings.Join(slices.Sorted(maps.Keys(kinds)), ", "))
		}
		f.Kind = kind
	}
	for _, rule := range slices.Sorted(maps.Keys(declared)) {
		if why := f.set(rule, declared[rule]); why != "" {
			return nil, fmt.Errorf("%s: %s %s", name, rule, why)
		}
	}
	if f.Default != nil {
		if v, p := f.check(f.Default); p != nil {
			return nil, fmt.Errorf("%s: its default %s", name, p.Text(nil))
		} else {
			f.Default = v
		}
	}
	return f, nil
}

// set sets a rule, and returns what is wrong with its value.
func (f *Field) set(rule string, v objectdb.Value) (why string) {
	flag, isFlag := v.(objectdb.Boolean)
	text, isText := v.(objectdb.String)
	switch rule {
	case "kind":
	case "required", "trim", "integer", "unique":
		if !isFlag {
			return "is true or false"
		}
		*map[string]*bool{"required": &f.Required, "trim": &f.Trim, "integer": &f.Integer, "unique": &f.Unique}[rule] = bool(flag)
	case "min", "max":
		switch v.(type) {
		case objectdb.Number:
			if f.Kind == objectdb.KindDate || f.Kind == objectdb.KindBoolean {
				return "must be a date for a date"
			}
		case objectdb.Date:
			if f.Kind != objectdb.KindDate {
				return "is a date only for dates"
			}
		default:
			return "is a number, or a date for dates"
		}
		if rule == "min" {
			f.Min = v
		} else {
			f.Max = v
		}
	case "format":
		if text != "email" && text != "url" {
			return `is "email" or "url"`
		}
		f.Format = string(text)
	case "values":
		list, ok := v.(objectdb.List)
		if !ok || len(list) == 0 {
			return "is a list of the values that are allowed"
		}
		f.Values = list
	case "default":
		if f.Kind == objectdb.KindDate && text == "now" {
			f.Now = true
			return ""
		}
		f.Default = v
	case "message":
		if !isText {
			return "is a text"
		}
		f.Message = string(text)
	default:
		return "is no rule; the rules are " + strings.Join(rules, ", ")
	}
	return ""
}

// A Problem says which rule a value breaks.
type Problem struct {
	Field string // as it is spelled in the shape, or in the record
	Rule  string // "required", "kind", "integer", "min", "max", "format", "values", "unique", "unknown"
	// Kind, Limit and Values are what the messages tell of the rule.
	Kind   objectdb.Kind
	Limit  objectdb.Value
	Values []objectdb.Value
	own    string // Field.Message
}

// texts are the messages, by rule and, after a dot, what the field holds. {limit}, {kind} and {values} stand for what
// the field declares.
var texts = map[string]string{
	"required":   "must be filled in",
	"kind":       "must be a {kind}",
	"integer":    "must be a whole number",
	"min":        "must be {limit} or more",
	"max":        "must be {limit} or less",
	"min.date":   "must be {limit} or later",
	"max.date":   "must be {limit} or earlier",
	"min.length": "must have {limit} characters or more",
	"max.length": "must have {limit} characters or less",
	"min.items":  "must have {limit} items or more",
	"max.items":  "must have {limit} items or less",
	"format":     "must be an address",
	"email":      "must be an e-mail address",
	"url":        "must be an address that begins with http:// or https://",
	"values":     "must be one of: {values}",
	"unique":     "is taken",
	"unknown":    "is no field of these records",
	"key":        "is the key, which cannot be set",
}

// Text returns the message. messages has other texts, by rule; it may be nil.
func (p *Problem) Text(messages map[string]string) string {
	if p.own != "" {
		return p.own
	}
	text := texts[p.Rule]
	if other := messages[p.Rule]; other != "" {
		text = other
	}
	kind := p.Kind.String()
	if p.Kind == objectdb.KindBoolean {
		kind = "boolean (true or false)"
	}
	values := make([]string, len(p.Values))
	for i, v := range p.Values {
		values[i] = shown(v)
	}
	return strings.NewReplacer("{limit}", shown(p.Limit), "{kind}", kind, "{values}", strings.Join(values, ", ")).Replace(text)
}

// shown returns a value as messages tell it.
func shown(v objectdb.Value) string {
	switch v := v.(type) {
	case nil:
		return ""
	case objectdb.Number:
		return strconv.FormatFloat(float64(v), 'f', -1, 64)
	case objectdb.Date:
		if v.Equal(v.Truncate(24 * time.Hour)) {
			return v.Format(time.DateOnly)
		}
		return v.Format(time.RFC3339)
	}
	return objectdb.EncodeText(v)
}

// check returns a value in the kind of the field, or what is wrong with it. The value is not nil. Forms send texts, so
// that a text is taken for a number, date or boolean if it is one; then an empty text is no value.
func (f *Field) check(v objectdb.Value) (objectdb.Value, *Problem) {
	if text, ok := v.(objectdb.String); ok {
		if f.Trim || f.Kind != objectdb.KindString && f.Kind != objectdb.KindText && f.Kind != 0 {
			text = objectdb.String(strings.TrimSpace(string(text)))
		}
		if v = f.converted(text); v == nil {
			return nil, f.missing()
		}
		if objectdb.EncodeText(v) == "" {
			return v, nil // an optional text that was left empty
		}
	}
	if f.Kind != 0 && v.Kind() != f.Kind {
		return nil, &Problem{Field: f.Name, Rule: "kind", Kind: f.Kind, own: f.Message}
	}
	for _, part := range []func(objectdb.Value) *Problem{f.checkBounds, f.checkFormat, f.checkValues} {
		if p := part(v); p != nil {
			p.Field, p.own = f.Name, f.Message
			return nil, p
		}
	}
	return v, nil
}

// missing returns the problem that a field has no value, if it must have one.
func (f *Field) missing() *Problem {
	if !f.Required {
		return nil
	}
	return &Problem{Field: f.Name, Rule: "required", own: f.Message}
}

// converted returns a text in the kind of the field if it can be read so; nil if it is empty.
func (f *Field) converted(text objectdb.String) objectdb.Value {
	s := string(text)
	if s == "" && (f.Required || f.Kind != objectdb.KindString && f.Kind != objectdb.KindText && f.Kind != 0) {
		return nil
	}
	switch f.Kind {
	case objectdb.KindText:
		return objectdb.Text(s)
	case objectdb.KindNumber:
		if n, err := strconv.ParseFloat(s, 64); err == nil && !math.IsNaN(n) && !math.IsInf(n, 0) {
			return objectdb.Number(n)
		}
	case objectdb.KindBoolean:
		switch strings.ToLower(s) {
		case "true", "on", "yes", "1":
			return objectdb.Boolean(true)
		case "false", "off", "no", "0":
			return objectdb.Boolean(false)
		}
	case objectdb.KindDate:
		for _, layout := range []string{
			time.DateOnly, "2006-01-02T15:04", "2006-01-02T15:04:05", time.RFC3339Nano, time.DateTime,
		} {
			if d, err := time.Parse(layout, s); err == nil {
				return objectdb.Date{Time: d.UTC()}
			}
		}
	}
	return text
}

func (f *Field) checkBounds(v objectdb.Value) *Problem {
	subject, suffix := v, ""
	switch v := v.(type) {
	case objectdb.Number:
		if f.Integer && float64(v) != math.Trunc(float64(v)) {
			return &Problem{Rule: "integer"}
		}
	case objectdb.Date:
		suffix = ".date"
	case objectdb.String, objectdb.Text, objectdb.Outline, objectdb.Script:
		subject, suffix = objectdb.Number(utf8.RuneCountInString(objectdb.EncodeText(v))), ".length"
	case objectdb.List:
		subject, suffix = objectdb.Number(len(v)), ".items"
	case objectdb.Binary:
		subject, suffix = objectdb.Number(len(v.Data)), ".length"
	default:
		return nil
	}
	if f.Min != nil && compare(subject, f.Min) < 0 {
		return &Problem{Rule: "min" + suffix, Limit: f.Min}
	}
	if f.Max != nil && compare(subject, f.Max) > 0 {
		return &Problem{Rule: "max" + suffix, Limit: f.Max}
	}
	return nil
}

func (f *Field) checkFormat(v objectdb.Value) *Problem {
	text, ok := textOf(v)
	if f.Format == "" || !ok {
		return nil
	}
	switch f.Format {
	case "email":
		a, err := mail.ParseAddress(text)
		ok = err == nil && a.Address == text && !strings.ContainsAny(text, "\r\n \"")
	case "url":
		u, err := url.Parse(text)
		ok = err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && !strings.ContainsAny(text, " \"<>\r\n")
	}
	if !ok {
		return &Problem{Rule: f.Format}
	}
	return nil
}

func (f *Field) checkValues(v objectdb.Value) *Problem {
	if f.Values == nil || slices.ContainsFunc(f.Values, func(a objectdb.Value) bool { return same(a, v) }) {
		return nil
	}
	return &Problem{Rule: "values", Values: f.Values}
}

// ReadShape returns the declared shape of a table, or nil if none is declared.
func ReadShape(tx *objectdb.Tx, table objectdb.Address) (Shape, error) {
	n, err := found(tx, Declaration(table, "shape"))
	if err != nil || n == nil || n.Kind() != objectdb.KindTable {
		return nil, err
	}
	fields, err := tx.Children(n)
	if err != nil {
		return nil, err
	}
	s := Shape{}
	for _, f := range fields {
		declared := map[string]objectdb.Value{}
		if f.Kind() != objectdb.KindTable {
			return nil, fmt.Errorf("the shape of %s: %s must be a table of rules", table, f.Name())
		}
		list, err := tx.Children(f)
		if err != nil {
			return nil, err
		}
		for _, rule := range list {
			if rule.Kind() == objectdb.KindTable {
				return nil, fmt.Errorf("the shape of %s: %s: %s is a table", table, f.Name(), rule.Name())
			}
			if declared[objectdb.Fold(rule.Name())], err = tx.Value(rule); err != nil {
				return nil, err
			}
		}
		field, err := NewField(f.Name(), declared)
		if err != nil {
			return nil, fmt.Errorf("the shape of %s: %w", table, err)
		}
		s[objectdb.Fold(f.Name())] = field
	}
	return s, nil
}

// ReadMessages returns the texts that Problem.Text shall use.
func ReadMessages(tx *objectdb.Tx) (map[string]string, error) {
	n, err := found(tx, Messages)
	if err != nil || n == nil || n.Kind() != objectdb.KindTable {
		return nil, err
	}
	list, err := tx.Children(n)
	if err != nil {
		return nil, err
	}
	messages := map[string]string{}
	for _, m := range list {
		if m.Kind() == objectdb.KindTable {
			continue
		}
		v, err := tx.Value(m)
		if err != nil {
			return nil, err
		}
		messages[objectdb.Fold(m.Name())] = objectdb.EncodeText(v)
	}
	return messages, nil
}
