//go:build linux

package workers

import "sync/atomic"

// connState is the state of a shared connection, in shared memory.
type connState struct {
	// word holds the generation of the connection in its upper half. The lower half holds the
	// owner, which is the process that serves the connection, and the flag wanted.
	word atomic.Uint64
	// since is when the connection became idle, or when its incomplete request last grew, in
	// nanoseconds of the monotonic clock.
	since atomic.Int64
	// first is when the first part of the incomplete request was seen.
	first atomic.Int64
	// partial is the number of bytes of the incomplete request; 0 if there is none.
	partial atomic.Int64
	// body is true if those bytes hold part of a body.
	body atomic.Bool
	// spooled is the size of the file that holds the first request. It is 0 if there is no
	// file, or if the request has been served. whole is true if the file holds all of the
	// request, and request is its FastCGI request id.
	spooled atomic.Int64
	whole   atomic.Bool
	request atomic.Uint32
}

// noteIncomplete records that n bytes of an incomplete request have arrived.
func (s *connState) noteIncomplete(n int, body bool) {
	t := now()
	before := s.partial.Load()
	if before == 0 {
		s.first.Store(t)
	}
	if before != int64(n) {
		s.since.Store(t)
	}
	s.partial.Store(int64(n))
	s.body.Store(body)
}

// noteIdle records that no part of a request has arrived.
func (s *connState) noteIdle() {
	s.partial.Store(0)
	s.body.Store(false)
	s.since.Store(now())
}

// The owner of a connection: one of these, or the index of a worker plus 1.
const (
	ownerMask   = 0xffff
	ownerNone   = 0
	ownerMaster = 0xfffe
	ownerGone   = 0xffff  // closed; the index cannot be used again yet
	wanted      = 1 << 16 // another process has tried to acquire the connection
)

func word(gen uint32, owner int) uint64 { return uint64(gen)<<32 | uint64(owner) }

// acquire makes owner the process that serves the connection, and reports whether it did. If
// another process serves it, acquire sets the flag wanted, and that process looks for more
// data before it releases the connection.
func (s *connState) acquire(gen uint32, owner int) bool {
	for {
		w := s.word.Load()
		switch {
		case uint32(w>>32) != gen || w&ownerMask == ownerGone:
			return false
		case w&ownerMask == ownerNone:
			if s.word.CompareAndSwap(w, word(gen, owner)) {
				return true
			}
		case w&wanted != 0 || s.word.CompareAndSwap(w, w|wanted):
			return false
		}
	}
}

// release lets any process acquire the connection. If the flag wanted is set, release clears
// it and returns false: owner keeps the connection and must look for more data.
func (s *connState) release(gen uint32, owner int) bool {
	if s.word.CompareAndSwap(word(gen, owner), word(gen, ownerNone)) {
		return true
	}
	s.word.Store(word(gen, owner))
	return false
}

// owner returns the process that serves generation gen of the connection, and ownerGone if
// that is closed.
func (s *connState) owner(gen uint32) int {
	w := s.word.Load()
	if uint32(w>>32) != gen {
		return ownerGone
	}
	return int(w & ownerMask)
}
