package objectfiles

import (
	"fmt"
	"io/fs"
	"syscall"
)

// CheckFolder checks the files and folders that Import would read, without reading them. It
// returns the number of files and folders, and the size of the largest file. Anything else,
// such as a link, is an error; a folder beyond the limits is an ErrTooLarge. The disk space of
// the files counts as the size of the archive: a sparse file uses less than its length.
func CheckFolder(fsys fs.FS, limits ImportLimits) (files int, largest int64, err error) {
	type sized struct {
		name string
		size int64
	}
	var all []sized
	var bytes, disk int64
	err = fs.WalkDir(fsys, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return importError(name, err)
		}
		if name == "." {
			return nil
		}
		if Ignored(e) {
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		files++
		if limits.Files > 0 && files > limits.Files {
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
		all = append(all, sized{name, info.Size()})
		largest = max(largest, info.Size())
		bytes += info.Size()
		return nil
	})
	if err != nil {
		return files, largest, err
	}
	bounds := limits.bounds(disk)
	sizes := sizeCheck{bounds: bounds}
	for _, f := range all {
		if err := sizes.add(f.name, f.size); err != nil {
			return files, largest, importError(f.name, err)
		}
	}
	if bytes > bounds.bytes {
		err = fmt.Errorf("%w: its files have %d bytes and use %d on the disk; at most %d are allowed",
			ErrTooLarge, bytes, disk, bounds.bytes)
	}
	return files, largest, err
}

// diskSpace returns the disk space of a file, or its length if the file system does not say it.
func diskSpace(info fs.FileInfo) int64 {
	if unix, ok := info.Sys().(*syscall.Stat_t); ok {
		return int64(unix.Blocks) * 512
	}
	return info.Size()
}
