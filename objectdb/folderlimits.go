package objectdb

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// FolderSize is what CheckFolder has found.
type FolderSize struct {
	Files   int   // and folders
	Bytes   int64 // of all files
	Largest int64 // of them, in bytes
}

// CheckFolder looks at the files and folders that Import would read, without reading them: what
// is neither is an error, and what costs more than the limits allow is an ErrTooLarge. What a
// file takes on the disk stands for what an archive is packed to: a file with holes takes
// less than it holds.
func CheckFolder(fsys fs.FS, limits ImportLimits) (FolderSize, error) {
	var size FolderSize
	packed := int64(0)
	type file struct {
		name string
		size int64
	}
	var all []file
	err := fs.WalkDir(fsys, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return fail(name, err)
		}
		if name == "." {
			return nil
		}
		if leftBehind(e) {
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		size.Files++
		if limits.Files > 0 && size.Files > limits.Files {
			return fmt.Errorf("%w: it holds more than %d files and folders", ErrTooLarge, limits.Files)
		}
		if !e.IsDir() && !e.Type().IsRegular() {
			return fail(name, errSpecial(e.Type()))
		}
		info, err := e.Info()
		if err != nil {
			return fail(name, err)
		}
		packed += max(onDisk(info), leastInode)
		if e.IsDir() {
			return nil
		}
		all = append(all, file{name, info.Size()})
		size.Largest = max(size.Largest, info.Size())
		size.Bytes += info.Size()
		return nil
	})
	if err != nil {
		return size, err
	}
	sizes := limits.sizes(packed)
	for _, f := range all {
		if err := sizes.add(f.name, f.size); err != nil {
			return size, fail(f.name, err)
		}
	}
	if most := limits.bytes(packed); size.Bytes > most {
		return size, fmt.Errorf("%w: its files have %d bytes and take %d on the disk; at most %d are allowed", ErrTooLarge, size.Bytes, packed, most)
	}
	return size, nil
}

// leastInode is what a file or folder takes on a disk at least, empty or not.
const leastInode = 256

// onDisk is what a file takes on the disk, as far as it is known.
func onDisk(info fs.FileInfo) int64 {
	if unix, ok := info.Sys().(*syscall.Stat_t); ok {
		return int64(unix.Blocks) * 512
	}
	return info.Size()
}

// errSpecial says what is no object.
func errSpecial(mode fs.FileMode) error {
	return errors.New("it is neither a file nor a folder, but " + modeWord(mode))
}
