package pgstore

import (
	"context"

	"scripter/objectdb"
)

// Mark writes the mark into the table info, which every writer reads once it has the lock.
func (s *store) Mark(ctx context.Context, target string, locked func() error) (before string, err error) {
	wait := s.options.BusyTimeout
	w, _, err := s.beginLocked(ctx, 0, &wait)
	if err != nil {
		return "", err
	}
	defer w.End()
	before = w.moved
	switch {
	case target == "" && before == "":
		return "", nil
	case target != "" && before != "":
		return before, objectdb.MovedTo(before)
	case target != "":
		if err := locked(); err != nil {
			return before, err
		}
	}
	t := w.trip()
	t.add(w.in(`UPDATE @.info SET moved = $1`), target)
	t.add(barrierSync)
	t.add(commit)
	return before, sqlError(ctx, t.run(ctx))
}
