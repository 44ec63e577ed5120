package objectfiles

import (
	"fmt"
	"io/fs"
	"syscall"
)

// FolderSize is the size of a folder, as CheckFolder returns it.
type FolderSize struct {
	Files   int   // files and folders
	Bytes   int64 // the size of all files
	Largest int64 // the size of the largest file
}

// CheckFolder checks the files and folders that Import would read, without reading them.
// Anything else, such as a link, is an error; a folder beyond the limits is an ErrTooLarge. The
// disk space of the files counts as the size of the archive: a sparse file uses less than its
// length.
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
			return importError(name, err)
		}
		if name == "." {
			return nil
		}
		if isIgnored(e) {
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
			return importError(name, errSpecial(e.Type()))
		}
		info, err := e.Info()
		if err != nil {
			return importError(name, err)
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
			return size, importError(f.name, err)
		}
	}
	if most := limits.bytes(packed); size.Bytes > most {
		return size, fmt.Errorf("%w: its files have %d bytes and use %d on the disk; at most %d are allowed", ErrTooLarge, size.Bytes, packed, most)
	}
	return size, nil
}

// leastInode is the smallest disk space of a file or folder, even an empty one.
const leastInode = 256

// onDisk returns the disk space of a file, as far as it is known.
func onDisk(info fs.FileInfo) int64 {
	if unix, ok := info.Sys().(*syscall.Stat_t); ok {
		return int64(unix.Blocks) * 512
	}
	return info.Size()
}
