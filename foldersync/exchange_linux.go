package foldersync

import (
	"errors"
	"io/fs"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// exchange exchanges the names of the files part and name in one step, so that a file that an
// editor has just saved is not lost. If the file system cannot exchange names, it renames part to
// name.
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
