// Package sqlitestore keeps roots in SQLite files. Create and Open return a DB of one.
//
// # Many writers
//
// Writers of all processes take the lock of an empty file beside the root, its name with
// -lock, by flock(2): see writerlock.go. SQLite's own way, to try again after a pause,
// lets late comers pass, and leaves some waiting for a second. The file only keeps order:
// SQLite's lock decides who writes. The wait is bounded by Options.BusyTimeout (ErrBusy).
//
// A commit waits for the disk after it has given the lock back, and the commits of one
// process share a sync: see wal.go and groupcommit.go. It returns when it is on the
// disk, as with SQLite's synchronous=FULL, though a reader may see it a moment earlier.
// docs/performance.md has what both bring.
//
// After a sync has failed, the file with -unsynced keeps all processes from
// acknowledging a commit until the WAL is rewritten: see unsynced.go.
//
// # The file
//
// A root is an SQLite database in WAL mode with the application_id 0x53437274
// ("SCrt") and the user_version 5. While it is in use, three files lie beside it,
// its name with -wal, -shm and -lock. Only a program with a current SQLite should touch a
// root that is in use (versions before 3.51.3 can damage a WAL); a copy can be read
// with any sqlite3 shell:
//
//	CREATE TABLE meta (           -- one row
//	  only, generation,           -- generation: raised by each commit
//	  last_id,                    -- the greatest id that was ever given
//	  made_by, migrated_by,       -- programs: objectdb.Options.Program
//	  reverted,                   -- generation of the last Revert, else 0
//	  changes,                    -- what the last commits wrote, for caches
//	  reach, reach_time,          -- the first generation that can be read, and its time
//	  thinned,                    -- the generation up to which thinned values are dropped
//	  past_bytes);                -- about what the table past takes
//	CREATE TABLE object (         -- one row for each object
//	  id,                         -- never given twice; the root table is 1
//	  parent,                     -- id of the table that it is in; of the root 0
//	  name, fold,                 -- as spelled, and as compared (see objectdb.Fold)
//	  kind,                       -- 'table', 'string', 'script' …
//	  ver,                        -- generation of the commit that last wrote the row
//	  created, modified,          -- nanoseconds since 1970
//	  size,                       -- of the value in bytes
//	  type,                       -- MIME type of a binary, else ''
//	  since,                      -- the first generation that reads this row
//	  kept,                       -- see objectdb.Row
//	  value);
//	CREATE UNIQUE INDEX object_place ON object (parent, fold);
//	CREATE TABLE change (         -- one row for each commit in the history
//	  generation, time,           -- nanoseconds since 1970
//	  first,                      -- generation of the transaction's first commit
//	  person, who, why, path,     -- objectdb.Origin
//	  thinned,                    -- 1: a request made it, and all that it kept is thinned
//	  count, objects,             -- how many, and which: see encodeReplaced
//	  undoes);                    -- generations of the changes that it undoes
//	CREATE TABLE past (           -- one row for each kept state of an object
//	  id, until, since,           -- generations: from since on, and before until
//	  parent, name, fold, kind, ver, created, modified, size, type,
//	  thinned,                    -- 1: it may be dropped earlier than others
//	  hash, value);               -- hash: SHA-256 of a value that is too large
//	CREATE TABLE idx (            -- one row for each index: see objectdb.Index
//	  id, parent,                 -- parent: the id of the table
//	  rule, state, next);
//	CREATE TABLE entry (          -- one row for each entry of an index
//	  idx, place, n);
//	CREATE TABLE indexed (        -- one row for each record in an index
//	  idx, fold,
//	  keys);                      -- see objectdb.EncodeIndexKeys
//
// In generation G, the state of an object is its row in object if since <= G, and otherwise its
// row in past with since <= G < until. If a state is not kept, or dropped later, the next state
// stands for it: its since becomes that of the missing state, so that its ver may be above G.
// Two objects must never be at one place in one generation. So a move always sets since to
// its generation.
//
// The value of a string, text, outline or script is a TEXT (a BLOB when it is not
// UTF-8 or holds a NUL), of a binary a BLOB, of a number a REAL (NaN is the TEXT
// 'nan'), of a boolean 0 or 1, of a date a TEXT as RFC 3339 has it, of an address
// its text, of a list JSON (see objectdb.AppendJSON), of a table NULL. Records and null in lists
// were added without a new version. An older program reports such a list as
// damaged, and reads and writes everything else; with a new version it could not open the
// root at all. For example, the scripts, newest first:
//
//	SELECT name, datetime(modified / 1000000000, 'unixepoch'), value
//	  FROM object WHERE kind = 'script' ORDER BY modified DESC;
//
// An older root is brought to the present version when it is opened, in one
// transaction and after a saved copy; a newer one is refused (ErrNewer). A program
// that has it open meanwhile reads on, and its next write is refused.
package sqlitestore
