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

	// The log is built behind room for its first number, which is known at the end.
	const front = binary.MaxVarintLen64
	log := make(changeLog, front, front+len(l)+len(entry))
	r := changeReader{log: l}
	since, last := r.number(), int64(0)
	for r.more() {
		from := r.at
		commit := r.number()
		if commit <= last {
			r.bad = true
		}
		last = commit
		log = r.appendWithout(&fresh, log, from, commit)
	}
	if r.bad || max(last, since) != gen {
		since, log = gen, log[:front]
	}
	// The oldest commits go until the new one has room.
	const room = changeLogBytes - binary.MaxVarintLen64
	old := changeReader{log: log, at: front}
	for old.more() && len(log)-old.at+len(entry) > room {
		since = old.number()
		old.places(nil)
	}
	log = append(log, entry...)
	var number [front]byte
	begin := old.at - binary.PutUvarint(number[:], uint64(since))
	copy(log[begin:old.at], number[:])
	return log[begin:]
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

// appendWithout appends to log a commit without the places in a set. The commit begins at
// byte from of the reader, which has read its number.
func (r *changeReader) appendWithout(set *placeSet, log changeLog, from int, commit int64) changeLog {
	n := r.number()
	first, kept := r.at, int64(0)
	for i := n; i > 0 && !r.bad; i-- {
		if !r.nextIn(set) {
			kept++
		}
	}
	switch {
	case r.bad, kept == 0:
		return log
	case kept == n:
		return append(log, r.log[from:r.at]...)
	}
	log = binary.AppendUvarint(log, uint64(commit))
	log = binary.AppendUvarint(log, uint64(kept))
	for again := (changeReader{log: r.log[:r.at], at: first}); again.more(); {
		from := again.at
		if !again.nextIn(set) {
			log = append(log, again.log[from:again.at]...)
		}
	}
	return log
}

// nextIn reads a place and reports whether it is in a set.
func (r *changeReader) nextIn(set *placeSet) bool {
	from := r.at
	r.place(nil)
	return !r.bad && set.has(r.log[from:r.at])
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
	log []byte
	at  int
	bad bool
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
