package objectdb

import (
	"database/sql/driver"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"
)

// readNode reads the node of the one row that a query gives; nil when it gives none.
func (c *conn) readNode(s statement, args ...driver.Value) (*Node, error) {
	var row [11]driver.Value
	switch err := c.one(row[:], s, args...); err {
	case nil:
		return rowNode(&row)
	case io.EOF:
		return nil, nil
	default:
		return nil, err
	}
}

// readNodes calls fn with each row of a query.
func (c *conn) readNodes(fn func(*Node) error, s statement, args ...driver.Value) error {
	rows, err := c.query(s, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	var row [11]driver.Value
	for {
		if err := rows.Next(row[:]); err == io.EOF {
			return nil
		} else if err != nil {
			return sqlError(err)
		}
		n, err := rowNode(&row)
		if err != nil {
			return err
		}
		if err := fn(n); err != nil {
			return err
		}
	}
}

// rowNode makes a node of a row with the columns rowColumns and a value.
func rowNode(row *[11]driver.Value) (*Node, error) {
	n := new(Node)
	var kind string
	ok := scan(&n.id, row[0]) && scan(&n.parent, row[1]) && scan(&n.name, row[2]) && scan(&n.fold, row[3]) &&
		scan(&kind, row[4]) && scan(&n.ver, row[5]) && scan(&n.created, row[6]) && scan(&n.modified, row[7]) &&
		scan(&n.size, row[8]) && scan(&n.typ, row[9])
	if !ok {
		return nil, fmt.Errorf("%w: object %v has a column of the wrong type", ErrDamaged, row[0])
	}
	for k, name := range objectKinds {
		if name == kind && k > 0 {
			n.kind = Kind(k)
		}
	}
	if n.kind == 0 {
		return nil, fmt.Errorf("%w: object %d is of the unknown kind %q", ErrDamaged, n.id, kind)
	}
	if row[10] == nil {
		return n, nil
	}
	var err error
	if n.value, err = decodeColumn(n.kind, n.typ, row[10]); err != nil {
		return nil, fmt.Errorf("%w: the value of object %d (%s) is wrong: %w", ErrDamaged, n.id, kind, err)
	}
	return n, nil
}

func scan[T any](dest *T, column driver.Value) bool {
	v, ok := column.(T)
	*dest = v
	return ok
}

// encodeColumn gives the form in which a value stands in its column.
func encodeColumn(v Value) driver.Value {
	switch v := v.(type) {
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
	case String:
		return textColumn(string(v))
	case Text:
		return textColumn(string(v))
	case Outline:
		return textColumn(string(v))
	case Script:
		return textColumn(string(v))
	case Date:
		return formatDate(v)
	case Binary:
		return []byte(v.Data)
	case Address:
		return v.String()
	case List:
		return string(AppendJSON(nil, v))
	}
	return nil
}

// textColumn gives a TEXT, or a BLOB where SQL has no text for it.
func textColumn(s string) driver.Value {
	if strings.IndexByte(s, 0) >= 0 || !utf8.ValidString(s) {
		return []byte(s)
	}
	return s
}

func decodeColumn(k Kind, mime string, column driver.Value) (Value, error) {
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
