package sqlitestore

import (
	"os"
	"strconv"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// walIndex is SQLite's index of the WAL, the file -shm, which SQLite shares with all
// processes (https://www.sqlite.org/walformat.html, 2). It begins with a header that
// every commit changes before it returns. The header is there twice: a commit writes
// the second copy first, so a reader has a complete header if both copies are equal.
// The header holds a counter of commits, the number of the WAL's frames with their
// checksum, and the WAL's salts, so no header comes twice.
//
// SQLite compares headers to know whether the pages that a connection has in memory are
// still right. We compare them to know whether the root still has the generation that
// the last read transaction saw: a request that finds everything in the cache makes no
// system call for the root. Without walIndex each transaction reads the generation,
// which takes longer: see docs/performance.md.
//
// Only a connection that has read may use the index. SQLite then holds a lock on the
// file until the connection is closed, so no other process truncates it.
type walIndex struct {
	words  *[2 * headerWords]uint64 // nil: there is none to look at
	mapped []byte
	reads  int       // read transactions, up to readsBeforeMap
	last   walHeader // while generation was the newest one
	gen    int64     // 0: not known
}

// walHeader is the header of a walIndex.
type walHeader [headerWords]uint64

const headerWords = 48 / 8

// readsBeforeMap is how many read transactions a connection begins before it maps the
// index. A process that answers one request does not map it.
const readsBeforeMap = 4

// header returns the header. It is not ok while a commit writes it, and without an index.
func (x *walIndex) header() (h walHeader, ok bool) {
	if x.words == nil {
		return h, false
	}
	for i := range h {
		h[i] = atomic.LoadUint64(&x.words[i])
	}
	for i := range h {
		if atomic.LoadUint64(&x.words[headerWords+i]) != h[i] {
			return h, false
		}
	}
	return h, true
}

// around calls begin, which begins a read transaction of c and returns the generation
// that it sees.
func (x *walIndex) around(c *conn, begin func() (int64, error)) error {
	before, ok := x.header()
	gen, err := begin()
	if err != nil {
		return err
	}
	// No header comes twice: if it is the same before and after, it did not change in
	// between.
	after, ok2 := x.header()
	x.last, x.gen = after, gen
	if !ok || !ok2 || before != after {
		x.gen = 0
	}
	if x.reads++; x.reads == readsBeforeMap {
		x.open(c)
	}
	return nil
}

// newest returns the generation of the root, if it is still the one that the last read
// transaction of this connection has found.
func (x *walIndex) newest() (generation int64, ok bool) {
	if x.gen == 0 {
		return 0, false
	}
	h, ok := x.header()
	return x.gen, ok && h == x.last
}

// open maps the index of a connection that has read. SQLite has the file open under the
// name of the root with -shm. open uses that descriptor, because closing another one
// would drop SQLite's locks (https://www.sqlite.org/howtocorrupt.html, 2.2). If the
// descriptor is not found, or the name now belongs to another file, every transaction
// asks SQLite.
func (x *walIndex) open(c *conn) {
	main := c.c.GetFilename("main")
	if info, err := os.Stat(main); c.store == nil || err != nil || !os.SameFile(info, c.store.file.info) {
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
	x.words, x.mapped = (*[2 * headerWords]uint64)(unsafe.Pointer(unsafe.SliceData(mapped))), mapped
}

// descriptorOf returns the one descriptor of this process that bears a name; -1 when there
// is none, or more.
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
