package foldersync

import (
	"errors"
	"io/fs"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// exchange puts the file part in the place of the file name, and that in the place of part, in
// one step: what an editor has just saved is not lost. If the file system cannot do that, it
// only renames.
func exchange(root *os.Root, part, name string) error {
	from, err := root.Open(path.Dir(part))
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := root.Open(path.Dir(name))
	if err != nil {
		return err
	}
	defer to.Close()
	err = unix.Renameat2(int(from.Fd()), path.Base(part), int(to.Fd()), path.Base(name), unix.RENAME_EXCHANGE)
	switch {
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOTSUP):
		return root.Rename(part, name)
	case err != nil:
		return &fs.PathError{Op: "exchange", Path: name, Err: err}
	}
	return nil
}
