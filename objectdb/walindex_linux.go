package objectdb

import (
	"os"
	"strconv"
	"syscall"
	"unsafe"
)

// watch finds the WAL index of a connection that has read: SQLite has it open, and its
// descriptor bears the name of the root with -shm. It is not opened a second time: to close
// that would drop SQLite's locks (https://www.sqlite.org/howtocorrupt.html, 2.2).
// Where it is not found, or the name stands for another file by now, every
// transaction asks SQLite.
func (c *conn) watch() {
	main := c.c.GetFilename("main")
	if info, err := os.Stat(main); err != nil || !os.SameFile(info, c.file) {
		return
	}
	fd := descriptorOf(main + "-shm")
	if fd < 0 {
		return
	}
	var info syscall.Stat_t
	if err := syscall.Fstat(fd, &info); err != nil || info.Size < int64(os.Getpagesize()) {
		return
	}
	mapped, err := syscall.Mmap(fd, 0, os.Getpagesize(), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return
	}
	c.index = walIndex{words: (*[2 * headerWords]uint64)(unsafe.Pointer(unsafe.SliceData(mapped))), mapped: mapped}
}

// descriptorOf gives the one descriptor of this process that bears a name; -1 when there is
// none, or more.
func descriptorOf(name string) int {
	const folder = "/proc/self/fd"
	entries, err := os.ReadDir(folder)
	if err != nil {
		return -1
	}
	found := -1
	for _, e := range entries {
		// That of a file which was removed, or replaced, ends with " (deleted)".
		if link, err := os.Readlink(folder + "/" + e.Name()); err != nil || link != name {
			continue
		}
		fd, err := strconv.Atoi(e.Name())
		if err != nil || found >= 0 {
			return -1
		}
		found = fd
	}
	return found
}

func (x *walIndex) close() {
	if x.mapped != nil {
		syscall.Munmap(x.mapped)
		*x = walIndex{}
	}
}
