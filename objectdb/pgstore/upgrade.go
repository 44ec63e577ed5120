package pgstore

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"scripter/objectdb"
)

// upgrades bring the tables from one form to the next: entry n has the statements that make form n+1 of form n. There
// are roots of all forms, so that a released entry is never changed. A program that has a root open meanwhile can
// still read, and its next write is refused (checkForm).
var upgrades = []string{
	1: indexTables,
}

// upgrade brings the tables to the present form, in one transaction that holds the writer's lock. If several programs
// open the root at once, one does it, and the others wait.
func (s *store) upgrade(ctx context.Context) error {
	if s.options.ReadOnly {
		return fmt.Errorf("%w: its tables are of an older form, and to bring them up to date they must be written",
			objectdb.ErrReadOnly)
	}
	wait := s.options.BusyTimeout
	var version *int
	c, err := s.open(ctx, &wait, func(ctx context.Context, c *session) error {
		t := c.trip()
		t.add(beginWriting)
		t.add(setLimits, milliseconds(max(wait, time.Millisecond)), "0")
		t.add(takeLock, s.lock)
		t.one(func(rows pgx.Rows) error { return rows.Scan(&version) }, c.in(`SELECT form FROM @.info`))
		return sqlError(ctx, t.run(ctx))
	})
	if err != nil {
		return err
	}
	defer c.End()
	if err := checkForm(version); err != nil || *version == form {
		return err // another program was faster
	}
	for v := *version; v < form; v++ {
		if v < 1 || v >= len(upgrades) {
			return fmt.Errorf("%w: its tables have the form %d, from which no step leads on", objectdb.ErrDamaged, v)
		}
		if _, err := c.conn.PgConn().Exec(ctx, c.in(upgrades[v])).ReadAll(); err != nil {
			return fmt.Errorf("it could not be brought from form %d to %d, and is as it was: %w", *version, form,
				sqlError(ctx, err))
		}
	}
	t := c.trip()
	t.add(c.in(`UPDATE @.info SET form = $1, migrated_by = $2`), form, objectdb.StorableText(s.options.Program))
	t.add(barrierSync)
	t.add(commit)
	return sqlError(ctx, t.run(ctx))
}
