package objectfiles

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"scripter/objectdb"
)

// Errors of archives and folders. The others are those of package objectdb.
var (
	ErrArchive  = errors.New("archive is refused")
	ErrTooLarge = errors.New("too large")
)

// at adds the operation and the address to err, unless err has them or is nil.
func at(op string, a objectdb.Address, err error) error {
	if err == nil || errors.As(err, new(*objectdb.Error)) {
		return err
	}
	if a == nil {
		a = objectdb.Address{}
	}
	return &objectdb.Error{Op: op, Address: a, Err: err}
}

// pathError removes the path from an error of package os, for an error that has it already.
func pathError(err error) error {
	if p := new(fs.PathError); errors.As(err, &p) {
		return p.Err
	}
	if l := new(os.LinkError); errors.As(err, &l) {
		return l.Err
	}
	return err
}

// jsonError words an error of package json.
func jsonError(err error) error {
	if syntax := new(json.SyntaxError); errors.As(err, &syntax) {
		return fmt.Errorf("the JSON is wrong at byte %d: %w", syntax.Offset, err)
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errors.New("the JSON ends too early")
	}
	return fmt.Errorf("the JSON is wrong: %w", err)
}

// errNewerForm returns the error for a file whose form this program does not read.
func errNewerForm(form, own int) error {
	return fmt.Errorf("it was written by a newer version: its form is %d, this program reads %d; use the newer program",
		form, own)
}
