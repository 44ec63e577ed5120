package sqlitestore

// schema is explained in the package comment.
const schema = `
CREATE TABLE meta (
  only        INTEGER PRIMARY KEY CHECK (only = 1),
  generation  INTEGER NOT NULL,
  last_id     INTEGER NOT NULL,
  made_by     TEXT NOT NULL DEFAULT '',
  migrated_by TEXT NOT NULL DEFAULT '',
  reverted    INTEGER NOT NULL DEFAULT 0,
  changes     BLOB NOT NULL DEFAULT x'',
  reach       INTEGER NOT NULL DEFAULT 1,
  reach_time  INTEGER NOT NULL DEFAULT 0,
  thinned     INTEGER NOT NULL DEFAULT 0,
  past_bytes  INTEGER NOT NULL DEFAULT 0
);
` + objectTable + historyTables + indexTables

const objectTable = `
CREATE TABLE object (
  id       INTEGER PRIMARY KEY,
  parent   INTEGER NOT NULL,
  name     TEXT NOT NULL,
  fold     TEXT NOT NULL,
  kind     TEXT NOT NULL,
  ver      INTEGER NOT NULL,
  created  INTEGER NOT NULL,
  modified INTEGER NOT NULL,
  size     INTEGER NOT NULL,
  type     TEXT NOT NULL,
  since    INTEGER NOT NULL,
  kept     INTEGER NOT NULL,
  value
);
CREATE UNIQUE INDEX object_place ON object (parent, fold);
`

// historyTables are also part of the migration to version 4. If they change, the migration
// needs a copy of its own.
const historyTables = `
CREATE TABLE past (
  id       INTEGER NOT NULL,
  until    INTEGER NOT NULL,
  since    INTEGER NOT NULL,
  parent   INTEGER NOT NULL,
  name     TEXT NOT NULL,
  fold     TEXT NOT NULL,
  kind     TEXT NOT NULL,
  ver      INTEGER NOT NULL,
  created  INTEGER NOT NULL,
  modified INTEGER NOT NULL,
  size     INTEGER NOT NULL,
  type     TEXT NOT NULL,
  thinned  INTEGER NOT NULL,
  hash     BLOB,
  value,
  PRIMARY KEY (id, until)
) WITHOUT ROWID;
CREATE INDEX past_place ON past (parent, fold, until);
CREATE TABLE change (
  generation INTEGER PRIMARY KEY,
  time       INTEGER NOT NULL,
  first      INTEGER NOT NULL,
  person     INTEGER NOT NULL,
  who        TEXT NOT NULL,
  why        TEXT NOT NULL,
  path       TEXT NOT NULL,
  thinned    INTEGER NOT NULL,
  count      INTEGER NOT NULL,
  undoes     BLOB NOT NULL,
  objects    BLOB NOT NULL
);
CREATE INDEX change_parts ON change (first) WHERE first <> generation;
CREATE INDEX change_person ON change (generation) WHERE person OR undoes <> x'';
`

// indexTables are also the migration to version 5. If they change, the migration needs a copy of its own.
const indexTables = `
CREATE TABLE idx (
  id     INTEGER PRIMARY KEY,
  parent INTEGER NOT NULL,
  rule   TEXT NOT NULL,
  state  INTEGER NOT NULL,
  next   TEXT NOT NULL
);
CREATE TABLE entry (
  idx   INTEGER NOT NULL,
  place BLOB NOT NULL,
  n     INTEGER NOT NULL,
  PRIMARY KEY (idx, place)
) WITHOUT ROWID;
CREATE TABLE indexed (
  idx  INTEGER NOT NULL,
  fold TEXT NOT NULL,
  keys BLOB NOT NULL,
  PRIMARY KEY (idx, fold)
) WITHOUT ROWID;
`

// A statement is one of the SQL statements that a connection keeps prepared.
type statement int

