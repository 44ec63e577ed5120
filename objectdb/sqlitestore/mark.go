package sqlitestore

import (
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"strings"

	"scripter/objectdb"
)

// The mark of a moved root is a trigger on the table meta. Each commit writes that table, so the trigger refuses all of
// them, even in programs that do not know the mark. A root without the mark pays nothing for it.
const (
	movedTo   = "root was moved to "
	markBegin = `CREATE TRIGGER moved BEFORE UPDATE ON meta BEGIN SELECT RAISE (ABORT, '` + movedTo
	markEnd   = `'); END`
)

func (s *store) Mark(ctx context.Context, target string, locked func() error) (before string, err error) {
	if s.options.ReadOnly {
		return "", objectdb.ErrReadOnly
	}
	wait := s.options.BusyTimeout
	c, _, err := s.beginWrite(ctx, 0, &wait)
	if err != nil {
		return "", err
	}
	defer c.End()
	if before, err = c.moved(); err != nil {
		return "", err
	}
	switch {
	case target == "" && before == "":
		return "", nil
	case target == "":
		err = c.setMoved("")
	case before != "":
		return before, objectdb.MovedTo(before)
	default:
		if err = locked(); err == nil {
			err = c.setMoved(target)
		}
	}
	if err != nil {
		return before, err
	}
	if err := c.commit(); err != nil {
		return before, err
	}
	return before, s.sync(c.wal)
}

// moved returns where the root was moved to, or "".
func (c *conn) moved() (string, error) {
	var row [1]driver.Value
	rows, err := c.c.Query(`SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND name = 'moved'`, nil)
	if err != nil {
		return "", sqlError(err)
	}
	defer rows.Close()
	if err := rows.Next(row[:]); err == io.EOF {
		return "", nil
	} else if err != nil {
		return "", sqlError(err)
	}
	text, _ := row[0].(string)
	target, ok := strings.CutPrefix(text, markBegin)
	target, ok2 := strings.CutSuffix(target, markEnd)
	if !ok || !ok2 {
		return "", fmt.Errorf("%w: its trigger %q is not as we made it", objectdb.ErrDamaged, text)
	}
	return strings.ReplaceAll(target, "''", "'"), nil
}

// setMoved makes the mark, or takes it back if target is "".
func (c *conn) setMoved(target string) error {
	query := `DROP TRIGGER IF EXISTS moved`
	if target != "" {
		query = markBegin + strings.ReplaceAll(target, "'", "''") + markEnd
	}
	_, err := c.c.Exec(query, nil)
	return sqlError(err)
}
