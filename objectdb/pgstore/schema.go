package pgstore

import (
	"math"
	"strings"
)

// form is the version of the tables.
const form = 2

// keptCommits is the number of rows of the table commits.
const keptCommits = 1000

// maxValue is the limit of a query that reads a value of any length with its row.
const maxValue int64 = math.MaxInt64

// schema is explained in the package comment. In SQL here, @. stands for the quoted name of the schema and a dot.
const schema = `
CREATE TABLE @.info (
  one         boolean PRIMARY KEY CHECK (one),
  form        integer NOT NULL,
  made_by     text COLLATE "C" NOT NULL,
  migrated_by text COLLATE "C" NOT NULL,
  moved       text COLLATE "C" NOT NULL
);
CREATE TABLE @.commits (
  generation bigint PRIMARY KEY,
  stamp      bigint NOT NULL,
  last_id    bigint NOT NULL,
  tables     bigint[],
  folds      bytea[],
  reverted   bigint NOT NULL,
  reach      bigint NOT NULL,
  reach_time bigint NOT NULL,
  thinned    bigint NOT NULL,
  past_bytes bigint NOT NULL
);
CREATE TABLE @.object (
  id       bigint PRIMARY KEY,
  parent   bigint NOT NULL,
  name     text COLLATE "C" NOT NULL,
  fold     bytea NOT NULL,
  kind     text COLLATE "C" NOT NULL,
  ver      bigint NOT NULL,
  created  bigint NOT NULL,
  modified bigint NOT NULL,
  size     bigint NOT NULL,
  type     text COLLATE "C" NOT NULL,
  since    bigint NOT NULL,
  kept     bigint NOT NULL,
  text     text COLLATE "C",
  bytes    bytea
);
CREATE UNIQUE INDEX object_place ON @.object (parent, fold);
CREATE TABLE @.past (
  id       bigint NOT NULL,
  until    bigint NOT NULL,
  since    bigint NOT NULL,
  parent   bigint NOT NULL,
  name     text COLLATE "C" NOT NULL,
  fold     bytea NOT NULL,
  kind     text COLLATE "C" NOT NULL,
  ver      bigint NOT NULL,
  created  bigint NOT NULL,
  modified bigint NOT NULL,
  size     bigint NOT NULL,
  type     text COLLATE "C" NOT NULL,
  thinned  boolean NOT NULL,
  hash     bytea,
  text     text COLLATE "C",
  bytes    bytea,
  PRIMARY KEY (id, until)
);
CREATE INDEX past_place ON @.past (parent, fold, until);
CREATE INDEX past_until ON @.past (until);
CREATE TABLE @.change (
  generation bigint PRIMARY KEY,
  time       bigint NOT NULL,
  first      bigint NOT NULL,
  person     boolean NOT NULL,
  who        text COLLATE "C" NOT NULL,
  why        text COLLATE "C" NOT NULL,
  path       text COLLATE "C" NOT NULL,
  thinned    boolean NOT NULL,
  count      bigint NOT NULL,
  undoes     bigint[] NOT NULL
);
CREATE INDEX change_parts ON @.change (first) WHERE first <> generation;
CREATE INDEX change_person ON @.change (generation) WHERE person OR undoes <> '{}';
CREATE TABLE @.replaced (
  generation bigint NOT NULL,
  id         bigint NOT NULL,
  how        smallint NOT NULL,
  PRIMARY KEY (generation, id)
);
` + indexTables

// indexTables are also the step to form 2. If they change, the step needs a copy of its own.
const indexTables = `
CREATE TABLE @.idx (
  id     bigint PRIMARY KEY,
  parent bigint NOT NULL,
  rule   text COLLATE "C" NOT NULL,
  state  smallint NOT NULL,
  next   bytea NOT NULL
);
CREATE TABLE @.entry (
  idx   bigint NOT NULL,
  place bytea NOT NULL,
  n     bigint NOT NULL,
  PRIMARY KEY (idx, place)
);
CREATE TABLE @.indexed (
  idx  bigint NOT NULL,
  fold bytea NOT NULL,
  keys bytea NOT NULL,
  PRIMARY KEY (idx, fold)
);
`

