package sqlitestore

import (
	"bytes"
	"encoding/binary"

	"scripter/objectdb"
)

// changeLog lists the places that the last commits have changed. The root stores it for
// other processes: they drop these places from their caches, keep all others, and need
// not compare the others with the root. It is stored in the row that every commit
// writes anyway, and has at most changeLogBytes, so that the row fits its page.
//
// It begins with a number: the generation since which it is complete. For each commit
// follow its generation, the number of places, and each place as the id of its table
// and its folded name. Numbers are uvarints; the length of a name precedes it. Each
// place is listed only with the last commit that changed it, so there is room for about
// 200 places, however often they are written. The oldest commits are dropped to make
// room. A commit that does not fit leaves the log empty but for the first number. "" is
// a log that knows nothing.
type changeLog []byte

const changeLogBytes = 3800

// with returns the log with one more commit, which leads from generation gen to the
// next and changed places.
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

	// The first number is known at the end, so room for it is left in front.
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
	// The oldest commits are dropped until the new one fits.
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

// A placeSet is a set of encoded places.
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

// appendWithout appends a commit to log, without the places in set. The commit begins
// at byte from of the reader, which has already read the commit's generation.
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

// nextIn reads a place and reports whether it is in the set.
func (r *changeReader) nextIn(set *placeSet) bool {
	from := r.at
	r.place(nil)
	return !r.bad && set.has(r.log[from:r.at])
}

// read returns the changes in the log, or no changes if the log is malformed or does
// not lead to generation gen.
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
		r.places(func(p objectdb.Place) {
			c.Places = append(c.Places, objectdb.ChangedPlace{Place: p, Generation: commit})
		})
	}
	if r.bad || last != gen {
		return objectdb.Changes{}
	}
	return c
}

// A changeReader reads a log, from byte at.
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
