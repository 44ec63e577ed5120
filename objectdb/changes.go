package objectdb

import "encoding/binary"

// changeLog is what the last commits have changed, as the root keeps it for the
// caches of other processes: with it they forget what was changed and keep the
// rest. It stands in the row that every commit writes anyway, and is at most
// changeLogBytes long, so that the row stays on its page: old commits fall out of
// it, and one that changed more than it holds empties it.
//
// It is a number, the generation that it begins after, and for each commit its
// generation, the number of places, and each place as the id of its table and its
// folded name; numbers are uvarints, a name has its length before it. "" knows nothing.
type changeLog []byte

const changeLogBytes = 2048

// with gives the log with the commit that leads from generation gen to the next.
func (l changeLog) with(gen int64, places []written) changeLog {
	entry := binary.AppendUvarint(nil, uint64(gen+1))
	entry = binary.AppendUvarint(entry, uint64(len(places)))
	for _, w := range places {
		entry = binary.AppendUvarint(entry, uint64(w.place.parent))
		entry = binary.AppendUvarint(entry, uint64(len(w.place.fold)))
		entry = append(entry, w.place.fold...)
		if len(entry) > changeLogBytes {
			return binary.AppendUvarint(nil, uint64(gen+1))
		}
	}
	since, commits, ok := l.split(gen)
	if !ok {
		since, commits = gen, nil
	}
	const room = changeLogBytes - binary.MaxVarintLen64
	for len(commits) > 0 && len(commits)+len(entry) > room {
		r := changeReader{log: commits}
		since = r.number()
		r.places(nil)
		commits = r.rest()
	}
	log := binary.AppendUvarint(make(changeLog, 0, changeLogBytes), uint64(since))
	return append(append(log, commits...), entry...)
}

// split gives the log's begin and its commits; not ok when it is no log or does
// not lead to generation gen.
func (l changeLog) split(gen int64) (since int64, commits []byte, ok bool) {
	r := changeReader{log: l}
	since = r.number()
	commits = r.rest()
	last := since
	for r.more() {
		next := r.number()
		if next <= last {
			return 0, nil, false
		}
		last = next
		r.places(nil)
	}
	return since, commits, !r.bad && last == gen
}

// changed calls fn for every place that was changed after generation from up
// to generation gen, and tells whether it knows them all: if not, it calls nothing.
func (l changeLog) changed(from, gen int64, fn func(place)) bool {
	since, commits, ok := l.split(gen)
	if !ok || since > from {
		return false
	}
	for r := (changeReader{log: commits}); r.more(); {
		if r.number() > from {
			r.places(fn)
		} else {
			r.places(nil)
		}
	}
	return true
}

// changeReader reads a log from its byte at on.
type changeReader struct {
	log []byte
	at  int
	bad bool
}

func (r *changeReader) more() bool { return r.at < len(r.log) && !r.bad }

func (r *changeReader) rest() []byte { return r.log[r.at:] }

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

func (r *changeReader) places(fn func(place)) {
	for n := r.number(); n > 0 && !r.bad; n-- {
		parent, length := r.number(), r.number()
		if length > int64(len(r.log)-r.at) {
			r.bad, r.at = true, len(r.log)
			return
		}
		if fn != nil {
			fn(place{parent, string(r.log[r.at:][:length])})
		}
		r.at += int(length)
	}
}
