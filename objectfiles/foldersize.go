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
	disk := int64(0)
	type file struct {
		name string
		size int64
	}
	var files []file
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
			return errManyFiles(limits.Files)
		}
		if !e.IsDir() && !e.Type().IsRegular() {
			return importError(name, errSpecial(e.Type()))
		}
		info, err := e.Info()
		if err != nil {
			return importError(name, err)
		}
		disk += max(diskSpace(info), leastInode)
		if e.IsDir() {
			return nil
		}
		files = append(files, file{name, info.Size()})
		size.Largest = max(size.Largest, info.Size())
		size.Bytes += info.Size()
		return nil
	})
	if err != nil {
		return size, err
	}
	bounds := limits.bounds(disk)
	sizes := sizeCheck{bounds: bounds}
	for _, f := range files {
		if err := sizes.add(f.name, f.size); err != nil {
			return size, importError(f.name, err)
		}
	}
	if size.Bytes > bounds.bytes {
		return size, fmt.Errorf("%w: its files have %d bytes and use %d on the disk; at most %d are allowed",
			ErrTooLarge, size.Bytes, disk, bounds.bytes)
	}
	return size, nil
}

// diskSpace returns the disk space of a file, or its length if the file system does not say it.
func diskSpace(info fs.FileInfo) int64 {
	if unix, ok := info.Sys().(*syscall.Stat_t); ok {
		return int64(unix.Blocks) * 512
	}
	return info.Size()
}
