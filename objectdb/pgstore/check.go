package pgstore

import (
	"context"
	"fmt"

	"scripter/objectdb"
)

// Check checks the history, and that the tables agree on it. The server itself checks its files, if they have
// checksums.
func (c *session) Check(ctx context.Context, report func(string)) error {
	for _, rule := range rules {
		rows, err := c.conn.Query(ctx, inSchema(rule.query, c.store.schema))
		if err != nil {
			return sqlError(ctx, err)
		}
		for rows.Next() {
			values, err := rows.Values()
			if err != nil {
				rows.Close()
				return sqlError(ctx, err)
			}
			report(fmt.Sprintf("history: "+rule.message, values...))
		}
		if err := rows.Err(); err != nil {
			return sqlError(ctx, err)
		}
	}
	return c.checkPast(ctx, report)
}

// rules find contradictions. The columns of a query are the arguments of its message.
var rules = []struct{ query, message string }{
	{`SELECT id, since, until FROM @.past WHERE since < 0 OR since >= until`,
		"object %v has a state from change %v until %v"},
	{`SELECT id, ver, until FROM @.past WHERE ver < since OR ver >= until`,
		"object %v has a state that was written by change %v and lasted until %v"},
	{`SELECT id, since, ver FROM @.object WHERE since < 0 OR since > ver`,
		"object %v is so since change %v and was written by %v"},
	{`SELECT id, since, before FROM
			(SELECT id, since, lag (until) OVER (PARTITION BY id ORDER BY until) AS before FROM @.past
			UNION ALL SELECT id, since, (SELECT max (until) FROM @.past WHERE past.id = object.id) FROM @.object) AS s
		WHERE since < before`,
		"object %v has a state from change %v and another one until %v"},
	{`SELECT id, since, before FROM
			(SELECT id, since, lag (until) OVER (PARTITION BY parent, fold ORDER BY until) AS before FROM @.past
			UNION ALL SELECT id, since, (SELECT max (until) FROM @.past
				WHERE past.parent = object.parent AND past.fold = object.fold) FROM @.object) AS s
		WHERE since < before`,
		"object %v is at its place from change %v, and another one until %v"},
	{`SELECT id, until FROM @.past WHERE until > (SELECT max(generation) FROM @.commits)`,
		"object %v has a state until change %v, which is to come"},
	{`SELECT id, until FROM @.past WHERE id < 1 OR id > (SELECT max(last_id) FROM @.commits)`,
		"object %v has a state until change %v, and its id was never given"},
	{`SELECT generation, first FROM @.change
		WHERE generation > (SELECT max(generation) FROM @.commits) OR first > generation OR first < 1`,
		"change %v belongs to change %v"},
	{`SELECT generation, count, (SELECT count(*) FROM @.replaced WHERE replaced.generation = change.generation)
		FROM @.change WHERE count <> (SELECT count(*) FROM @.replaced WHERE replaced.generation = change.generation)`,
		"change %v is said to have %v objects and has %v"},
	{`SELECT id, generation FROM @.replaced WHERE NOT EXISTS
		(SELECT FROM @.change WHERE change.generation = replaced.generation)`,
		"object %v is said to be of change %v, which is not there"},
	{`SELECT id, until FROM @.past WHERE NOT EXISTS
		(SELECT FROM @.replaced WHERE replaced.generation = until AND replaced.id = past.id)`,
		"object %v has a state until change %v, which does not tell of it"},
	{`SELECT generation, lag FROM (SELECT generation, lag(generation) OVER (ORDER BY generation) FROM @.commits) AS c
		WHERE generation <> lag + 1`,
		"commit %v comes after commit %v"},
	{`SELECT reach, thinned, generation FROM @.commits WHERE greatest(reach, thinned) > generation`,
		"it reaches back to change %v and is thinned up to %v, and the newest is %v"},
	{`SELECT past_bytes, kept::bigint FROM (SELECT past_bytes FROM @.commits ORDER BY generation DESC LIMIT 1) AS said,
			(SELECT coalesce (sum (` + keptBytes + `), 0) AS kept FROM @.past) AS there
		WHERE past_bytes <> kept`,
		"it is said to have %v bytes and has %v"},
}

// checkPast looks at each kept state by itself.
func (c *session) checkPast(ctx context.Context, report func(string)) error {
	const query = `SELECT ` + pastColumns + `text, bytes, until, hash FROM @.past ORDER BY id, until`
	rows, err := c.conn.Query(ctx, inSchema(query, c.store.schema))
	if err != nil {
		return sqlError(ctx, err)
	}
	defer rows.Close()
	for rows.Next() {
		var p objectdb.Past
		var err error
		if p.Row, err = objectRow(rows, &p.Until, &p.Hash); err != nil {
			report(fmt.Sprintf("history: object %d until change %d: %v", p.ID, p.Until, err))
			continue
		}
		p.Check(report)
	}
	return sqlError(ctx, rows.Err())
}
