package sqlitestore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"scripter/objectdb"
)

// beside is a store that keeps its objects elsewhere and its saved copies in files.
type beside struct {
	objectdb.Restorer
	path    string
	options objectdb.Options
}

// WithCopies returns a store that keeps its objects in s, and its saved copies in files beside path, as if the root were
// the file there. Each host has copies of its own. The folder of path is made when the first copy is saved.
func WithCopies(s objectdb.Restorer, path string, o objectdb.Options) objectdb.Store {
	return &beside{s, path, o.WithDefaults()}
}

func (b *beside) copier() *copier { return &copier{b.Path(), b.path, b.options, b.info, b.write} }

func (b *beside) makeFolder() error {
	return pathError(os.MkdirAll(filepath.Dir(b.path), 0o700))
}

func (b *beside) info(ctx context.Context) (info objectdb.Info, err error) {
	err = b.session(ctx, func(s objectdb.Session) error {
		info, err = s.Info(ctx)
		return err
	})
	return info, err
}

// session calls fn with a session that reads.
func (b *beside) session(ctx context.Context, fn func(objectdb.Session) error) error {
	wait := b.options.BusyTimeout
	s, _, err := b.BeginRead(ctx, 0, &wait)
	if err != nil {
		return err
	}
	defer s.End()
	return fn(s)
}

func (b *beside) write(ctx context.Context, unfinished *saving, progress func(done, all int64)) error {
	return b.session(ctx, func(s objectdb.Session) error {
		d, err := s.Dump(ctx)
		if err != nil {
			return err
		}
		d.Progress = progress
		_, err = writeDump(ctx, unfinished.path, d)
		return err
	})
}

func (b *beside) Save(ctx context.Context, o objectdb.SaveOptions) (objectdb.Copy, error) {
	if err := b.makeFolder(); err != nil {
		return objectdb.Copy{}, &objectdb.Error{Op: "save a copy of", Path: b.Path(), Err: err}
	}
	return b.copier().save(ctx, o)
}

func (b *beside) Revert(
	ctx context.Context, path string, o objectdb.RevertOptions,
) (objectdb.Reverted, error) {
	r, err := b.revert(ctx, path, o)
	if err != nil {
		err = &objectdb.Error{Op: "revert", Path: b.Path(), Err: err}
	}
	return r, err
}

func (b *beside) revert(ctx context.Context, path string, o objectdb.RevertOptions) (r objectdb.Reverted, err error) {
	if b.options.ReadOnly {
		return r, objectdb.ErrReadOnly
	}
	if err := b.makeFolder(); err != nil {
		return r, err
	}
	unfinished, err := startSaving(ctx, b.path, o.Wait)
	if err != nil {
		return r, err
	}
	defer func() { unfinished.end(nil) }()
	source, tidy, err := b.copier().checked(ctx, path, nil)
	if err != nil {
		return r, cannotBeUsed(path, err)
	}
	defer tidy()
	saved, err := Open(source, objectdb.Options{ReadOnly: true, CacheBytes: -1})
	if err != nil {
		return r, cannotBeUsed(path, bare(err))
	}
	defer saved.Close()
	err = saved.Dump(ctx, func(d *objectdb.Dump) error {
		r, err = b.Restore(ctx, d, o, func() (objectdb.Copy, error) {
			return b.copier().saveAs(ctx, unfinished, 0, o.Progress)
		})
		return err
	})
	return r, bare(err)
}

func (b *beside) Copies() ([]objectdb.Copy, error) {
	list, err := Copies(b.path)
	if errors.Is(err, fs.ErrNotExist) { // no copy was saved on this host
		return nil, nil
	}
	return list, err
}

func (b *beside) LastFailure() objectdb.Failure { return lastFailure(b.path) }
