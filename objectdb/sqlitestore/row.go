package sqlitestore

import (
	"database/sql/driver"
	"fmt"
	"io"
	"math"

	"scripter/objectdb"
)

// maxValue is the limit of a query that reads a value of any length with its row.
const maxValue int64 = math.MaxInt64

// row reads the one row that a query returns.
func (c *conn) row(s statement, args ...driver.Value) (objectdb.Row, error) {
	var columns [12]driver.Value
	if err := orNotFound(c.found(columns[:], s, args...)); err != nil {
		return objectdb.Row{}, err
	}
	return objectRow(&columns)
}

// rows calls fn with each row of a query, or with why it cannot be read.
func (c *conn) rows(fn func(objectdb.Row, error) error, s statement, args ...driver.Value) error {
	rows, err := c.query(s, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	var columns [12]driver.Value
	for {
		if err := rows.Next(columns[:]); err == io.EOF {
			return nil
		} else if err != nil {
			return sqlError(err)
		}
		if err := fn(objectRow(&columns)); err != nil {
			return err
		}
	}
}

// soundRows calls fn with each row of a query, until one cannot be read.
func (c *conn) soundRows(fn func(objectdb.Row) error, s statement, args ...driver.Value) error {
	return c.rows(func(row objectdb.Row, err error) error {
		if err != nil {
			return err
		}
		return fn(row)
	}, s, args...)
}

// count reads the one number that a query returns.
func (c *conn) count(s statement, args ...driver.Value) (int, error) {
	var row [1]driver.Value
	if err := c.one(row[:], s, args...); err != nil {
		return 0, err
	}
	n, _ := row[0].(int64)
	return int(n), nil
}

// kinds are the kinds of objects by their names.
var kinds = func() map[string]objectdb.Kind {
	m := map[string]objectdb.Kind{}
	for k := objectdb.KindBoolean; k <= objectdb.KindTable; k++ {
		m[k.String()] = k
	}
	return m
}()

// objectRow makes a row of the columns rowColumns and a value. With an error it has the
// id only.
func objectRow(columns *[12]driver.Value) (objectdb.Row, error) {
	var r objectdb.Row
	var kind string
	failed := func(format string, args ...any) (objectdb.Row, error) {
		return objectdb.Row{ID: r.ID}, fmt.Errorf("%w: "+format, append([]any{objectdb.ErrDamaged}, args...)...)
	}
	ok := scan(&r.ID, columns[0]) && scan(&r.Parent, columns[1]) &&
		scan(&r.Name, columns[2]) && scan(&r.Fold, columns[3]) && scan(&kind, columns[4]) &&
		scan(&r.Version, columns[5]) && scan(&r.Created, columns[6]) && scan(&r.Modified, columns[7]) &&
		scan(&r.Size, columns[8]) && scan(&r.Type, columns[9]) && scan(&r.Kept, columns[10])
	if !ok {
		return failed("object %v has a column of the wrong type", columns[0])
	}
	if r.Kind = kinds[kind]; r.Kind == 0 {
		return failed("object %d is of the unknown kind %q", r.ID, kind)
	}
	if columns[11] == nil {
		return r, nil
	}
	var err error
	if r.Value, err = objectdb.DecodeColumn(r.Kind, r.Type, columns[11]); err != nil {
		return failed("the value of object %d (%s) is wrong: %w", r.ID, kind, err)
	}
	return r, nil
}

func scan[T any](dest *T, column driver.Value) bool {
	v, ok := column.(T)
	*dest = v
	return ok
}