// Statements that name no table. They set all that decides what a transaction sees, because the server or the user
// may have other defaults.
const (
	beginReading = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`
	// Once it has the lock, each statement sees the newest state. With REPEATABLE READ, all would see the state
	// from before the wait.
	beginWriting = `BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE`
	commit       = `COMMIT`
	rollback     = `ROLLBACK`
	setLimits    = `SELECT set_config('lock_timeout', $1, true),
		set_config('idle_in_transaction_session_timeout', $2, true)`
	takeLock    = `SELECT pg_advisory_xact_lock($1)`
	commitAsync = `SELECT set_config('synchronous_commit', 'off', true)`
	// The transaction of barrier ends when it is on the disk, and with it all that was committed before, unless the
	// server's setting, or that of the user or the database, is off: barrierSync changes that.
	barrierSync = `SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'`
	barrier     = `SELECT pg_logical_emit_message(true, 'scripter', '')`
)

// A statement is one of the statements in the tables of a root.
type statement int

const (
	sqlNewest statement = iota
	sqlCommitsSince
	sqlStamp
	sqlPoll
	sqlWriting
	sqlInfo
	sqlReplication
	sqlChild
	sqlByID
	sqlChildren
	sqlPage
	sqlPageBackward
	sqlCount
	sqlCountUpTo
	sqlScanEnd
	sqlScan
	sqlCountIDs
	sqlEverything
	sqlIndexes
	sqlEntries
	sqlEntriesBackward
	sqlIndexKeys

	sqlByIDAt
	sqlChildAt
	sqlChildrenAt
	sqlPageAt
	sqlPageBackwardAt
	sqlCountAt
	sqlCountUpToAt
	sqlScanAt
	sqlCountIDsAt
	sqlEverythingAt

	sqlChangesBefore
	sqlPersonChangesBefore
	sqlGenerationAt
	sqlParts
	sqlReplaced
	sqlChangesOf
	sqlFormerly
	sqlFormerlyNamed
	sqlReach
	sqlHistory

	sqlKeep
	sqlPark
	sqlSetPlaces
	sqlDelete
	sqlKeepTree
	sqlDeleteTree
	sqlSetValues
	sqlInsert
	sqlTouch
	sqlAddReplaced
	sqlAddChange
	sqlAddCommit
	sqlDropCommit

	sqlPutIndexes
	sqlDropEntries
	sqlPutEntries
	sqlDropKeys
	sqlPutKeys
	sqlPurgeEntries
	sqlPurgeKeys
	sqlForgetIndex

	sqlToThin
	sqlOldest
	sqlDropThinned
	sqlDropChange
	sqlDropObjects
	sqlDropOldest
	sqlDropPart
	sqlForgetExtend
	sqlForgetPast
	sqlForgetNames

	statements
)

const rowColumns = `id, parent, name, fold, kind, ver, created, modified, size, type, kept, `

// pastColumns are the columns of rowColumns for the table past.
const pastColumns = `id, parent, name, fold, kind, ver, created, modified, size, type, 0::bigint AS kept, `

// value selects the value, or NULL if it is longer than a limit.
func value(longest string) string {
	return `CASE WHEN size <= ` + longest + ` THEN text END AS text,
		CASE WHEN size <= ` + longest + ` THEN bytes END AS bytes`
}

// below begins a statement. It selects the ids of the object $1 and of all objects below it.
const below = `WITH RECURSIVE below (id) AS (
		SELECT $1::bigint UNION SELECT object.id FROM @.object JOIN below ON object.parent = below.id)`

// isCode is true for the kinds that are never thinned.
const isCode = `kind IN ('script', 'text', 'outline')`

// keptBytes is the approximate space that a kept state takes: its value, and a constant for its row.
const keptBytes = `(CASE WHEN hash IS NULL THEN size ELSE 32 END + 128)`

// valueHash is objectdb.HashColumn of the value of an object.
const valueHash = `sha256(coalesce(bytes, convert_to(text, 'UTF8')))`

const pastInsert = `INSERT INTO @.past (id, until, since, parent, name, fold, kind, ver, created, modified, size, type,
		thinned, hash, text, bytes) `

// scanned is true for the objects that a scan finds with the name $3, or with the text of the patterns $4 and,
// in lists, $5.
const scanned = `($3::bytea <> '' AND position($3::bytea IN fold) > 0
		OR $6::bigint >= 0 AND kind IN ('string', 'text', 'outline', 'script', 'list')
		AND (size > $6::bigint OR bytes IS NOT NULL OR text ~ CASE kind WHEN 'list' THEN $5::text ELSE $4::text END))`

