package pgstore

import (
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// pruneSteps limits how many of the oldest changes and objects a commit drops, so that no commit takes long. For
	// each object that it keeps itself, it may drop two more.
	pruneSteps = 500
	// Looking for what to drop costs a round trip. To do it rarely, a value is dropped only when it is too old by
	// pruneSlack, and if too much is kept, a little more than the excess is dropped.
	pruneSlack = 10 * time.Minute
)

// candidate is a change that may be dropped.
type candidate struct {
	generation, time int64
	person, thinned  bool
	count            int
	bytes            int64 // of the states that would be dropped
}

// prune drops what exceeds the limits: first the thinned values that are too old, then, while too much is kept, the
// other thinned values, and then the oldest changes.
func (k *committer) prune() error {
	b, now, h := k.w.Bounds, k.w.Time, &k.history
	tooMuch := b.Bytes > 0 && h.bytes > b.Bytes
	thinDue := olderThan(h.next, now, b.Thinned+slack(b.Thinned))
	dropDue := olderThan(h.oldest, now, b.All+slack(b.All))
	if !tooMuch && !thinDue && !dropDue {
		return nil
	}
	var thin, oldest []candidate
	t, sql := k.t, k.store.sql
	read := func(list *[]candidate) func(pgx.Rows) error {
		return func(rows pgx.Rows) (err error) {
			*list, err = pgx.CollectRows(rows, candidateOf)
			return err
		}
	}
	t.query(read(&thin), sql[sqlToThin], h.thinned, pruneSteps)
	t.query(read(&oldest), sql[sqlOldest], pruneSteps)
	if err := k.sendNow(); err != nil {
		return err
	}
	budget := pruneSteps + 2*len(k.replaced)
	bytes := h.bytes
	exceeds := func() bool { return tooMuch && bytes > b.Bytes-b.Bytes/64 }
	dropped := map[int64]bool{}
	for _, c := range thin {
		if budget <= 0 || c.generation >= k.w.Generation || !exceeds() && !olderThan(&c.time, now, b.Thinned) {
			break
		}
		budget -= 1 + c.count
		bytes -= c.bytes
		k.t.add(sql[sqlDropThinned], c.generation, k.w.Generation)
		if c.thinned {
			k.t.add(sql[sqlDropChange], c.generation)
			k.t.add(sql[sqlDropObjects], c.generation)
			dropped[c.generation] = true
		}
	}
	for _, c := range oldest {
		if dropped[c.generation] {
			continue
		}
		if budget <= 0 || c.generation >= k.w.Generation || !exceeds() && !olderThan(&c.time, now, b.All) {
			break
		}
		if budget--; c.count > budget+1 {
			k.t.add(sql[sqlDropPart], c.generation, k.w.Generation, c.time, budget+1)
			break // the next commits drop the rest
		}
		budget -= c.count
		bytes -= c.bytes
		k.t.add(sql[sqlDropOldest], c.generation, k.w.Generation, c.time)
	}
	return nil
}

func slack(d time.Duration) time.Duration { return min(d/64, pruneSlack) }

// olderThan reports whether a time, in nanoseconds since 1970, is longer ago than a limit. 0 is no limit.
func olderThan(when *int64, now int64, limit time.Duration) bool {
	return when != nil && limit > 0 && *when < now-int64(limit)
}

func candidateOf(row pgx.CollectableRow) (c candidate, err error) {
	err = row.Scan(&c.generation, &c.time, &c.person, &c.thinned, &c.count, &c.bytes)
	return c, err
}
