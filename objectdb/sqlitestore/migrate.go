package sqlitestore

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	sqlite3 "github.com/mattn/go-sqlite3"

	"scripter/objectdb"
)

// migrations bring a root from one version of its form to the next: entry n has the
// statements that make version n+1 of version n. Users have roots of all versions, so a
// released entry is never changed. A program that has a root open while a newer one
// migrates it can still read, and its next write is refused (conn.beginWrite). So an
// entry must leave the columns that older programs read.
var migrations = []string{
	1: `ALTER TABLE meta ADD COLUMN made_by TEXT NOT NULL DEFAULT '';
		ALTER TABLE meta ADD COLUMN migrated_by TEXT NOT NULL DEFAULT '';
		ALTER TABLE meta ADD COLUMN reverted INTEGER NOT NULL DEFAULT 0`,
	2: `ALTER TABLE meta ADD COLUMN changes BLOB NOT NULL DEFAULT x''`,
	// The new columns come before the value: SQLite would read a long value to its end to
	// find a column behind it.
	3: `ALTER TABLE meta ADD COLUMN reach INTEGER NOT NULL DEFAULT 1;
		ALTER TABLE meta ADD COLUMN reach_time INTEGER NOT NULL DEFAULT 0;
		ALTER TABLE meta ADD COLUMN thinned INTEGER NOT NULL DEFAULT 0;
		ALTER TABLE meta ADD COLUMN past_bytes INTEGER NOT NULL DEFAULT 0;
		UPDATE meta SET reach = generation + 1, reach_time = unixepoch () * 1000000000;
		ALTER TABLE object RENAME TO object_3;
		DROP INDEX object_place;
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
		INSERT INTO object (id, parent, name, fold, kind, ver, created, modified, size, type, since, kept, value)
			SELECT id, parent, name, fold, kind, ver, created, modified, size, type, 0, 0, value FROM object_3 ORDER BY id;
		DROP TABLE object_3;
		CREATE UNIQUE INDEX object_place ON object (parent, fold);
` + historyTables,
	4: indexTables,
}

func newer(version int64) error {
	return fmt.Errorf("%w: its version is %d, this program knows %d; use the newer program",
		objectdb.ErrNewer, version, objectdb.FileVersion)
}

// migrate brings an older root to the version target: it saves a copy, which
// stays, and runs the migrations in one transaction. If many programs open the root at
// once, one migrates it and the others wait.
func (s *store) migrate(target int, steps []string) error {
	if s.options.ReadOnly {
		return fmt.Errorf("%w: it is of an older version, and to bring it up to date it must be written",
			objectdb.ErrReadOnly)
	}
	ctx := context.Background()
	unfinished, err := startSaving(ctx, s.path, s.options.BusyTimeout)
	if err != nil {
		return err
	}
	var failure error
	defer func() { unfinished.end(failure) }()
	c, err := s.connect()
	if err != nil {
		return err
	}
	defer c.close()
	var gen int64
	err = s.patient(func() (err error) {
		gen, _, err = c.beginWrite()
		return err
	})
	if err != nil {
		return err
	}
	defer c.rollback()
	version, err := c.version()
	if err != nil || version >= target {
		return err // another program was faster
	}
	if failure = s.saveBefore(ctx, unfinished, version, gen); failure != nil {
		return fmt.Errorf("its version is %d, and before it is brought to %d a copy must be saved: %w",
			version, target, failure)
	}
	moved, err := c.moved()
	if err == nil {
		err = c.setMoved("") // otherwise it could neither be migrated nor read
	}
	if err != nil {
		return err
	}
	if err := c.takeSteps(version, target, steps); err != nil {
		return fmt.Errorf("it could not be brought from version %d to %d, and is as it was: %w", version, target, err)
	}
	_, err = c.c.Exec(`UPDATE meta SET generation = ?, migrated_by = ?`, []driver.Value{gen + 1, s.options.Program})
	if err != nil {
		return sqlError(err)
	}
	if moved != "" {
		if err := c.setMoved(moved); err != nil {
			return err
		}
	}
	if err := c.commit(); err != nil {
		return err
	}
	if err := s.sync(c.wal); err != nil {
		return err
	}
	// All objects have gone through the WAL. If a reader is in the way, later commits empty it.
	if _, err = c.checkpoint(sqlCheckpointTruncate); errors.Is(err, objectdb.ErrBusy) {
		err = nil
	}
	return err
}

// saveBefore saves the copy before a migration, unless an attempt that failed
// has left it. It is made by a connection that only reads, and sees what was
// committed last.
func (s *store) saveBefore(ctx context.Context, unfinished *saving, version int, gen int64) error {
	list, err := Copies(s.path)
	if err != nil {
		return err
	}
	for _, c := range list {
		if c.Version != version {
			continue
		}
		if info, err := Inspect(c.Path); err == nil && info.Generation == gen {
			return nil
		}
	}
	reader, err := s.connect()
	if err != nil {
		return err
	}
	defer reader.close()
	k := s.copier()
	k.write = func(ctx context.Context, unfinished *saving, progress func(done, all int64)) error {
		return s.patient(func() error { return reader.copyTo(ctx, unfinished, progress) })
	}
	_, err = k.saveAs(ctx, unfinished, version, nil)
	return err
}

func (c *conn) takeSteps(version, target int, steps []string) error {
	for ; version < target; version++ {
		if version < 1 || version >= len(steps) {
			return errors.New("no step leads on from there")
		}
		_, err := c.c.Exec(steps[version], nil)
		if sqlite := (sqlite3.Error{}); errors.As(err, &sqlite) && sqlite.Code == sqlite3.ErrError {
			// The tables are not those of the version that the file says it has.
			return fmt.Errorf("%w (%s)", objectdb.ErrDamaged, sqlite.Error())
		}
		if err != nil {
			return sqlError(err)
		}
	}
	_, err := c.c.Exec(fmt.Sprintf(`PRAGMA user_version = %d`, target), nil)
	return sqlError(err)
}