// folds begins a statement that reads the folded names that past has in the table $1, within bounds, one by one by
// the index, because a name may have many states. Its last row is NULL.
func folds(bounds, order string) string {
	next := `>`
	if order == `DESC` {
		next = `<`
	}
	return `WITH RECURSIVE folds (f) AS (
			(SELECT fold FROM @.past WHERE parent = $1 ` + bounds + ` ORDER BY fold ` + order + ` LIMIT 1)
			UNION ALL SELECT (SELECT fold FROM @.past WHERE parent = $1 ` + bounds + ` AND fold ` + next + ` f
				ORDER BY fold ` + order + ` LIMIT 1) FROM folds WHERE f IS NOT NULL)
		`
}

// fromFolds selects, for each name in folds, the state in generation $2. An object, and likewise a place, has only
// one state in a generation. So this is the first state that ends after the generation.
const fromFolds = `FROM folds CROSS JOIN LATERAL (SELECT * FROM @.past WHERE parent = $1 AND fold = f AND until > $2
		ORDER BY until LIMIT 1) AS state WHERE since <= $2`

// pageAt is the statement of a page as generation $2 left it.
func pageAt(order string) string {
	const bounds = `AND fold >= $4 AND fold < $5`
	return folds(bounds, order) + `SELECT * FROM (
			(SELECT ` + rowColumns + value(`$3`) + ` FROM @.object WHERE parent = $1 ` + bounds + ` AND since <= $2
				ORDER BY fold ` + order + ` LIMIT $6)
			UNION ALL (SELECT ` + pastColumns + value(`$3`) + ` ` + fromFolds + ` ORDER BY fold ` + order + ` LIMIT $6)
		) AS page ORDER BY fold ` + order + ` LIMIT $6`
}

// statementsIn returns the statements for a schema.
func statementsIn(schema string) *[statements]string {
	list := statementSQL
	for i, s := range list {
		list[i] = inSchema(s, schema)
	}
	return &list
}

func inSchema(sql, schema string) string { return strings.ReplaceAll(sql, "@.", quoted(schema)+".") }

