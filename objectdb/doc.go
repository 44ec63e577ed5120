// Package objectdb keeps the root: a tree of named, typed values in one file.
//
// Create or Open a root, and do everything in a transaction: View to read,
// Update to write.
//
//	db, err := objectdb.Open("site.root", objectdb.Options{})
//	…
//	err = db.Update(ctx, func(tx *objectdb.Tx) error {
//		return tx.Put(objectdb.Address{"user", "name"}, objectdb.String("Ada"))
//	})
//
// A table holds objects by name; every other object holds a Value of one of ten
// kinds. Names are unique in their table without regard to case and keep their
// spelling, and what is in a table is listed in the order of the folded names. An
// Address says the way to an object, name by name. There are two ways to work: by
// Address (Get, Put, List, Move …), and step by step with a Node for what has
// been found (Root, Child, Value, Set …), which costs less.
//
// # Transactions
//
// A transaction sees one state of the root, its own writes included, and either
// all of what it wrote is committed or nothing is. Readers wait for nobody. Writes
// are gathered in memory; at the end the writer's lock is taken, what the
// transaction has read is compared with the newest state, and the writes are
// applied. When something that was read has changed meanwhile, Update runs its
// function once more, holding the lock from the start. What counts as read
// is: that a name led to an object or to none; the content of an object that was
// looked at; the names in a table that was listed or counted. So two transactions that
// write different names into one table, or that write without having read, do not
// meet.
//
// The root may be used by many processes at once. What was read is kept in a
// cache that all transactions of a DB share and that is right across
// processes: every commit raises the root's generation, which a transaction reads
// first (3 µs of processor time, half of it for two locks of SQLite's on the WAL),
// and notes what it has changed, so that others forget that and no more. Whether somebody
// has committed at all can be seen without that (walIndex): then Update asks SQLite
// for nothing until it misses something in the cache or writes. Where another one
// commits before that, what was read so far is compared, as at the end.
//
// # Many writers
//
// Who wants to write waits in a queue of the kernel's: an empty file beside the
// root, its name with -lock, locked by flock(2). SQLite's own way, to try again after
// a pause, lets late comers pass, and leaves some waiting for a second. And
// a commit waits for the disk after it has given the lock back, so that one
// turn of the disk serves many, those of one process by one call (see sync in
// wal.go and rounds): it returns when it is on the disk, as with SQLite's
// synchronous=FULL, though a reader may see it a moment earlier. What both give is
// measured by BenchmarkCounterOfProcesses; 16 processes that did nothing but raise
// one counter, on a machine of two cores that was busy otherwise, waited
//
//	                                     steps/s   p50      p99      longest
//	SQLite's busy loop, FULL             1300      0.3 ms   340 ms   1600 ms
//	the queue, FULL                      1800      0.6 ms   100 ms    600 ms
//	the busy loop, own sync              2700      3.9 ms    36 ms    185 ms
//	the queue, own sync                  3500      3.5 ms    30 ms     60 ms
//
// The wait is bounded by Options.BusyTimeout (ErrBusy). The queue only keeps
// order: what is right is decided by SQLite's lock.
//
// After a sync has failed, the file with -unsynced keeps all processes from
// acknowledging a commit until the WAL is rewritten: see unsynced.go.
//
// # The file
//
// A root is an SQLite database in WAL mode with the application_id 0x53437274
// ("SCrt") and the user_version 3. While it is in use, three files lie beside it,
// its name with -wal, -shm and -lock. Only a program with a current SQLite should touch a
// root that is in use (versions before 3.51.3 can damage a WAL); a copy can be read
// with any sqlite3 shell:
//
//	CREATE TABLE meta (           -- one row
//	  only, generation,           -- generation: raised by each commit
//	  last_id,                    -- the greatest id that was ever given
//	  made_by, migrated_by,       -- programs: Options.Program
//	  reverted,                   -- generation of the last Revert, else 0
//	  changes);                   -- what the last commits wrote, for caches
//	CREATE TABLE object (         -- one row for each object
//	  id,                         -- never given twice; the root table is 1
//	  parent,                     -- id of the table that it is in; of the root 0
//	  name, fold,                 -- as spelled, and as compared (see Fold)
//	  kind,                       -- 'table', 'string', 'script' …
//	  ver,                        -- generation of the commit that last wrote the row
//	  created, modified,          -- nanoseconds since 1970
//	  size,                       -- of the value in bytes
//	  type,                       -- MIME type of a binary, else ''
//	  value);
//	CREATE UNIQUE INDEX object_place ON object (parent, fold);
//
// The value of a string, text, outline or script is a TEXT (a BLOB when it is not
// UTF-8 or holds a NUL), of a binary a BLOB, of a number a REAL (NaN is the TEXT
// 'nan'), of a boolean 0 or 1, of a date a TEXT as RFC 3339 has it, of an address
// its text, of a list JSON (see json.go), of a table NULL. Records and null in lists
// were added without a new version. An older program of version 3 reports such a list as
// damaged, and reads and writes everything else; with a new version it could not open the
// root at all. For example, the scripts, newest first:
//
//	SELECT name, datetime(modified / 1000000000, 'unixepoch'), value
//	  FROM object WHERE kind = 'script' ORDER BY modified DESC;
//
// An older root is brought to the present version when it is opened, in one
// transaction and after a saved copy; a newer one is refused (ErrNewer). A program
// that has it open meanwhile reads on, and its next write is refused.
//
// # Saved copies
//
// Save makes a copy beside the root while others go on, under a name that carries
// the time, and Revert makes the root what it was when a copy was saved, under the
// hands of whoever has it open. Copies lists them.
package objectdb