const (
	sqlMeta statement = iota
	sqlVersion
	sqlChanges
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
	sqlHasPast
	sqlPageAt
	sqlPageBackwardAt
	sqlCountAt
	sqlCountUpToAt
	sqlScanAt
	sqlCountIDsAt
	sqlEverythingAt
	sqlChangesBefore
	sqlPersonChangesBefore
	sqlChangeUpTo
	sqlParts
	sqlReplaced
	sqlChangesOf
	sqlFormerly
	sqlFormerlyNamed
	sqlReach
	sqlHistory

	sqlBegin
	sqlCommit
	sqlRollback
	sqlSetMeta
	sqlSetMetaAndHistory
	sqlSetReverted
	sqlInsert
	sqlSetValue
	sqlKeepValue
	sqlSetPlace
	sqlPark
	sqlTouch
	sqlDelete
	sqlDeleteTree
	sqlKeep
	sqlKeepHash
	sqlKeepTree
	sqlLargeBelow
	sqlCodeBelow
	sqlAddChange
	sqlSetHistory
	sqlOldestChange
	sqlNextToThin
	sqlDropThinned
	sqlExtendPresent
	sqlExtendPast
	sqlDropPast
	sqlDropChange
	sqlSetReplaced
	sqlPutIndex
	sqlPutEntry
	sqlDropEntry
	sqlPutKeys
	sqlDropKeys
	sqlPurgeEntries
	sqlPurgeKeys
	sqlForgetIndex

	sqlWALState
	sqlCheckpoint
	sqlCheckpointTruncate

	statements
)

const rowColumns = `id, parent, name, fold, kind, ver, created, modified, size, type, kept, `

// pastColumns are the columns of rowColumns for the table past.
const pastColumns = `id, parent, name, fold, kind, ver, created, modified, size, type, 0, `

// below begins a statement. It selects the ids of the object ?1 and of all objects below it.
const below = `WITH RECURSIVE below (id) AS (
		SELECT ?1 UNION SELECT object.id FROM object JOIN below ON object.parent = below.id)
	`

// pastFolds begins a statement that reads the table ?1 as generation ?2 left it. folds has the
// folded names that past has in the table, and NULL. It finds each name by the index, because a
// name may have many states.
const pastFolds = `WITH RECURSIVE folds (f) AS (
		SELECT min(fold) FROM past WHERE parent = ?1
		UNION ALL SELECT (SELECT min(fold) FROM past WHERE parent = ?1 AND fold > f) FROM folds WHERE f IS NOT NULL)
	`

// fromPastFolds selects, for each name in folds, the state in generation ?2.
const fromPastFolds = `FROM folds CROSS JOIN past ON parent = ?1 AND fold = f AND since <= ?2
	AND until = (SELECT min(until) FROM past WHERE parent = ?1 AND fold = f AND until > ?2)`

// scanned is true for the objects that a scan finds with the name ?3, or with the text of the patterns ?4 and,
// in lists, ?5. If a text is no TEXT, it has a NUL, at which GLOB would stop, or it is not UTF-8.
const scanned = `(?3 <> '' AND instr(fold, ?3) > 0
		OR ?4 IS NOT NULL AND kind IN ('string', 'text', 'outline', 'script', 'list')
		AND (size > ?6 OR typeof(value) <> 'text' OR value GLOB CASE kind WHEN 'list' THEN ?5 ELSE ?4 END))`

// isCode is true for the kinds that are never thinned.
const isCode = `kind IN ('script', 'text', 'outline')`

// keptBytes is about the space that a kept state takes: its value, and a constant for its row.
const keptBytes = `CASE WHEN hash IS NULL THEN size ELSE 32 END + 128`

// keepColumns begins a statement that keeps the state of objects until generation ?2.
const keepColumns = `INSERT INTO past (id, until, since, parent, name, fold, kind, ver, created, modified, size, type,
		thinned, hash, value)
	SELECT id, ?2, since, parent, name, fold, kind, ver, created, modified, size, type, `

