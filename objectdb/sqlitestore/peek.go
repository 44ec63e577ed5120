package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"scripter/objectdb"
)

// Peek calls fn with a transaction that reads the root at path, for a program that must leave
// no trace there, such as the completion of a command line. It neither changes nor makes a
// file, and waits for no lock. It refuses an older root, because reading it would migrate it.
//
// If the root is not in use, SQLite reads it without any lock. If a program begins to write
// at that moment, fn may see an error or parts of two states.
func Peek(ctx context.Context, path string, fn func(tx *objectdb.Tx) error) error {
	err := peek(ctx, path, fn)
	if known := (*objectdb.Error)(nil); err != nil && !errors.As(err, &known) {
		err = &objectdb.Error{Op: "look into", Path: path, Err: err}
	}
	return err
}

func peek(ctx context.Context, path string, fn func(tx *objectdb.Tx) error) error {
	const patience = time.Millisecond
	s := newStore(path, objectdb.Options{ReadOnly: true, BusyTimeout: patience})
	if err := s.registerFile(); err != nil {
		return err
	}
	access, err := accessWithoutTrace(resolved(path))
	if err != nil {
		forgetFile(s.file)
		return err
	}
	db := objectdb.New(s, s.options)
	defer db.Close()
	c, err := openURI(path, "mode=ro&"+access)
	if err != nil {
		return err
	}
	c.store, c.unsynced = s, &s.unsynced
	version, err := c.version()
	s.release(c) // the only connection: the transaction takes it
	if err == nil && version < objectdb.FileVersion {
		err = fmt.Errorf("%w: it is of an older version", objectdb.ErrReadOnly)
	}
	if err != nil {
		return err
	}
	return db.View(ctx, fn)
}

// accessWithoutTrace returns the parameters of SQLite's URI
// (https://www.sqlite.org/uri.html) with which it reads a root, and neither makes nor
// changes the files -wal and -shm.
func accessWithoutTrace(root string) (string, error) {
	if _, err := os.Lstat(root + "-wal"); err == nil {
		if _, err := os.Lstat(root + "-shm"); err == nil {
			return "readonly_shm=1", nil
		}
	}
	if hasContent(root + "-wal") {
		return "", fmt.Errorf("%w: the file -shm beside it is missing, and would be made", objectdb.ErrReadOnly)
	}
	return "immutable=1", nil
}
