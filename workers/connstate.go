//go:build linux

package workers

import "sync/atomic"

// slot is a shared connection.
type connState struct {
	// word says who serves the connection: its generation in the upper half,
	// below it the owner, and whether others have seen something to do.
	word atomic.Uint64
	// since is when the connection was last left, or when part of a request
	// was first seen on it; nanoseconds of the machine's clock.
	since atomic.Int64
	// first is when part of the present request was first seen.
	first atomic.Int64
	// partial is how many bytes of an incomplete request were seen; 0: none.
	partial atomic.Int64
	// body is true when they hold part of a body.
	body atomic.Bool
	// spooled is how many bytes of the first request are in a file; 0: it is
	// none, or has been served. Whole is true when all of it is there.
	spooled atomic.Int64
	whole   atomic.Bool
	request atomic.Uint32 // FastCGI's number of that request
}

// leave notes that n bytes of an incomplete request are there.
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

// rest notes that nothing of a request is there.
func (s *connState) noteIdle() {
	s.partial.Store(0)
	s.body.Store(false)
	s.since.Store(now())
}

const (
	ownerMask   = 0xffff
	ownerNone   = 0
	ownerMaster = 0xfffe
	ownerGone   = 0xffff // closed; the number may not be used again yet
	wanted      = 1 << 16
)

func word(gen uint32, owner int) uint64 { return uint64(gen)<<32 | uint64(owner) }

// claim makes owner the one who serves the connection. When somebody else does,
// that one is told to look again before it leaves.
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

// release lets others serve the connection. It reports false when somebody has
// seen something to do meanwhile: the owner stays the owner and looks again.
func (s *connState) release(gen uint32, owner int) bool {
	if s.word.CompareAndSwap(word(gen, owner), word(gen, ownerNone)) {
		return true
	}
	s.word.Store(word(gen, owner))
	return false
}

// owner returns who serves the connection of generation gen; ownerGone when it
// is closed or another one by now.
func (s *connState) owner(gen uint32) int {
	w := s.word.Load()
	if uint32(w>>32) != gen {
		return ownerGone
	}
	return int(w & ownerMask)
}
