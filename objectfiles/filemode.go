package objectfiles

import (
	"errors"
	"io/fs"
)

// modeWord says in words what a file is that is neither a regular file nor a folder.
func modeWord(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "a link"
	case mode&fs.ModeDevice != 0:
		return "a device"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "something special"
}

// entryWord says in words what an entry of a folder is.
func entryWord(e fs.DirEntry) string {
	switch {
	case e.IsDir():
		return "a folder"
	case e.Type().IsRegular():
		return "a file"
	}
	return modeWord(e.Type())
}

// errSpecial returns the error for what is neither a file nor a folder.
func errSpecial(mode fs.FileMode) error {
	return errors.New("it is neither a file nor a folder, but " + modeWord(mode))
}
