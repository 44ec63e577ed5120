package pgstore

import (
	"math/bits"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"
	"unsafe"
)

// A page holds what the processes of a host know about the newest generation of a root. They share it in a file, which
// each of them maps. If there is no such file, a process has a page of its own.
//
// All may write at the same time, and a process may die while it writes. Then the words are inconsistent, which the
// word check shows, and nothing is known until the next process writes.
type page struct {
	words  *pageWords
	seed   uint64 // of check: which root, since which start of the host
	tryOwn func() (give func(), ok bool)
}

type pageWords struct {
	floor                          atomic.Int64 // no older generation may be used
	generation, stamp, sent, check atomic.Int64 // a sight
	_                              [3]int64     // asked has a cache line of its own
	asked                          atomic.Int64 // when a process wanted to know, to the second
}

const pageSize = int(unsafe.Sizeof(pageWords{}))

// A sight is the result of a query: at some time after the query was sent, this generation was the newest.
type sight struct {
	generation, stamp int64
	sent              int64 // nanoseconds, see clock
}

// newPage returns a page for one process.
func newPage() *page {
	return &page{words: new(pageWords), tryOwn: func() (func(), bool) { return func() {}, true }}
}

// checkOf returns what the word check has beside a sight. A damaged page, or one of another root, does not have it.
func (p *page) checkOf(s sight) int64 {
	sum := p.seed
	for _, word := range []int64{s.generation, s.stamp, s.sent} {
		// The finalizer of SplitMix64.
		sum ^= uint64(word)
		sum += 0x9e3779b97f4a7c15
		sum = (sum ^ sum>>30) * 0xbf58476d1ce4e5b9
		sum = (sum ^ sum>>27) * 0x94d049bb133111eb
		sum ^= sum >> 31
	}
	return int64(bits.RotateLeft64(sum, 1))
}

// guarded calls fn, which uses the words. It reports false if they cannot be used because somebody has cut the file
// short.
func (p *page) guarded(fn func(w *pageWords)) (ok bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { ok = recover() == nil }()
	fn(p.words)
	runtime.KeepAlive(p)
	return true
}

// read returns what was the newest generation at some time after now - most, if that is known.
func (p *page) read(now int64, most time.Duration) (s sight, known bool) {
	p.guarded(func(w *pageWords) {
		s = w.sight()
		known = w.check.Load() == p.checkOf(s) && s.generation >= w.floor.Load() &&
			s.sent > 0 && s.sent <= now && now-s.sent <= int64(most)
	})
	return s, known
}

func (w *pageWords) sight() sight { return sight{w.generation.Load(), w.stamp.Load(), w.sent.Load()} }

// ask notes that a process wants to know. It reports false if the page can no longer be used.
func (p *page) ask(now int64) (ok bool) {
	return p.guarded(func(w *pageWords) {
		if asked := w.asked.Load(); now-asked > int64(time.Second) || asked > now {
			w.asked.Store(now)
		}
	})
}

// wanted reports whether a process wanted to know a short time ago.
func (p *page) wanted(now int64) (wanted bool) {
	p.guarded(func(w *pageWords) { wanted = now-w.asked.Load() < int64(pollIdle) })
	return wanted
}

// floor returns the generation below which no generation may be used. It is read before a query is sent, for publish.
func (p *page) floor() (generation int64) {
	p.guarded(func(w *pageWords) { generation = w.floor.Load() })
	return generation
}

// publish tells others what a query has found. Once a commit has returned, no process may use an older generation, so
// the floor rises at once. It falls if the server no longer knows a generation that it knew before the
// query was sent.
func (p *page) publish(s sight, floorBefore int64) {
	p.guarded(func(w *pageWords) {
		if s.generation < floorBefore {
			w.floor.CompareAndSwap(floorBefore, s.generation)
		}
		for {
			floor := w.floor.Load()
			known := w.sight()
			later := s.generation == known.generation && s.sent < known.sent && w.check.Load() == p.checkOf(known)
			if s.generation < floor || later {
				return
			}
			if s.generation == floor || w.floor.CompareAndSwap(floor, s.generation) {
				break
			}
		}
		w.generation.Store(s.generation)
		w.stamp.Store(s.stamp)
		w.sent.Store(s.sent)
		w.check.Store(p.checkOf(s))
	})
}
