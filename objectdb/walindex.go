package objectdb

import "sync/atomic"

// walIndex is SQLite's index of the WAL, the file -shm, as this connection's own
// SQLite shares it with all processes (https://www.sqlite.org/walformat.html, 2). It
// begins with a header that every commit changes before it returns, and that stands
// there twice: a commit writes the second copy first, and a reader that finds both alike
// has found a whole one. In it are a counter of commits, the number of the WAL's
// frames with their checksum, and the WAL's salts, so that no header comes twice.
//
// SQLite itself tells by it whether the pages that a connection keeps in memory still
// hold. So does a transaction whether the root is in the state that the last one has
// found, and needs no system call: see [Tx.snapshot].
//
// Only a connection that has read may look: SQLite's lock on the file, which it keeps
// until it is closed, has no other process make the file shorter.
type walIndex struct {
	words  *[2 * headerWords]uint64 // nil: there is none to look at
	mapped []byte
}

// walHeader is the header of a walIndex.
type walHeader [headerWords]uint64

const headerWords = 48 / 8

// header gives the header; not ok when it cannot be had, or while it is written.
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

// readsUnwatched is how many transactions a connection begins before it looks for its
// index: a process that answers one request does without.
const readsUnwatched = 4

// watched is what a connection knows of the state of the root.
type watched struct {
	index walIndex
	reads int // transactions that were begun before the index was looked for
	known bool
	last  walHeader // while generation was the newest
	gen   int64
}

// newest tells which generation the root has, if it is still the one that the last read
// transaction of this connection has found.
func (w *watched) newest() (generation int64, ok bool) {
	if !w.known {
		return 0, false
	}
	h, ok := w.index.header()
	return w.gen, ok && h == w.last
}
