package csv

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"scripter/script"
)

func parse(v *script.Call) error {
	text := strings.TrimPrefix(v.String(1), "\ufeff") // spreadsheets write a byte order mark
	o := v.Options(2, "header", "separator", "lenient")
	lenient := o.Bool("lenient", false)
	r := csv.NewReader(strings.NewReader(text))
	r.Comma, r.LazyQuotes, r.ReuseRecord = separator(v, o), lenient, true
	if lenient {
		r.FieldsPerRecord = -1
	}
	var names []string
	if o.Bool("header", false) {
		first, err := r.Read()
		switch {
		case errors.Is(err, io.EOF):
			v.Return(script.NewList())
			return nil
		case err != nil:
			return reworded(err)
		}
		names = append(names, first...)
		if err := checkNames(names); err != nil {
			return err
		}
	}
	rows := script.NewList()
	for {
		fields, err := r.Read()
		if errors.Is(err, io.EOF) {
			v.Return(rows)
			return nil
		}
		if err != nil {
			return reworded(err)
		}
		v.Charge(fieldCharge * (len(fields) + 1))
		rows.Append(row(fields, names))
	}
}

// row returns the fields as a list, or by the names of the columns if there are any.
func row(fields, names []string) *script.Table {
	if names == nil {
		list := script.NewList()
		for _, f := range fields {
			list.Append(strings.Clone(f))
		}
		return list
	}
	t := script.NewTableFor(len(names))
	for i, name := range names {
		if i < len(fields) {
			t.Set(name, strings.Clone(fields[i]))
		}
	}
	return t
}

// checkNames returns an error if rows could not be tables by these names.
func checkNames(names []string) error {
	seen := make(map[string]bool, len(names))
	for i, name := range names {
		if name == "" {
			return fmt.Errorf("column %d has no name in the first row", i+1)
		}
		if seen[name] {
			return fmt.Errorf("two columns are called %.40q", name)
		}
		seen[name] = true
	}
	return nil
}

// reworded returns an error of encoding/csv with line and column as other messages have them.
func reworded(err error) error {
	var e *csv.ParseError
	if !errors.As(err, &e) {
		return err
	}
	if errors.Is(e.Err, csv.ErrFieldCount) {
		return fmt.Errorf("line %d: the row has more or fewer fields than the first", e.Line)
	}
	return fmt.Errorf("line %d, column %d: %w", e.Line, e.Column, e.Err)
}
