package objectdb

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The errors of this package. A caller can avoid all but ErrBusy, ErrConflict, ErrDamaged, ErrDisk, ErrUnreachable
// and ErrUnknown. A missing file is fs.ErrNotExist.
var (
	ErrNotFound = errors.New("no such object")
	ErrExists   = errors.New("an object is there already")
	ErrNotTable = errors.New("object is not a table")
	ErrIsTable  = errors.New("object is a table")
	ErrName     = errors.New("name cannot be used")
	ErrValue    = errors.New("value cannot be stored")
	ErrConflict = errors.New("another transaction changed what this one had read")
	ErrBusy     = errors.New("root is locked by another writer")
	ErrReadOnly = errors.New("root may only be read")
	ErrDamaged  = errors.New("root is damaged")
	ErrDisk     = errors.New("the disk fails")
	ErrNewer    = errors.New("root was made by a newer version")
	ErrNotRoot  = errors.New("file is not a root")
	ErrClosed   = errors.New("root is closed")
	ErrRoot     = errors.New("the root itself cannot be moved, replaced or deleted")
	ErrMoved    = errors.New("it was moved")
	ErrNotKept  = errors.New("its old value was not kept")
	ErrReach    = errors.New("the history does not go back so far")
	// ErrUnreachable says that nothing was committed. Update runs its function again if the
	// connection is lost in the middle.
	ErrUnreachable = errors.New("the server of the root cannot be reached")
	ErrUnknown     = errors.New("it is not known whether the change was committed")
	ErrEnded       = errors.New("objectdb: the transaction has ended")
)

// MovedTo returns the error of a write to a root that was moved to another place.
func MovedTo(target string) error {
	return fmt.Errorf("%w: %w to %s (scripter copy --unmark takes that back)", ErrReadOnly, ErrMoved, target)
}

// IsFailure reports whether an error says that the store fails, whatever was asked of it.
func IsFailure(err error) bool {
	return slices.ContainsFunc(failures, func(f error) bool { return errors.Is(err, f) })
}

var failures = []error{ErrDamaged, ErrDisk, ErrUnreachable, ErrUnknown}

// IsMissing reports whether an error only means that there is no object at an address.
func IsMissing(err error) bool { return errors.Is(err, ErrNotFound) || errors.Is(err, ErrNotTable) }

// Error says what was tried, on what, and why it could not be done.
type Error struct {
	Op      string  // "get", "put", "open" …
	Address Address // the object; nil when the file is meant
	Path    string  // the file; "" when an object is meant
	Err     error
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("objectdb: ")
	b.WriteString(e.Op)
	switch {
	case e.Path != "":
		b.WriteByte(' ')
		b.WriteString(e.Path)
	case e.Address != nil && len(e.Address) == 0:
		b.WriteString(" the root")
	case e.Address != nil:
		b.WriteByte(' ')
		b.WriteString(e.Address.String())
	}
	b.WriteString(": ")
	b.WriteString(e.Err.Error())
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// at adds the operation and the address to err, unless it has them or is nil.
func at(op string, a Address, err error) error {
	if err == nil {
		return nil
	}
	if known := new(Error); errors.As(err, &known) {
		return err
	}
	if a == nil {
		a = Address{}
	}
	return &Error{Op: op, Address: a, Err: err}
}
