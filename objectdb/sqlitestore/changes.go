package sqlitestore

import (
	"bytes"
	"encoding/binary"

	"scripter/objectdb"
)

// changeLog is what the last commits have changed, as the root tells it to other
// processes: they forget that in their caches and keep the rest, and need not compare
// what else they have read. It stands in the row that every commit writes anyway, and is
// at most changeLogBytes long, so that the row stays on its page.
//
// It is a number, the generation after which it knows everything, and for each commit
// its generation, the number of places, and each place as the id of its table and its
// folded name; numbers are uvarints, a name has its length before it. A place that a
// later commit has changed too is with that one only: so the log is long enough for
// about 200 places, however often they are written. Places that were changed long ago
// fall out of it, and a commit that changed more than it holds empties it. "" knows
// nothing.
type changeLog []byte

const changeLogBytes = 3800

// with returns the log with the commit that leads from generation gen to the next.
func (l changeLog) with(gen int64, places []objectdb.Place) changeLog {
	entry := binary.AppendUvarint(make([]byte, 0, 64), uint64(gen+1))
	entry = binary.AppendUvarint(entry, uint64(len(places)))
	fresh := placeSet{}
	for _, p := range places {
		from := len(entry)
		entry = binary.AppendUvarint(entry, uint64(p.Table))
		entry = binary.AppendUvarint(entry, uint64(len(p.Fold)))
		entry = append(entry, p.Fold...)
		if len(entry) > changeLogBytes-2*binary.MaxVarintLen64 {
			return binary.AppendUvarint(nil, uint64(gen+1))
		}
		fresh.add(len(entry) - from)
	}
	fresh.places = entry[len(entry)-fresh.bytes:]

	r := changeReader{log: l}
	since, last := r.number(), int64(0)
	log := binary.AppendUvarint(make(changeLog, 0, len(l)+len(entry)+2*binary.MaxVarintLen64), uint64(since))
	start := len(log)
	for r.more() {
		commit := r.number()
		if commit <= last {
			r.bad = true
		}
		last = commit
		log = r.appendUnless(&fresh, log, commit)
	}
	if r.bad || max(last, since) != gen {
		since, log, start = gen, nil, 0
	}
	// The oldest commits go until the new one has room.
	const room = changeLogBytes - binary.MaxVarintLen64
	old := changeReader{log: log, at: start}
	for old.more() && len(log)-old.at+len(entry) > room {
		since = old.number()
		old.places(nil)
	}
	whole := binary.AppendUvarint(make(changeLog, 0, changeLogBytes), uint64(since))
	return append(append(whole, log[old.at:]...), entry...)
}

// placeSet are encoded places.
type placeSet struct {
	places []byte
	bytes  int
	sizes  []int
}

func (s *placeSet) add(size int) {
	s.bytes += size
	s.sizes = append(s.sizes, size)
}

// has reports whether an encoded place is in the set.
func (s *placeSet) has(place []byte) bool {
	at := 0
	for _, size := range s.sizes {
		if size == len(place) && bytes.Equal(s.places[at:at+size], place) {
			return true
		}
		at += size
	}
	return false
}

// appendUnless appends to log the commit that r reads next, without the places in a set.
func (r *changeReader) appendUnless(set *placeSet, log changeLog, commit int64) changeLog {
	kept, places := 0, r.scratch[:0]
	for n := r.number(); n > 0 && !r.bad; n-- {
		from := r.at
		r.place(nil)
		if place := r.log[from:r.at]; !set.has(place) {
			kept++
			places = append(places, place...)
		}
	}
	r.scratch = places
	if kept == 0 {
		return log
	}
	log = binary.AppendUvarint(log, uint64(commit))
	log = binary.AppendUvarint(log, uint64(kept))
	return append(log, places...)
}

// read returns what the log says, unless it is no log or does not lead to generation gen.
func (l changeLog) read(gen int64) objectdb.Changes {
	r := changeReader{log: l}
	c := objectdb.Changes{Since: r.number()}
	last := c.Since
	for r.more() {
		commit := r.number()
		if commit <= last {
			return objectdb.Changes{}
		}
		last = commit
		r.places(func(p objectdb.Place) { c.Places = append(c.Places, objectdb.Change{Place: p, Generation: commit}) })
	}
	if r.bad || last != gen {
		return objectdb.Changes{}
	}
	return c
}

// changeReader reads a log from its byte at on.
type changeReader struct {
	log     []byte
	at      int
	bad     bool
	scratch []byte // for appendUnless
}

func (r *changeReader) more() bool { return r.at < len(r.log) && !r.bad }

func (r *changeReader) number() int64 {
	if r.at < len(r.log) && r.log[r.at] < 0x80 { // most are short
		r.at++
		return int64(r.log[r.at-1])
	}
	return r.longNumber()
}

func (r *changeReader) longNumber() int64 {
	n, size := binary.Uvarint(r.log[r.at:])
	if size <= 0 || int64(n) < 0 {
		r.bad, r.at = true, len(r.log)
		return 0
	}
	r.at += size
	return int64(n)
}

func (r *changeReader) places(fn func(objectdb.Place)) {
	for n := r.number(); n > 0 && !r.bad; n-- {
		r.place(fn)
	}
}

func (r *changeReader) place(fn func(objectdb.Place)) {
	table, length := r.number(), r.number()
	if length > int64(len(r.log)-r.at) {
		r.bad, r.at = true, len(r.log)
		return
	}
	if fn != nil {
		fn(objectdb.Place{Table: table, Fold: string(r.log[r.at:][:length])})
	}
	r.at += int(length)
}
