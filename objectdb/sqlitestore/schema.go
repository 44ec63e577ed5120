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
  changes     BLOB NOT NULL DEFAULT x''
);
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
  value
);
CREATE UNIQUE INDEX object_place ON object (parent, fold);
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
	sqlLast
	sqlCount
	sqlEverything

	sqlBegin
	sqlCommit
	sqlRollback
	sqlSetMeta
	sqlInsert
	sqlSetValue
	sqlSetPlace
	sqlPark
	sqlTouch
	sqlDelete
	sqlDeleteTree

	sqlWALState
	sqlCheckpoint
	sqlCheckpointTruncate

	statements
)

const rowColumns = `id, parent, name, fold, kind, ver, created, modified, size, type, `

var statementSQL = [statements]string{
	sqlMeta:    `SELECT generation, last_id FROM meta`,
	sqlVersion: `PRAGMA user_version`,
	sqlChanges: `SELECT changes, reverted FROM meta`,
	sqlChild: `SELECT ` + rowColumns + `CASE WHEN size <= ?3 THEN value END FROM object
		WHERE parent = ?1 AND fold = ?2`,
	sqlByID: `SELECT ` + rowColumns + `CASE WHEN size <= ?2 THEN value END FROM object WHERE id = ?1`,
	sqlChildren: `SELECT ` + rowColumns + `CASE WHEN size <= ?2 THEN value END FROM object
		WHERE parent = ?1 ORDER BY fold`,
	sqlLast: `SELECT ` + rowColumns + `CASE WHEN size <= ?4 THEN value END FROM object
		WHERE parent = ?1 AND fold >= ?2 AND fold < ?3 ORDER BY fold DESC LIMIT 1`,
	sqlCount:      `SELECT count(*) FROM object WHERE parent = ?1`,
	sqlEverything: `SELECT ` + rowColumns + `value FROM object ORDER BY id`,

	// A transaction that will write takes the lock at its start: one that
	// began as a reader could not wait for it (SQLITE_BUSY_SNAPSHOT).
	sqlBegin:    `BEGIN IMMEDIATE`,
	sqlCommit:   `COMMIT`,
	sqlRollback: `ROLLBACK`,
	sqlSetMeta:  `UPDATE meta SET generation = ?1, last_id = ?2, changes = ?3`,
	sqlInsert: `INSERT INTO object (` + rowColumns + `value)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)`,
	sqlSetValue: `UPDATE object SET kind = ?2, ver = ?3, modified = ?4, size = ?5, type = ?6, value = ?7 WHERE id = ?1`,
	sqlSetPlace: `UPDATE object SET parent = ?2, name = ?3, fold = ?4, ver = ?5 WHERE id = ?1`,
	// Objects that move stand aside first, so that two may change places.
	sqlPark:   `UPDATE object SET parent = -id WHERE id = ?1`,
	sqlTouch:  `UPDATE object SET ver = ?2, modified = ?3 WHERE id = ?1`,
	sqlDelete: `DELETE FROM object WHERE id = ?1`,
	sqlDeleteTree: `WITH RECURSIVE below (id) AS (
			SELECT ?1 UNION SELECT object.id FROM object JOIN below ON object.parent = below.id)
		DELETE FROM object WHERE id IN below`,

	sqlWALState:           `PRAGMA wal_checkpoint (NOOP)`,
	sqlCheckpoint:         `PRAGMA wal_checkpoint (PASSIVE)`,
	sqlCheckpointTruncate: `PRAGMA wal_checkpoint (TRUNCATE)`,
}
