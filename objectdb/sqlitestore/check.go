package sqlitestore

import (
	"context"
	"database/sql/driver"
	"fmt"

	"scripter/objectdb"
)

// Check runs SQLite's integrity check, and checks the history.
func (c *conn) Check(ctx context.Context, report func(string)) error {
	err := c.eachRowOf(ctx, func(row []driver.Value) error {
		if row[0] != "ok" {
			report(fmt.Sprintf("SQLite: %v", row[0]))
		}
		return nil
	}, 1, `PRAGMA integrity_check`)
	if err == nil {
		err = c.checkRules(ctx, report)
	}
	if err == nil {
		err = c.checkPast(ctx, report)
	}
	if err == nil {
		err = c.checkChanges(ctx, report)
	}
	return err
}

// historyRules find what contradicts itself in the history. Each query returns an id and two
// generations, or numbers that say what is wrong, for the message.
var historyRules = []struct{ query, message string }{
	{`SELECT id, since, until FROM past WHERE since < 0 OR since >= until`,
		"history: object %v has a state from change %v until %v"},
	{`SELECT id, ver, until FROM past WHERE ver < since OR ver >= until`,
		"history: object %v has a state that was written by change %v and lasted until %v"},
	{`SELECT id, since, ver FROM object WHERE since < 0 OR since > ver`,
		"history: object %v is so since change %v and was written by %v"},
	{`SELECT id, since, before FROM
			(SELECT id, since, lag (until) OVER (PARTITION BY id ORDER BY until) AS before FROM past
			UNION ALL SELECT id, since, (SELECT max (until) FROM past WHERE past.id = object.id) FROM object)
		WHERE since < before`,
		"history: object %v has a state from change %v and another one until %v"},
	{`SELECT id, since, before FROM
			(SELECT id, since, lag (until) OVER (PARTITION BY parent, fold ORDER BY until) AS before FROM past
			UNION ALL SELECT id, since, (SELECT max (until) FROM past
				WHERE past.parent = object.parent AND past.fold = object.fold) FROM object)
		WHERE since < before`,
		"history: object %v is at its place from change %v, and another one until %v"},
	{`SELECT id, until, generation FROM past, meta WHERE until > generation`,
		"history: object %v has a state until change %v, and the newest is %v"},
	{`SELECT id, until, last_id FROM past, meta WHERE id < 1 OR id > last_id`,
		"history: object %v has a state until change %v, and the last id is %v"},
	{`SELECT change.generation, first, meta.generation FROM change, meta
		WHERE change.generation > meta.generation OR first > change.generation OR first < 1`,
		"history: change %v belongs to change %v, and the newest is %v"},
	{`SELECT reach, thinned, generation FROM meta WHERE max (reach, thinned) > generation`,
		"history: it reaches back to change %v and is thinned up to %v, and the newest is %v"},
	{`SELECT past_bytes, kept, kept - past_bytes
		FROM meta, (SELECT coalesce (sum (` + keptBytes + `), 0) AS kept FROM past) WHERE past_bytes <> kept`,
		"history: it is said to have %v bytes and has %v, which is %v more"},
}

func (c *conn) checkRules(ctx context.Context, report func(string)) error {
	for _, rule := range historyRules {
		err := c.eachRowOf(ctx, func(row []driver.Value) error {
			report(fmt.Sprintf(rule.message, row[0], row[1], row[2]))
			return nil
		}, 3, rule.query)
		if err != nil {
			return err
		}
	}
	return nil
}

// checkPast looks at each kept state by itself.
func (c *conn) checkPast(ctx context.Context, report func(string)) error {
	return c.eachRowOf(ctx, func(row []driver.Value) error {
		r, err := objectRow((*[12]driver.Value)(row[:12]))
		if err != nil {
			report(fmt.Sprintf("history: object %d until change %v: %v", r.ID, row[12], err))
			return nil
		}
		p := objectdb.Past{Row: r}
		p.Until, _ = row[12].(int64)
		p.Hash, _ = row[13].([]byte)
		p.Check(report)
		return nil
	}, 14, `SELECT `+pastColumns+`value, until, hash FROM past ORDER BY id, until`)
}

// checkChanges compares each change with the states that it has replaced.
func (c *conn) checkChanges(ctx context.Context, report func(string)) error {
	changed := map[int64]map[int64]bool{}
	err := c.eachRowOf(ctx, func(row []driver.Value) error {
		generation, _ := row[0].(int64)
		objects, _ := row[1].([]byte)
		list, err := decodeReplaced(objects)
		if err != nil {
			report(fmt.Sprintf("history: change %d: %v", generation, err))
		}
		if err == nil && row[2] != int64(len(list)) {
			report(fmt.Sprintf("history: change %d is said to have %v objects and has %d", generation, row[2], len(list)))
		}
		changed[generation] = map[int64]bool{}
		for _, r := range list {
			changed[generation][r.ID] = true
		}
		return nil
	}, 3, `SELECT generation, objects, count FROM change`)
	if err != nil {
		return err
	}
	return c.eachRowOf(ctx, func(row []driver.Value) error {
		id, _ := row[0].(int64)
		until, _ := row[1].(int64)
		switch objects, ok := changed[until]; {
		case !ok:
			report(fmt.Sprintf("history: object %d has a state until change %d, which is not there", id, until))
		case !objects[id]:
			report(fmt.Sprintf("history: object %d has a state until change %d, which does not tell of it", id, until))
		}
		return nil
	}, 2, `SELECT id, until FROM past`)
}