var statementSQL = [statements]string{
	sqlNewest: `SELECT generation, stamp, last_id, reverted, (SELECT stamp FROM @.commits WHERE generation = $1)
		FROM @.commits ORDER BY generation DESC LIMIT 1`,
	sqlCommitsSince: `SELECT generation, tables, folds FROM @.commits WHERE generation > $1
		ORDER BY generation DESC LIMIT $2`,
	sqlPoll:  `SELECT generation, stamp FROM @.commits ORDER BY generation DESC LIMIT 1`,
	sqlStamp: `SELECT (SELECT max(generation) FROM @.commits), (SELECT stamp FROM @.commits WHERE generation = $1)`,
	sqlWriting: `SELECT (SELECT form FROM @.info), (SELECT moved FROM @.info), past_bytes, thinned,
			(SELECT time FROM @.change WHERE generation > commits.thinned ORDER BY generation LIMIT 1),
			(SELECT time FROM @.change ORDER BY generation LIMIT 1)
		FROM @.commits ORDER BY generation DESC LIMIT 1`,
	sqlReplication: `SELECT pg_is_in_recovery(), current_setting('synchronous_standby_names') <> '',
		current_setting('synchronous_commit'), count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')),
		count(*) FILTER (WHERE sync_state NOT IN ('sync', 'quorum')), count(*) FILTER (WHERE sync_state IS NULL)
		FROM pg_stat_replication`,
	sqlInfo: `SELECT form, (SELECT count(*) FROM @.object), (SELECT created FROM @.object WHERE id = 1),
		made_by, migrated_by, moved FROM @.info`,

	sqlChild:    `SELECT ` + rowColumns + value(`$3`) + ` FROM @.object WHERE parent = $1 AND fold = $2`,
	sqlByID:     `SELECT ` + rowColumns + value(`$2`) + ` FROM @.object WHERE id = $1`,
	sqlChildren: `SELECT ` + rowColumns + value(`$2`) + ` FROM @.object WHERE parent = $1 ORDER BY fold`,
	sqlPage: `SELECT ` + rowColumns + value(`$2`) + ` FROM @.object
		WHERE parent = $1 AND fold >= $3 AND fold < $4 ORDER BY fold LIMIT $5`,
	sqlPageBackward: `SELECT ` + rowColumns + value(`$2`) + ` FROM @.object
		WHERE parent = $1 AND fold >= $3 AND fold < $4 ORDER BY fold DESC LIMIT $5`,
	sqlCount: `SELECT count(*) FROM @.object WHERE parent = $1`,
	sqlCountUpTo: `SELECT count(*) FROM
		(SELECT 1 FROM @.object WHERE parent = $1 AND fold >= $2 AND fold < $3 LIMIT $4) AS found`,
	sqlScanEnd: `SELECT coalesce(max(id), 0), count(*)
		FROM (SELECT id FROM @.object WHERE id > $1 ORDER BY id LIMIT $2) AS found`,
	sqlScan: `SELECT ` + rowColumns + value(`$6`) + ` FROM @.object
		WHERE id > $1 AND id <= $2 AND ` + scanned + ` ORDER BY id`,
	sqlCountIDs:   `SELECT count(*) FROM @.object WHERE id > $1 AND id <= $2`,
	sqlEverything: `SELECT ` + rowColumns + `text, bytes FROM @.object ORDER BY id`,

	sqlIndexes: `SELECT id, parent, rule, state, next FROM @.idx ORDER BY id`,
	sqlEntries: `SELECT place, n FROM @.entry WHERE idx = $1 AND place >= $2 AND place < $3 ORDER BY place LIMIT $4`,
	sqlEntriesBackward: `SELECT place, n FROM @.entry WHERE idx = $1 AND place >= $2 AND place < $3
		ORDER BY place DESC LIMIT $4`,
	sqlIndexKeys: `SELECT keys FROM @.indexed WHERE idx = $1 AND fold = $2`,

	sqlByIDAt: `SELECT ` + rowColumns + value(`$2`) + `, since, 0::bigint AS until, NULL::bytea AS hash
			FROM @.object WHERE id = $1 AND since <= $3
		UNION ALL SELECT ` + pastColumns + value(`$2`) + `, since, until, hash
			FROM (SELECT * FROM @.past WHERE id = $1 AND until > $3 ORDER BY until LIMIT 1) AS state WHERE since <= $3`,
	sqlChildAt: `SELECT ` + rowColumns + value(`$3`) + ` FROM @.object WHERE parent = $1 AND fold = $2 AND since <= $4
		UNION ALL SELECT ` + pastColumns + value(`$3`) + ` FROM (SELECT * FROM @.past
			WHERE parent = $1 AND fold = $2 AND until > $4 ORDER BY until LIMIT 1) AS state WHERE since <= $4`,
	sqlChildrenAt: folds(``, `ASC`) + `SELECT ` + rowColumns + value(`$3`) + `
			FROM @.object WHERE parent = $1 AND since <= $2
		UNION ALL SELECT ` + pastColumns + value(`$3`) + ` ` + fromFolds + ` ORDER BY fold`,
	sqlPageAt:         pageAt(`ASC`),
	sqlPageBackwardAt: pageAt(`DESC`),
	sqlCountAt: folds(``, `ASC`) + `SELECT (SELECT count(*) FROM @.object WHERE parent = $1 AND since <= $2)
		+ (SELECT count(*) ` + fromFolds + `)`,
	sqlCountUpToAt: folds(`AND fold >= $3 AND fold < $4`, `ASC`) + `SELECT least($5,
		(SELECT count(*) FROM (SELECT 1 FROM @.object
			WHERE parent = $1 AND fold >= $3 AND fold < $4 AND since <= $2 LIMIT $5) AS found)
		+ (SELECT count(*) FROM (SELECT 1 ` + fromFolds + ` LIMIT $5) AS others))`,
	sqlScanAt: `SELECT ` + rowColumns + value(`$6`) + ` FROM @.object
			WHERE id > $1 AND id <= $2 AND since <= $7 AND ` + scanned + `
		UNION ALL SELECT ` + pastColumns + value(`$6`) + ` FROM @.past
			WHERE id > $1 AND id <= $2 AND until > $7 AND since <= $7 AND ` + scanned + `
		ORDER BY id`,
	sqlCountIDsAt: `SELECT (SELECT count(*) FROM @.object WHERE id > $1 AND id <= $2 AND since <= $3)
		+ (SELECT count(*) FROM @.past WHERE id > $1 AND id <= $2 AND until > $3 AND since <= $3)`,
	sqlEverythingAt: `SELECT ` + rowColumns + `text, bytes FROM @.object WHERE since <= $1
		UNION ALL SELECT ` + pastColumns + `text, bytes FROM @.past WHERE until > $1 AND since <= $1 ORDER BY id`,

	sqlChangesBefore: `SELECT generation, time, first, person, who, why, path, count, undoes FROM @.change
		WHERE generation < $1 AND generation > (SELECT max(reach) FROM @.commits) ORDER BY generation DESC LIMIT $2`,
	sqlPersonChangesBefore: `SELECT generation, time, first, person, who, why, path, count, undoes FROM @.change
		WHERE generation < $1 AND generation > (SELECT max(reach) FROM @.commits) AND (person OR undoes <> '{}')
		ORDER BY generation DESC LIMIT $2`,
	// The times of changes grow with their generations, unless the clock was set back.
	sqlGenerationAt: `SELECT generation FROM @.change WHERE time <= $1 AND generation >= $2
		ORDER BY generation DESC LIMIT 1`,
	sqlParts: `SELECT generation FROM @.change WHERE first = $1 AND first <> generation ORDER BY generation`,
	sqlReplaced: `SELECT replaced.id, replaced.how FROM @.change LEFT JOIN @.replaced USING (generation)
		WHERE generation = $1 ORDER BY id`,
	sqlChangesOf: `SELECT generation FROM @.change WHERE generation > (SELECT max(reach) FROM @.commits) AND generation IN
		(SELECT until FROM @.past WHERE id = $1 UNION SELECT since FROM @.past WHERE id = $1
		UNION SELECT since FROM @.object WHERE id = $1) ORDER BY generation DESC`,
	sqlFormerly:      `SELECT DISTINCT id FROM @.past WHERE parent = $1`,
	sqlFormerlyNamed: `SELECT DISTINCT id FROM @.past WHERE parent = $1 AND fold = $2`,
	sqlReach:         `SELECT reach, reach_time FROM @.commits ORDER BY generation DESC LIMIT 1`,
	sqlHistory: `SELECT reach, reach_time, commits.thinned, past_bytes, (SELECT count(*) FROM @.change), kept.*
		FROM @.commits, (SELECT count(*), count(*) FILTER (WHERE thinned),
			coalesce(sum(` + keptBytes + `) FILTER (WHERE thinned), 0)::bigint FROM @.past) AS kept
		ORDER BY generation DESC LIMIT 1`,

	// $2 is the generation. If it has already kept the state of an object, since is this generation. The arrays
	// have the objects, whether their values are thinned, and the length up to which a value is kept whole.
	sqlKeep: pastInsert + `SELECT id, $2::bigint, since, parent, name, fold, kind, ver, created, modified, size, type,
			keep.thin,
			CASE WHEN size > whole THEN ` + valueHash + ` END,
			CASE WHEN size <= whole THEN text END, CASE WHEN size <= whole THEN bytes END
		FROM unnest($1::bigint[], $3::boolean[], $4::bigint[]) AS keep (object, thin, whole)
		JOIN @.object ON id = keep.object WHERE since < $2`,
	// Objects that move get a temporary parent first, so that two of them can swap places.
	sqlPark: `UPDATE @.object SET parent = -id WHERE id = ANY ($1)`,
	sqlSetPlaces: `UPDATE @.object SET parent = place.parent, name = place.name, fold = place.fold, ver = $5, since = $5
		FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bytea[]) AS place (id, parent, name, fold)
		WHERE object.id = place.id`,
	sqlDelete: `DELETE FROM @.object WHERE id = ANY ($1)`,
	// $3: nothing is thinned. $4: the length up to which a value is kept whole.
	sqlKeepTree: below + `,
		gone AS MATERIALIZED (SELECT object.* FROM @.object JOIN below USING (id)),
		kept AS (` + pastInsert + `SELECT id, $2::bigint, since, parent, name, fold, kind, ver, created, modified, size, type,
				NOT ($3::boolean OR ` + isCode + ` OR kind = 'table' AND (SELECT bool_or(` + isCode + `) FROM gone)),
				CASE WHEN size > $4 THEN ` + valueHash + ` END,
				CASE WHEN size <= $4 THEN text END, CASE WHEN size <= $4 THEN bytes END
			FROM gone WHERE since < $2)
		INSERT INTO @.replaced SELECT $2::bigint, id, $5::smallint FROM gone WHERE since < $2`,
	sqlDeleteTree: below + ` DELETE FROM @.object WHERE id IN (SELECT id FROM below)`,
	sqlSetValues: `UPDATE @.object SET kind = v.kind, ver = $9, modified = v.modified, size = v.size, type = v.type,
			text = v.text, bytes = v.bytes, since = CASE WHEN v.kept IS NULL THEN object.since ELSE $9 END,
			kept = coalesce(v.kept, object.kept)
		FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::bytea[], $8::bigint[])
			AS v (id, kind, modified, size, type, text, bytes, kept) WHERE object.id = v.id`,
	sqlInsert: `INSERT INTO @.object (id, parent, name, fold, kind, ver, created, modified, size, type, since, kept,
			text, bytes)
		SELECT id, parent, name, fold, kind, $11::bigint, created, modified, size, type, $11::bigint, 0, text, bytes
		FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bytea[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[],
			$9::text[], $10::text[], $12::bytea[])
			AS new (id, parent, name, fold, kind, created, modified, size, type, text, bytes)`,
	sqlTouch: `UPDATE @.object SET ver = $2, modified = $3 WHERE id = ANY ($1)`,
	sqlAddReplaced: `INSERT INTO @.replaced SELECT $1::bigint, id, how
		FROM unnest($2::bigint[], $3::smallint[]) AS r (id, how) ON CONFLICT DO NOTHING`,
	// $9: a state is kept that is not thinned, not counting those below deleted tables.
	sqlAddChange: `INSERT INTO @.change (generation, time, first, person, who, why, path, undoes, thinned, count)
		SELECT $1::bigint, $2::bigint, $3::bigint, $4::boolean, $5::text, $6::text, $7::text, $8::bigint[],
			NOT ($4::boolean OR $9::boolean OR EXISTS (SELECT 1 FROM @.past WHERE until = $1 AND NOT thinned)),
			(SELECT count(*) FROM @.replaced WHERE generation = $1)`,
	// If the row of the commit before is missing, a column is NULL, and the commit fails. $6: the commit revives
	// tables. $7: it has kept states.
	sqlAddCommit: `INSERT INTO @.commits (generation, stamp, last_id, tables, folds, reverted, reach, reach_time, thinned,
			past_bytes)
		SELECT $1::bigint, $2::bigint, $3::bigint, $4::bigint[], $5::bytea[],
			CASE WHEN $6::boolean THEN $1::bigint ELSE last.reverted END, last.reach, last.reach_time, last.thinned,
			last.past_bytes + CASE WHEN $7::boolean
				THEN (SELECT coalesce(sum(` + keptBytes + `), 0) FROM @.past WHERE until = $1) ELSE 0 END
		FROM (SELECT $1::bigint - 1 AS generation) AS made LEFT JOIN @.commits AS last USING (generation)`,
	sqlDropCommit: `DELETE FROM @.commits WHERE generation = $1`,

	sqlPutIndexes: `INSERT INTO @.idx (id, parent, rule, state, next)
		SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::smallint[], $5::bytea[])
		ON CONFLICT (id) DO UPDATE SET state = excluded.state, next = excluded.next`,
	sqlDropEntries: `DELETE FROM @.entry USING unnest($1::bigint[], $2::bytea[]) AS gone (i, p) WHERE idx = i AND place = p`,
	sqlPutEntries: `INSERT INTO @.entry (idx, place, n) SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::bigint[])
		ON CONFLICT (idx, place) DO UPDATE SET n = excluded.n`,
	sqlDropKeys: `DELETE FROM @.indexed USING unnest($1::bigint[], $2::bytea[]) AS gone (i, f) WHERE idx = i AND fold = f`,
	sqlPutKeys: `INSERT INTO @.indexed (idx, fold, keys) SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::bytea[])
		ON CONFLICT (idx, fold) DO UPDATE SET keys = excluded.keys`,
	sqlPurgeEntries: `DELETE FROM @.entry WHERE idx = $1 AND place IN
		(SELECT place FROM @.entry WHERE idx = $1 ORDER BY place LIMIT $2)`,
	sqlPurgeKeys: `DELETE FROM @.indexed WHERE idx = $1 AND fold IN
		(SELECT fold FROM @.indexed WHERE idx = $1 ORDER BY fold LIMIT $2)`,
	sqlForgetIndex: `DELETE FROM @.idx WHERE id = $1 AND NOT EXISTS (SELECT FROM @.entry WHERE idx = $1)
		AND NOT EXISTS (SELECT FROM @.indexed WHERE idx = $1)`,

	sqlToThin: `SELECT generation, time, person, thinned, count,
			(SELECT coalesce(sum(` + keptBytes + `), 0)::bigint FROM @.past WHERE until = generation AND past.thinned)
		FROM @.change WHERE generation > $1 ORDER BY generation LIMIT $2`,
	sqlOldest: `SELECT generation, time, person, thinned, count,
			(SELECT coalesce(sum(` + keptBytes + `), 0)::bigint FROM @.past WHERE until = generation)
		FROM @.change ORDER BY generation LIMIT $1`,
	// The next state takes over from a dropped one if it is at the same place. $2 is the generation of the commit.
	sqlDropThinned: `WITH dropped AS (DELETE FROM @.past WHERE until = $1 AND thinned RETURNING *),
		present AS (UPDATE @.object SET since = dropped.since FROM dropped WHERE object.id = dropped.id
			AND object.since = dropped.until AND object.parent = dropped.parent AND object.name = dropped.name),
		next AS (UPDATE @.past SET since = dropped.since FROM dropped WHERE past.id = dropped.id
			AND past.since = dropped.until AND past.parent = dropped.parent AND past.name = dropped.name)
		UPDATE @.commits SET thinned = $1, past_bytes = past_bytes - (SELECT coalesce(sum(` + keptBytes + `), 0) FROM dropped)
		WHERE generation = $2`,
	sqlDropChange:  `DELETE FROM @.change WHERE generation = $1`,
	sqlDropObjects: `DELETE FROM @.replaced WHERE generation = $1`,
	// $3 is the time of the change.
	sqlDropOldest: `WITH dropped AS (DELETE FROM @.past WHERE until = $1 RETURNING *),
		objects AS (DELETE FROM @.replaced WHERE generation = $1),
		change AS (DELETE FROM @.change WHERE generation = $1)
		UPDATE @.commits SET reach = $1, reach_time = $3,
			past_bytes = past_bytes - (SELECT coalesce(sum(` + keptBytes + `), 0) FROM dropped)
		WHERE generation = $2`,
	// $4 is the number of objects of the change that are dropped.
	sqlDropPart: `WITH objects AS (DELETE FROM @.replaced WHERE generation = $1 AND id IN
			(SELECT id FROM @.replaced WHERE generation = $1 ORDER BY id LIMIT $4) RETURNING id),
		dropped AS (DELETE FROM @.past WHERE until = $1 AND id IN (SELECT id FROM objects) RETURNING *),
		change AS (UPDATE @.change SET count = count - (SELECT count(*) FROM objects) WHERE generation = $1)
		UPDATE @.commits SET reach = $1, reach_time = $3,
			past_bytes = past_bytes - (SELECT coalesce(sum(` + keptBytes + `), 0) FROM dropped)
		WHERE generation = $2`,

	sqlForgetExtend: `WITH RECURSIVE stay (since) AS (
			SELECT since FROM @.object WHERE id = $1
			UNION SELECT past.since FROM stay JOIN @.past ON past.id = $1 AND past.until = stay.since
				JOIN @.object ON object.id = $1 AND object.parent = past.parent AND object.name = past.name)
		UPDATE @.object SET since = (SELECT min(since) FROM stay) WHERE id = $1`,
	sqlForgetPast: `WITH gone AS (DELETE FROM @.past WHERE id = $1 RETURNING ` + keptBytes + ` AS kept),
		bytes AS (UPDATE @.commits SET past_bytes = past_bytes - (SELECT coalesce(sum(kept), 0) FROM gone)
			WHERE generation = $2)
		SELECT count(*), coalesce(sum(kept), 0)::bigint FROM gone`,
	sqlForgetNames: `UPDATE @.commits SET tables = NULL, folds = NULL WHERE tables IS NOT NULL`,
}
