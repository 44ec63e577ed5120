package csv

import (
	"encoding/csv"
	"errors"
	"fmt"
	"strings"

	"scripter/script"
)

// maxText bounds what csv.format returns, in bytes.
const maxText = 16 << 20

func format(v *script.Call) error {
	rows := v.Value(1)
	if !script.IsTable(rows) {
		v.Table(1) // says what it is instead
	}
	o := v.Options(2, "columns", "header", "separator", "crlf", "spreadsheet")
	var out strings.Builder
	f := formatter{call: v, w: csv.NewWriter(&out), columns: o.Strings("columns"), guard: o.Bool("spreadsheet", false)}
	f.w.Comma, f.w.UseCRLF = separator(v, o), o.Bool("crlf", false)
	if f.columns != nil && o.Bool("header", true) {
		if err := f.w.Write(f.columns); err != nil {
			return err
		}
	}
	err := script.EachItem(rows, func(row script.Value) error {
		f.row++
		if err := f.write(row); err != nil {
			return fmt.Errorf("row %d: %w", f.row, err)
		}
		if f.bytes > maxText {
			return errors.New("the text is longer than 16 MB")
		}
		return nil
	})
	f.w.Flush()
	if err != nil {
		return err
	}
	v.ReturnText(out.String())
	return nil
}

type formatter struct {
	call    *script.Call
	w       *csv.Writer
	columns []string
	guard   bool
	row     int
	bytes   int
	fields  []string // of the row that is written
}

func (f *formatter) write(row script.Value) error {
	if !script.IsTable(row) {
		return errors.New("a row is a table")
	}
	f.fields = f.fields[:0]
	if f.columns == nil {
		if err := script.EachItem(row, f.add); err != nil {
			return err
		}
	}
	for _, name := range f.columns {
		value, err := script.Field(row, name)
		if err == nil {
			err = f.add(value)
		}
		if err != nil {
			return fmt.Errorf("column %s: %w", name, err)
		}
	}
	f.call.Charge(fieldCharge * (len(f.fields) + 1))
	return f.w.Write(f.fields)
}

// add adds a field to the row. What is not there is an empty field.
func (f *formatter) add(value script.Value) error {
	text := ""
	switch value.(type) {
	case nil:
	case *script.Table, *script.Object, *script.Function:
		return errors.New("a field cannot be a table or a function")
	default:
		var err error
		if text, err = f.call.Thread().Text(value); err != nil {
			return err
		}
	}
	if _, number := value.(float64); f.guard && !number && isFormula(text) {
		text = "'" + text
	}
	f.bytes += len(text) + 1
	f.fields = append(f.fields, text)
	return nil
}

// isFormula reports whether a spreadsheet takes the text of a field for a formula.
func isFormula(text string) bool { return text != "" && strings.IndexByte("=+-@\t\r", text[0]) >= 0 }
