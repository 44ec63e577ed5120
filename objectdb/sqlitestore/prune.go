package sqlitestore

import (
	"context"
	"database/sql/driver"
	"math"

	"scripter/objectdb"
)

// historyState has the reach and the size of the history while a commit drops what exceeds
// the limits.
type historyState struct {
	*conn
	reach     int64 // see objectdb.HistoryInfo
	reachTime int64
	thinned   int64
	bytes     int64
	budget    int // how many more changes and objects the commit may look at
}

// pruneSteps limits how many of the oldest changes and objects a commit drops, so that no
// commit takes long. For each object that it keeps itself, it may drop two more.
const pruneSteps = 500

// setReverted writes the table meta for a commit that restores objects. h may be nil.
func (h *historyState) setReverted(ctx context.Context, c *conn, generation, last int64) error {
	if h != nil {
		if err := c.execBefore(ctx, sqlSetHistory, h.reach, h.reachTime, h.thinned, h.bytes); err != nil {
			return err
		}
	}
	return c.execBefore(ctx, sqlSetReverted, generation, last)
}

// prune drops what exceeds the limits: first the thinned values that are too old, then, while
// too much is kept, the other thinned values, and then the oldest changes.
func (h *historyState) prune(ctx context.Context, w *objectdb.Commit) error {
	for h.budget > 0 {
		h.budget--
		tooMuch := w.Bounds.Bytes > 0 && h.bytes > w.Bounds.Bytes
		more, err := h.thin(ctx, w, tooMuch)
		if err == nil && !more {
			more, err = h.dropOldest(ctx, w, tooMuch)
		}
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// thin drops the thinned values of the oldest change that has any, if they are too old or
// tooMuch is kept. It reports whether it has looked at a change.
func (h *historyState) thin(ctx context.Context, w *objectdb.Commit, tooMuch bool) (bool, error) {
	tooOld := int64(math.MinInt64)
	if w.Bounds.Thinned > 0 {
		tooOld = w.Time - int64(w.Bounds.Thinned)
	}
	if !tooMuch && h.store.notThinned.Load() >= tooOld {
		return false, nil
	}
	var row [4]driver.Value
	if found, err := h.found(row[:], sqlNextToThin, h.thinned); !found {
		return false, err
	}
	generation, _ := row[0].(int64)
	made, _ := row[1].(int64)
	if generation >= w.Generation || made >= tooOld && !tooMuch {
		h.store.notThinned.Store(made)
		return false, nil
	}
	objects, _ := row[2].([]byte)
	list, err := decodeReplaced(objects)
	if err != nil {
		return false, err
	}
	for _, r := range list {
		if err := h.dropThinned(ctx, r.ID, generation); err != nil {
			return false, err
		}
	}
	h.budget -= len(list)
	if row[3] == int64(1) {
		if err := h.execBefore(ctx, sqlDropChange, generation); err != nil {
			return false, err
		}
	}
	h.thinned = generation
	return true, nil
}

// dropThinned drops the state of an object that a generation has replaced, if it is thinned.
// The next state then stands for it, if it is at the same place.
func (h *historyState) dropThinned(ctx context.Context, id, until int64) error {
	var row [4]driver.Value
	if found, err := h.found(row[:], sqlDropThinned, id, until); !found {
		return err
	}
	n, _ := row[3].(int64)
	h.bytes -= n
	if err := h.execBefore(ctx, sqlExtendPresent, id, until, row[0], row[1], row[2]); err != nil {
		return err
	}
	return h.execBefore(ctx, sqlExtendPast, id, until, row[0], row[1], row[2])
}

// dropOldest drops the oldest change if it is too old or tooMuch is kept. It reports
// whether it has dropped one.
func (h *historyState) dropOldest(ctx context.Context, w *objectdb.Commit, tooMuch bool) (bool, error) {
	if w.Bounds.All == 0 && !tooMuch {
		return false, nil
	}
	var row [3]driver.Value
	if found, err := h.found(row[:], sqlOldestChange); !found {
		return false, err
	}
	generation, _ := row[0].(int64)
	made, _ := row[1].(int64)
	old := w.Bounds.All > 0 && made < w.Time-int64(w.Bounds.All)
	if generation >= w.Generation || !old && !tooMuch {
		return false, nil
	}
	h.reach, h.reachTime = generation, made
	objects, _ := row[2].([]byte)
	list, err := decodeReplaced(objects)
	if err != nil {
		return false, err
	}
	now := min(len(list), h.budget+1)
	for _, r := range list[:now] {
		var bytes [1]driver.Value
		if _, err := h.found(bytes[:], sqlDropPast, r.ID, generation); err != nil {
			return false, err
		}
		n, _ := bytes[0].(int64) // nil if there was no state
		h.bytes -= n
	}
	h.budget -= now
	if rest := list[now:]; len(rest) > 0 { // the next commits drop them
		return true, h.execBefore(ctx, sqlSetReplaced, generation, encodeReplaced(rest), int64(len(rest)))
	}
	return true, h.execBefore(ctx, sqlDropChange, generation)
}
