// Package roots makes and opens roots by their names: the path of a file (package sqlitestore) or a URL of PostgreSQL
// (package pgstore).
package roots

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"scripter/objectdb"
	"scripter/objectdb/pgstore"
	"scripter/objectdb/sqlitestore"
	"scripter/rootname"
)

// Open opens a root. It never makes one: if there is none, the error is fs.ErrNotExist.
func Open(name string, o objectdb.Options) (*objectdb.DB, error) {
	if !rootname.IsURL(name) {
		return sqlitestore.Open(name, o)
	}
	s, err := pgstore.OpenStore(name, o)
	if err != nil {
		return nil, err
	}
	path, err := rootname.LocalPath(name)
	if err != nil { // the error of Save says so
		return objectdb.New(s, o), nil
	}
	return objectdb.New(sqlitestore.WithCopies(s, path, o), o), nil
}

// Create makes a new root that holds what fill writes. It appears whole or not at all. If there is a root already, the
// error is fs.ErrExist.
func Create(ctx context.Context, name string, o objectdb.Options, fill func(tx *objectdb.Tx) error) error {
	if rootname.IsURL(name) {
		return createInPostgreSQL(ctx, name, o, fill)
	}
	if _, err := os.Lstat(name); err == nil {
		return fmt.Errorf("make %s: %w", name, fs.ErrExist)
	}
	folder := filepath.Dir(name)
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("make %s: there is no folder %s", name, folder)
	}
	unfinished := fmt.Sprintf("%s.%d", name, os.Getpid())
	if err := createFile(ctx, unfinished, o, fill); err != nil {
		os.Remove(unfinished)
		return asPath(err, unfinished, name)
	}
	defer os.Remove(unfinished)
	// Unlike a rename, a link never replaces what somebody else made meanwhile.
	return os.Link(unfinished, name)
}

func createFile(ctx context.Context, name string, o objectdb.Options, fill func(tx *objectdb.Tx) error) error {
	db, err := sqlitestore.Create(name, o)
	if err != nil {
		return err
	}
	return errors.Join(db.UpdateLocked(ctx, fill), db.Close())
}

// createInPostgreSQL makes the root in a file and copies it, which is one transaction.
func createInPostgreSQL(
	ctx context.Context, name string, o objectdb.Options, fill func(tx *objectdb.Tx) error,
) error {
	folder, err := os.MkdirTemp("", "scripter-init-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "new.root")
	o.Relaxed = true
	if err := createFile(ctx, file, o, fill); err != nil {
		return asPath(err, file, name)
	}
	db, err := sqlitestore.Open(file, objectdb.Options{Reading: true})
	if err != nil {
		return asPath(err, file, name)
	}
	defer db.Close()
	return db.Dump(ctx, func(d *objectdb.Dump) error {
		_, err := Import(ctx, name, o, d)
		var named *objectdb.Error
		if errors.As(err, &named) && errors.Is(err, fs.ErrExist) {
			return &objectdb.Error{Op: "make", Path: named.Path, Err: named.Err}
		}
		return err
	})
}

// Import makes a new root that holds what a dump has, and returns the checksums of both. It appears whole or not at all.
func Import(ctx context.Context, name string, o objectdb.Options, d *objectdb.Dump) ([]objectdb.Sum, error) {
	if !rootname.IsURL(name) {
		return sqlitestore.Import(ctx, name, o, d)
	}
	return pgstore.Import(ctx, name, o, d)
}

// asPath returns an error that names a root by another path.
func asPath(err error, path, as string) error {
	var named *objectdb.Error
	if errors.As(err, &named) && named.Path == path {
		return &objectdb.Error{Op: named.Op, Path: as, Err: named.Err}
	}
	return err
}

// Exists reports whether there is a root with this name, or at least a file.
func Exists(name string) (bool, error) {
	_, err := os.Stat(name)
	if rootname.IsURL(name) {
		_, err = Inspect(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Inspect returns what a root says of itself. It does not change the root, and does not bring an older one up to date.
func Inspect(name string) (objectdb.Info, error) {
	if !rootname.IsURL(name) {
		return sqlitestore.Inspect(name)
	}
	db, err := pgstore.Open(name, objectdb.Options{ReadOnly: true})
	if err != nil {
		return objectdb.Info{}, err
	}
	defer db.Close()
	return db.Info(context.Background())
}

// peekTime limits how long Peek waits for a server.
const peekTime = time.Second

// Peek calls fn with a transaction that reads a root, for a program that leaves no trace and must not wait, such as the
// completion of a command line.
func Peek(ctx context.Context, name string, fn func(tx *objectdb.Tx) error) error {
	if !rootname.IsURL(name) {
		return sqlitestore.Peek(ctx, name, fn)
	}
	ctx, cancel := context.WithTimeout(ctx, peekTime)
	defer cancel()
	db, err := pgstore.Open(name, objectdb.Options{ReadOnly: true, BusyTimeout: peekTime})
	if err != nil {
		return err
	}
	defer db.Close()
	return db.View(ctx, fn)
}

// IsCopy reports whether a root is a saved copy, by its name.
func IsCopy(name string) bool { return !rootname.IsURL(name) && sqlitestore.IsCopy(name) }

// Copies lists the saved copies of a root on this host, the newest first. The root may be damaged or gone.
func Copies(name string) ([]objectdb.Copy, error) {
	path, err := rootname.LocalPath(name)
	if err != nil {
		return nil, err
	}
	list, err := sqlitestore.Copies(path)
	if rootname.IsURL(name) && errors.Is(err, fs.ErrNotExist) {
		return nil, nil // the folder for the files of this host is made when it is needed
	}
	return list, err
}