var statementSQL = [statements]string{
	sqlMeta:    `SELECT generation, last_id FROM meta`,
	sqlVersion: `PRAGMA user_version`,
	sqlChanges: `SELECT changes, reverted, reach, reach_time, thinned, past_bytes FROM meta`,
	sqlChild: `SELECT ` + rowColumns + `CASE WHEN size <= ?3 THEN value END FROM object
		WHERE parent = ?1 AND fold = ?2`,
	sqlByID: `SELECT ` + rowColumns + `CASE WHEN size <= ?2 THEN value END FROM object WHERE id = ?1`,
	sqlChildren: `SELECT ` + rowColumns + `CASE WHEN size <= ?2 THEN value END FROM object
		WHERE parent = ?1 ORDER BY fold`,
	sqlPage: `SELECT ` + rowColumns + `CASE WHEN size <= ?2 THEN value END FROM object
		WHERE parent = ?1 AND fold >= ?3 AND fold < ?4 AND since <= ?6 ORDER BY fold LIMIT ?5`,
	sqlPageBackward: `SELECT ` + rowColumns + `CASE WHEN size <= ?2 THEN value END FROM object
		WHERE parent = ?1 AND fold >= ?3 AND fold < ?4 AND since <= ?6 ORDER BY fold DESC LIMIT ?5`,
	sqlCount: `SELECT count(*) FROM object WHERE parent = ?1`,
	sqlCountUpTo: `SELECT count(*) FROM
		(SELECT 1 FROM object WHERE parent = ?1 AND fold >= ?2 AND fold < ?3 LIMIT ?4)`,
	sqlScanEnd: `SELECT max(id), count(*) FROM (SELECT id FROM object WHERE id > ?1 ORDER BY id LIMIT ?2)`,
	sqlScan: `SELECT ` + rowColumns + `CASE WHEN size <= ?6 THEN value END FROM object
		WHERE id > ?1 AND id <= ?2 AND ` + scanned + ` ORDER BY id`,
	sqlCountIDs:   `SELECT count(*) FROM object WHERE id > ?1 AND id <= ?2`,
	sqlEverything: `SELECT ` + rowColumns + `value FROM object ORDER BY id`,

	sqlIndexes: `SELECT id, parent, rule, state, next FROM idx ORDER BY id`,
	sqlEntries: `SELECT place, n FROM entry WHERE idx = ?1 AND place >= ?2 AND place < ?3 ORDER BY place LIMIT ?4`,
	sqlEntriesBackward: `SELECT place, n FROM entry WHERE idx = ?1 AND place >= ?2 AND place < ?3
		ORDER BY place DESC LIMIT ?4`,
	sqlIndexKeys: `SELECT keys FROM indexed WHERE idx = ?1 AND fold = ?2`,

	// A transaction that will write takes the lock at its start: one that
	// began as a reader could not wait for it (SQLITE_BUSY_SNAPSHOT).
	sqlBegin:       `BEGIN IMMEDIATE`,
	sqlCommit:      `COMMIT`,
	sqlRollback:    `ROLLBACK`,
	sqlSetMeta:     `UPDATE meta SET generation = ?1, last_id = ?2, changes = ?3`,
	sqlSetReverted: `UPDATE meta SET generation = ?1, last_id = ?2, reverted = ?1, changes = x''`,
	sqlInsert: `INSERT INTO object (` + rowColumns + `since, value)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 0, ?6, ?11)`,
	sqlSetValue: `UPDATE object SET kind = ?2, ver = ?3, modified = ?4, size = ?5, type = ?6, value = ?7 WHERE id = ?1`,
	sqlKeepValue: `UPDATE object SET kind = ?2, ver = ?3, modified = ?4, size = ?5, type = ?6, since = ?3, kept = ?8,
		value = ?7 WHERE id = ?1`,
	sqlSetPlace: `UPDATE object SET parent = ?2, name = ?3, fold = ?4, ver = ?5, since = ?5 WHERE id = ?1`,
	// Objects that move stand aside first, so that two may change places.
	sqlPark:       `UPDATE object SET parent = -id WHERE id = ?1`,
	sqlTouch:      `UPDATE object SET ver = ?2, modified = ?3 WHERE id = ?1`,
	sqlDelete:     `DELETE FROM object WHERE id = ?1`,
	sqlDeleteTree: below + `DELETE FROM object WHERE id IN below`,

	// If this generation has already kept the state, since is this generation.
	sqlKeep: keepColumns + `?3, NULL, value FROM object WHERE id = ?1 AND since < ?2 AND size <= ?4
		RETURNING ` + keptBytes,
	sqlKeepHash: keepColumns + `?3, ?4, NULL FROM object WHERE id = ?1 AND since < ?2 RETURNING ` + keptBytes,
	// ?3: tables are thinned, too. ?4: nothing is thinned.
	sqlKeepTree: below + keepColumns + `CASE WHEN ?4 OR ` + isCode + ` OR kind = 'table' AND NOT ?3 THEN 0 ELSE 1 END,
		NULL, value FROM object WHERE id IN below AND since < ?2 AND size <= ?5
		RETURNING id, ` + keptBytes,
	sqlLargeBelow: below + `SELECT id, ` + isCode + ` FROM object WHERE id IN below AND size > ?2`,
	sqlCodeBelow:  below + `SELECT EXISTS (SELECT 1 FROM object WHERE id IN below AND ` + isCode + `)`,
	sqlAddChange: `INSERT INTO change (generation, time, first, person, who, why, path, thinned, count, undoes, objects)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)`,
	sqlSetHistory: `UPDATE meta SET reach = ?1, reach_time = ?2, thinned = ?3, past_bytes = ?4`,
	sqlSetMetaAndHistory: `UPDATE meta SET generation = ?1, last_id = ?2, changes = ?3,
		reach = ?4, reach_time = ?5, thinned = ?6, past_bytes = ?7`,

	sqlOldestChange: `SELECT generation, time, objects FROM change ORDER BY generation LIMIT 1`,
	sqlNextToThin: `SELECT generation, time, CASE WHEN person THEN x'' ELSE objects END, thinned FROM change
		WHERE generation > ?1 ORDER BY generation LIMIT 1`,
	sqlDropThinned: `DELETE FROM past WHERE id = ?1 AND until = ?2 AND thinned
		RETURNING since, parent, name, ` + keptBytes,
	sqlExtendPresent: `UPDATE object SET since = ?3 WHERE id = ?1 AND since = ?2 AND parent = ?4 AND name = ?5`,
	sqlExtendPast:    `UPDATE past SET since = ?3 WHERE id = ?1 AND since = ?2 AND parent = ?4 AND name = ?5`,
	sqlDropPast:      `DELETE FROM past WHERE id = ?1 AND until = ?2 RETURNING ` + keptBytes,
	sqlDropChange:    `DELETE FROM change WHERE generation = ?1`,
	sqlSetReplaced:   `UPDATE change SET objects = ?2, count = ?3 WHERE generation = ?1`,

	sqlPutIndex:  `INSERT OR REPLACE INTO idx (id, parent, rule, state, next) VALUES (?1, ?2, ?3, ?4, ?5)`,
	sqlPutEntry:  `INSERT OR REPLACE INTO entry (idx, place, n) VALUES (?1, ?2, ?3)`,
	sqlDropEntry: `DELETE FROM entry WHERE idx = ?1 AND place = ?2`,
	sqlPutKeys:   `INSERT OR REPLACE INTO indexed (idx, fold, keys) VALUES (?1, ?2, ?3)`,
	sqlDropKeys:  `DELETE FROM indexed WHERE idx = ?1 AND fold = ?2`,
	sqlPurgeEntries: `DELETE FROM entry WHERE idx = ?1 AND place <=
		(SELECT max(place) FROM (SELECT place FROM entry WHERE idx = ?1 ORDER BY place LIMIT ?2))`,
	sqlPurgeKeys: `DELETE FROM indexed WHERE idx = ?1 AND fold <=
		(SELECT max(fold) FROM (SELECT fold FROM indexed WHERE idx = ?1 ORDER BY fold LIMIT ?2))`,
	sqlForgetIndex: `DELETE FROM idx WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM entry WHERE idx = ?1)
		AND NOT EXISTS (SELECT 1 FROM indexed WHERE idx = ?1)`,

	// An object has only one state in a generation, and so has a place. So only the first state
	// that ends after the generation can be the one.
	sqlByIDAt: `SELECT ` + rowColumns + `CASE WHEN size <= ?2 THEN value END, since, 0, NULL
			FROM object WHERE id = ?1 AND since <= ?3
		UNION ALL SELECT * FROM (SELECT ` + pastColumns + `CASE WHEN size <= ?2 THEN value END, since, until, hash
			FROM past WHERE id = ?1 AND until > ?3 ORDER BY until LIMIT 1) WHERE since <= ?3`,
	sqlChildAt: `SELECT ` + rowColumns + `CASE WHEN size <= ?3 THEN value END
			FROM object WHERE parent = ?1 AND fold = ?2 AND since <= ?4
		UNION ALL SELECT ` + pastColumns + `CASE WHEN size <= ?3 THEN value END FROM past
			WHERE parent = ?1 AND fold = ?2 AND since <= ?4
			AND until = (SELECT min(until) FROM past WHERE parent = ?1 AND fold = ?2 AND until > ?4)`,
	sqlChildrenAt: pastFolds + `SELECT ` + rowColumns + `CASE WHEN size <= ?3 THEN value END
			FROM object WHERE parent = ?1 AND since <= ?2
		UNION ALL SELECT ` + pastColumns + `CASE WHEN size <= ?3 THEN value END ` + fromPastFolds + `
		ORDER BY fold`,
	sqlHasPast: `SELECT EXISTS (SELECT 1 FROM past WHERE parent = ?1)`,
	// The names come from folds in order, so that the first ?6 of them are enough.
	sqlPageAt: `WITH RECURSIVE folds (f) AS (
			SELECT min(fold) FROM past WHERE parent = ?1 AND fold >= ?4 AND fold < ?5
			UNION ALL SELECT (SELECT min(fold) FROM past WHERE parent = ?1 AND fold > f AND fold < ?5)
				FROM folds WHERE f IS NOT NULL)
		SELECT * FROM (SELECT ` + rowColumns + `CASE WHEN size <= ?3 THEN value END
			FROM object WHERE parent = ?1 AND fold >= ?4 AND fold < ?5 AND since <= ?2 ORDER BY fold LIMIT ?6)
		UNION ALL SELECT * FROM (SELECT ` + pastColumns + `CASE WHEN size <= ?3 THEN value END ` + fromPastFolds + ` LIMIT ?6)
		ORDER BY fold LIMIT ?6`,
	sqlPageBackwardAt: `WITH RECURSIVE folds (f) AS (
			SELECT max(fold) FROM past WHERE parent = ?1 AND fold >= ?4 AND fold < ?5
			UNION ALL SELECT (SELECT max(fold) FROM past WHERE parent = ?1 AND fold >= ?4 AND fold < f)
				FROM folds WHERE f IS NOT NULL)
		SELECT * FROM (SELECT ` + rowColumns + `CASE WHEN size <= ?3 THEN value END
			FROM object WHERE parent = ?1 AND fold >= ?4 AND fold < ?5 AND since <= ?2 ORDER BY fold DESC LIMIT ?6)
		UNION ALL SELECT * FROM (SELECT ` + pastColumns + `CASE WHEN size <= ?3 THEN value END ` + fromPastFolds + ` LIMIT ?6)
		ORDER BY fold DESC LIMIT ?6`,
	sqlCountUpToAt: `WITH RECURSIVE folds (f) AS (
			SELECT min(fold) FROM past WHERE parent = ?1 AND fold >= ?3 AND fold < ?4
			UNION ALL SELECT (SELECT min(fold) FROM past WHERE parent = ?1 AND fold > f AND fold < ?4)
				FROM folds WHERE f IS NOT NULL)
		SELECT min(?5, (SELECT count(*) FROM (SELECT 1 FROM object
				WHERE parent = ?1 AND fold >= ?3 AND fold < ?4 AND since <= ?2 LIMIT ?5))
			+ (SELECT count(*) FROM (SELECT 1 ` + fromPastFolds + ` LIMIT ?5)))`,
	sqlCountAt: pastFolds + `SELECT (SELECT count(*) FROM object WHERE parent = ?1 AND since <= ?2)
		+ (SELECT count(*) ` + fromPastFolds + `)`,
	sqlScanAt: `SELECT ` + rowColumns + `CASE WHEN size <= ?6 THEN value END FROM object
			WHERE id > ?1 AND id <= ?2 AND since <= ?7 AND ` + scanned + `
		UNION ALL SELECT ` + pastColumns + `CASE WHEN size <= ?6 THEN value END FROM past
			WHERE id > ?1 AND id <= ?2 AND until > ?7 AND since <= ?7 AND ` + scanned + `
		ORDER BY id`,
	sqlCountIDsAt: `SELECT (SELECT count(*) FROM object WHERE id > ?1 AND id <= ?2 AND since <= ?3)
		+ (SELECT count(*) FROM past WHERE id > ?1 AND id <= ?2 AND until > ?3 AND since <= ?3)`,
	sqlEverythingAt: `SELECT ` + rowColumns + `value FROM object WHERE since <= ?1
		UNION ALL SELECT ` + pastColumns + `value FROM past WHERE until > ?1 AND since <= ?1 ORDER BY id`,

	sqlChangesBefore: `SELECT generation, time, first, person, who, why, path, count, undoes FROM change
		WHERE generation < ?1 AND generation > (SELECT reach FROM meta) ORDER BY generation DESC LIMIT ?2`,
	// Roots of the first programs of version 4 do not have the index change_person: there, this
	// reads all changes.
	sqlPersonChangesBefore: `SELECT generation, time, first, person, who, why, path, count, undoes FROM change
		WHERE generation < ?1 AND generation > (SELECT reach FROM meta) AND (person OR undoes <> x'')
		ORDER BY generation DESC LIMIT ?2`,
	sqlChangeUpTo: `SELECT generation, time FROM change WHERE generation <= ?1 ORDER BY generation DESC LIMIT 1`,
	sqlParts:      `SELECT generation FROM change WHERE first = ?1 AND first <> generation ORDER BY generation`,
	sqlReplaced:   `SELECT objects FROM change WHERE generation = ?1`,
	sqlChangesOf: `SELECT generation FROM change WHERE generation > (SELECT reach FROM meta) AND generation IN
		(SELECT until FROM past WHERE id = ?1 UNION SELECT since FROM past WHERE id = ?1
		UNION SELECT since FROM object WHERE id = ?1) ORDER BY generation DESC`,
	sqlFormerly:      `SELECT DISTINCT id FROM past WHERE parent = ?1`,
	sqlFormerlyNamed: `SELECT DISTINCT id FROM past WHERE parent = ?1 AND fold = ?2`,
	sqlReach:         `SELECT reach, reach_time FROM meta`,
	sqlHistory: `SELECT reach, reach_time, meta.thinned, past_bytes, (SELECT count(*) FROM change), count(past.thinned),
		total (past.thinned), total ((` + keptBytes + `) * past.thinned) FROM meta LEFT JOIN past`,

	sqlWALState:           `PRAGMA wal_checkpoint (NOOP)`,
	sqlCheckpoint:         `PRAGMA wal_checkpoint (PASSIVE)`,
	sqlCheckpointTruncate: `PRAGMA wal_checkpoint (TRUNCATE)`,
}
