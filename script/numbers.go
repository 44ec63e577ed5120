package script

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"scripter/lua"
	"scripter/objectdb"
)

// A number in brackets is a position in a table of the root: t [3] is its third
// cell. If the names of the cells are numbers, that is another cell than the author
// means (names sort as text: 1, 10, 11, 2). So reading or writing it is an error.

// looksNumeric reports whether a name looks like a number: digits, perhaps with a minus
// sign or a fraction.
func looksNumeric(name string) bool {
	if name != "" && name[0] == '-' {
		name = name[1:]
	}
	digits, points := 0, 0
	for i := range len(name) {
		switch {
		case '0' <= name[i] && name[i] <= '9':
			digits++
		case name[i] == '.' && digits > 0 && i < len(name)-1:
			points++
		default:
			return false
		}
	}
	return digits > 0 && points <= 1
}

// A positionError says that a number must not be used as a position in this table.
type positionError struct{ reason string }

func (e *positionError) Error() string { return e.reason }

// position returns the cell at a position counted from 1, or a positionError if the names
// of the table look like numbers. Its name is "" if there is no cell.
func (o *Object) position(key float64) (entry, error) {
	e, err := o.entryAt(key)
	if err != nil {
		return entry{}, err
	}
	return e, o.checkPosition(key, e.name)
}

// CheckPosition returns why a script must not use this number as a position in
// table o, "" if it may.
func (o *Object) CheckPosition(key float64) (why string, err error) {
	_, err = o.position(key)
	if misleading := new(positionError); errors.As(err, &misleading) {
		return misleading.reason, nil
	}
	return "", err
}

// NumericName returns the first name in table o if it looks like a number, or "".
func (o *Object) NumericName() (string, error) {
	first, err := o.entryAt(1)
	if err != nil || !looksNumeric(first.name) {
		return "", err
	}
	return first.name, nil
}

// entryAt returns the cell at a position. Its name is "" if there is no cell.
func (o *Object) entryAt(key float64) (entry, error) {
	i := int(key)
	if float64(i) != key || i < 1 {
		return entry{}, nil
	}
	if o.verbs == nil {
		n, err := o.thread.tx.Nth(o.node, i)
		if errors.Is(err, objectdb.ErrNotFound) {
			return entry{}, nil
		}
		if err != nil {
			return entry{}, err
		}
		return entry{name: n.Name(), node: n}, nil
	}
	list, err := o.entries()
	if err != nil || i > len(list) {
		return entry{}, err
	}
	return list[i-1], nil
}

// checkPosition returns an error if the names of the table look like numbers. hit is the
// name of the cell at the position, or "".
func (o *Object) checkPosition(key float64, hit string) error {
	text := lua.NumberText(key)
	if looksNumeric(hit) {
		return &positionError{fmt.Sprintf("%[1]s [%[2]s] is a position, where the record %[3]q is: "+
			"write %[1]s [%[4]q] for the name, or odb.nth (%[1]s, %[2]s) for the position",
			o.Label(), text, hit, spelledLike(text, hit))}
	}
	other, err := o.numbered(text, hit)
	if err != nil || other == "" {
		return err
	}
	what := "where no record is"
	if hit != "" {
		what = fmt.Sprintf("where the record %q is", hit)
	}
	return &positionError{fmt.Sprintf("%[1]s [%[2]s] is a position, %[3]s, and this table has numbers for names, "+
		"such as %[4]q: write %[1]s [%[5]q] for the name",
		o.Label(), text, what, other, spelledLike(text, other))}
}

// spelledLike returns a number with as many digits as a name has that begins with 0,
// as the names that odb.append gives do.
func spelledLike(number, name string) string {
	missing := len(name) - len(number)
	if missing <= 0 || name[0] != '0' || !isDigits(name) || !isDigits(number) {
		return number
	}
	return strings.Repeat("0", missing) + number
}

func isDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// numbered returns the name of a cell that looks like a number, or "": the cell whose name
// is text or, if hit is "", the first cell.
func (o *Object) numbered(text, hit string) (string, error) {
	if o.node != nil {
		n, err := o.thread.tx.Child(o.node, text)
		if err == nil {
			return n.Name(), nil
		}
		if unlessMissing(err) != nil {
			return "", err
		}
	}
	if hit != "" {
		return "", nil
	}
	return o.NumericName()
}

// Names that odb.append makes have this many digits, so that they sort as numbers.
const (
	keyDigits = 9
	maxKey    = 999_999_999
)

// odbAppend adds a record under the next number. Two requests never get the same number:
// a request is run again if another one has added a name to the table meanwhile.
func odbAppend(L *lua.LState) int {
	t := threadOf(L)
	if _, ok := L.Get(1).(*lua.LTable); ok {
		lua.ArgumentError(L, 1, "table of the root expected, got a Lua table; table.insert adds to that")
	}
	a := checkAddress(L, 1)
	if L.Get(2) == lua.LNil {
		lua.ArgumentError(L, 2, "value expected, got nil")
	}
	o, err := t.tableAt(a)
	if known := new(objectdb.Error); errors.As(err, &known) {
		known.Op = "append"
	}
	try(L, err)
	key, err := o.nextKey(L)
	try(L, err)
	if err := o.assign(L, key, L.Get(2)); err != nil {
		t.raise(L, "", o.because("append", lua.LString(key), err))
	}
	L.Push(lua.LString(key))
	return 1
}

// nextKey returns the number after the last one in the table, as a name.
func (o *Object) nextKey(L *lua.LState) (string, error) {
	refuse := func(format string, args ...any) (string, error) {
		return "", &objectdb.Error{Op: "append", Address: o.Address(), Err: fmt.Errorf(format, args...)}
	}
	last := 0
	for end := ":"; o.node != nil; { // what comes after 9
		n, err := o.thread.tx.Last(o.node, "0", end)
		if errors.Is(err, objectdb.ErrNotFound) {
			break
		}
		if err != nil {
			return "", o.because("append", nil, err)
		}
		o.thread.state.Charge(L, 1)
		name := n.Name()
		i, err := strconv.Atoi(name)
		if err != nil || !looksNumeric(name) { // "2026-01-31"
			end = objectdb.Fold(name)
			continue
		}
		if len(name) != keyDigits {
			return refuse("the name %q in the table does not sort with numbers of %d digits: "+
				"rename it and similar ones to names such as %q first (odb.rename)",
				name, keyDigits, fmt.Sprintf("%0*d", keyDigits, i))
		}
		last = i
		break
	}
	if last == maxKey {
		return refuse("the number %d is taken, and it is the last one", maxKey)
	}
	return fmt.Sprintf("%0*d", keyDigits, last+1), nil
}

// odbNth returns the name and the value of the cell at a position; a negative position
// counts from the end.
func odbNth(L *lua.LState) int {
	t := threadOf(L)
	o, err := t.at(checkAddress(L, 1))
	if err == nil && (o == nil || o.Kind() != objectdb.KindTable) {
		err = ErrNotScript
	}
	if errors.Is(err, ErrNotScript) {
		lua.ArgumentError(L, 1, "table of the root expected")
	}
	try(L, err)
	i := lua.CheckInt(L, 2)
	if i < 0 {
		n, err := o.len()
		try(L, err)
		i += n + 1
	}
	e, err := o.entryAt(float64(i))
	try(L, err)
	if e.name == "" {
		L.Push(lua.LNil)
		return 1
	}
	lv, err := o.value(e)
	if err != nil {
		t.raise(L, "", o.because("get", lua.LString(e.name), err))
	}
	L.Push(lua.LString(e.name))
	L.Push(lv)
	return 2
}
