package sqlitestore

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"time"

	sqlite3 "github.com/mattn/go-sqlite3"

	"scripter/objectdb"
)

// A copier saves copies of a root beside a path.
type copier struct {
	name    string // of the root, in messages
	path    string
	options objectdb.Options
	info    func(context.Context) (objectdb.Info, error) // what the root says of itself
	// write writes one state of the root into the unfinished file.
	write func(ctx context.Context, unfinished *saving, progress func(done, all int64)) error
}

func (s *store) copier() *copier {
	return &copier{s.path, s.path, s.options, s.info, func(
		ctx context.Context, unfinished *saving, progress func(done, all int64),
	) error {
		c, err := s.acquire()
		if err != nil {
			return err
		}
		defer s.release(c)
		return s.patient(func() error { return c.copyTo(ctx, unfinished, progress) })
	}}
}

// Save also folds the WAL into the root, as far as readers let it.
func (s *store) Save(ctx context.Context, o objectdb.SaveOptions) (objectdb.Copy, error) {
	return s.copier().save(ctx, o)
}

func (k *copier) save(ctx context.Context, o objectdb.SaveOptions) (objectdb.Copy, error) {
	c, err := k.saveUnder(ctx, o)
	if err != nil && !errors.Is(err, objectdb.ErrUnchanged) {
		err = &objectdb.Error{Op: "save a copy of", Path: k.name, Err: err}
	}
	return c, err
}

func (k *copier) saveUnder(ctx context.Context, o objectdb.SaveOptions) (c objectdb.Copy, err error) {
	if k.options.ReadOnly {
		return c, objectdb.ErrReadOnly
	}
	unfinished, err := startSaving(ctx, k.path, o.Wait)
	if err != nil {
		return c, err
	}
	// Only a failure of saving is recorded for LastFailure.
	var failure error
	defer func() { unfinished.end(failure) }()
	if o.Due != nil {
		if err := o.Due(); err != nil {
			return c, err
		}
	}
	if o.Changed {
		if c, ok := k.newestIsFresh(ctx); ok {
			return c, objectdb.ErrUnchanged
		}
	}
	if c, failure = k.saveAs(ctx, unfinished, 0, o.Progress); failure != nil {
		return objectdb.Copy{}, failure
	}
	if o.Keep > 0 {
		err = prune(k.path, o.Keep)
	}
	return c, err
}

// newestIsFresh reports whether the newest copy holds what the root does, and if
// so sets its time.
func (k *copier) newestIsFresh(ctx context.Context) (objectdb.Copy, bool) {
	list, err := Copies(k.path)
	if err != nil || len(list) == 0 {
		return objectdb.Copy{}, false
	}
	saved, err := Inspect(list[0].Path)
	if err != nil {
		return objectdb.Copy{}, false
	}
	now, err := k.info(ctx)
	same := err == nil && saved.Version == objectdb.FileVersion && now.Generation == saved.Generation &&
		now.Created.Equal(saved.Created)
	if same {
		list[0].Fresh = k.options.Now()
		same = os.Chtimes(list[0].Path, list[0].Fresh, list[0].Fresh) == nil
	}
	return list[0], same
}

// saveAs makes a copy from the unfinished file. version is that of the root before it is brought up to date, or else 0.
func (k *copier) saveAs(
	ctx context.Context, unfinished *saving, version int, progress func(done, all int64),
) (objectdb.Copy, error) {
	c, err := newCopy(k.path, k.options.Now(), version)
	if err != nil {
		return c, err
	}
	if err := unfinished.clear(); err != nil {
		return c, err
	}
	if err := k.write(ctx, unfinished, progress); err != nil {
		return c, err
	}
	if err := unfinished.finish(&c); err != nil {
		return c, err
	}
	return c, nil
}

// copyTo writes a copy of what the connection sees into the unfinished file.
//
// VACUUM INTO and not the backup API: that begins again whenever another process
// writes, and never ends under steady writes (https://www.sqlite.org/backup.html).
func (c *conn) copyTo(ctx context.Context, s *saving, progress func(done, all int64)) error {
	// It folds the WAL into the file as far as it can without waiting.
	if _, err := c.checkpoint(sqlCheckpoint); err != nil {
		return err
	}
	all, err := c.contentBytes()
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() {
		_, err := c.c.ExecContext(ctx, `VACUUM INTO ?`, []driver.NamedValue{{Ordinal: 1, Value: s.path}})
		done <- err
	}()
	beat := time.NewTicker(100 * time.Millisecond)
	defer beat.Stop()
	for {
		select {
		case err := <-done:
			var sqlite sqlite3.Error
			interrupted := errors.As(err, &sqlite) && sqlite.Code == sqlite3.ErrInterrupt
			if cause := context.Cause(ctx); cause != nil && (interrupted || errors.Is(err, ctx.Err())) {
				return cause
			}
			if err == nil && progress != nil {
				progress(all, all)
			}
			return sqlError(err)
		case <-beat.C:
			if info, err := s.file.Stat(); err == nil && progress != nil {
				progress(min(info.Size(), all), all)
			}
		}
	}
}

// contentBytes returns about the size that a copy will have.
func (c *conn) contentBytes() (int64, error) {
	var row [1]driver.Value
	err := c.first(row[:], `SELECT (p.page_count - f.freelist_count) * s.page_size
		FROM pragma_page_count p, pragma_freelist_count f, pragma_page_size s`)
	n, _ := row[0].(int64)
	return n, err
}

// prune removes the oldest copies beyond keep.
func prune(path string, keep int) error {
	list, err := Copies(path)
	if err != nil {
		return err
	}
	var errs []error
	for _, c := range list {
		if c.Version != 0 {
			continue
		}
		if keep--; keep < 0 {
			if err := os.Remove(c.Path); err != nil && !errors.Is(err, os.ErrNotExist) {
				errs = append(errs, fmt.Errorf("remove the old copy %s: %w", c.Path, pathError(err)))
			}
		}
	}
	return errors.Join(errs...)
}
