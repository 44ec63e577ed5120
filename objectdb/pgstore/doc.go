// Package pgstore keeps roots in PostgreSQL, for sites of several hosts. Create and Open return a DB of one.
//
// A root is named by a URL, postgres://user@host/database?schema=name: it is a schema of a database, "scripter"
// unless the URL names another. The server is PostgreSQL 15 or newer. The other parameters are those of pgx and of
// libpq (sslmode, connect_timeout …), and pool_max_conns, the largest number of connections of a process, 16 by
// default. fresh=strict makes DB.UpdateRecent the same as DB.Update. The password may be in the URL, in PGPASSWORD or
// in a file (PGPASSFILE). DB.Path and errors never contain it.
//
// # Transactions
//
// A session that reads is a transaction of PostgreSQL that sees one state (REPEATABLE READ, READ ONLY). Its begin
// and the newest generation, with what was changed since the one that the caller knows, are one round trip.
//
// A session that writes takes an advisory lock, whose key is made of the schema's name, until its transaction ends.
// The server serves those who wait in order, and releases the lock of a host that dies. Correctness does not depend
// on the lock: each commit inserts the row of its generation into the table commits, which has one row for each
// generation. The commit of a host that has lost the lock fails. The begin with the lock, and all that a commit
// writes with the commit itself, are one round trip each. Only commits that are large, delete tables or drop old
// history need more.
//
// A commit does not wait for the disk while it holds the lock. The transaction commits with synchronous_commit off,
// and a transaction that only writes a message to the WAL follows it on the same connection, without a round trip.
// The second transaction waits until the WAL is on the disk (and at the synchronous standby, if the server has
// one), with all that was committed before. Thus many commits, of all hosts, share one write to the disk, and the
// flush of Writer.Commit waits for its end. Options.Relaxed leaves it out.
//
// If the connection is lost after a commit was sent, the commit may have been made or not. Each has a random stamp
// in its row. The session connects again, takes the lock, which the lost transaction cannot hold then, and looks
// for the stamp. If a server comes back without commits that it had made, as after a failover to a standby, the
// stamps differ, and a DB forgets what it knows of the root (objectdb.State.Losses).
//
// # Between this program and the server
//
// A connection pooler such as pgbouncer may give each transaction another server connection, which does not know the
// statements that were prepared on the previous one. The first connection of a process shows whether there is a pooler:
// the process id of the server is then not the one that the client was told. In that case statements have no names, and
// the server parses them for each transaction. default_query_exec_mode=cache_statement in the URL keeps the names, for
// pgbouncer 1.21 and newer with max_prepared_statements; cache_describe leaves them out.
//
// A URL may name several servers with target_session_attrs=read-write. Then a transaction waits, within
// Options.BusyTimeout, until a standby has taken over. A root on a standby can be read; to write there is ErrReadOnly.
//
// # Polling
//
// DB.UpdateRecent needs no round trip if all that it reads is in the cache and the newest generation is known. One
// process of each host asks the server for it every 15 ms, on a connection of its own, and shares the answer with the
// others in a small file, which they have mapped: the path of rootname.LocalPath, with -newest. In the file are the
// generation, its stamp, and the time at which the query was sent: at some time after that, this generation was the
// newest. A transaction uses it if the query was sent at most objectdb.MaxAge before the transaction begins, by the
// clock of the host (CLOCK_BOOTTIME), and if the process knows the stamp. So a generation that has replaced a lost one
// is never mistaken for it. Sessions and commits write what they have seen into the file, too. A commit does so before
// it returns, and from then on no process of its host begins with an older state.
//
// The process that polls holds a flock on the file, which the kernel releases when the process dies. A process that
// finds the file out of date makes a round trip, and tries to get the flock. When nobody has asked for 5 s, nobody
// polls. Programs that do not use UpdateRecent never make the file. If it cannot be made, each process polls for
// itself.
//
// # The tables
//
//	CREATE TABLE info (           -- one row
//	  one, form,                  -- form: the version of these tables, 2
//	  made_by, migrated_by,       -- programs: objectdb.Options.Program
//	  moved);                     -- where the root was moved to, else ''
//	CREATE TABLE commits (        -- one row for each of the last 1000 generations
//	  generation, stamp,          -- stamp: random
//	  last_id,                    -- the greatest id that was ever given
//	  tables, folds,              -- the changed places, NULL if they are too many
//	  reverted,                   -- the last generation in which tables came back, else 0
//	  reach, reach_time,          -- the first generation that can be read, and its time
//	  thinned,                    -- the generation up to which thinned values are dropped
//	  past_bytes);                -- about what the table past takes
//	CREATE TABLE object (         -- one row for each object
//	  id, parent, name, fold,     -- never given twice, the root is 1; its table; as spelled and as compared
//	  kind, ver, created, modified, size, type, since, kept,
//	  text, bytes);               -- the value, in one of them
//	CREATE TABLE past (           -- one row for each kept state of an object
//	  id, until, since, parent, name, fold, kind, ver, created, modified, size, type,
//	  thinned, hash, text, bytes);
//	CREATE TABLE change (         -- one row for each commit in the history
//	  generation, time, first, person, who, why, path, thinned, count, undoes);
//	CREATE TABLE replaced (       -- the objects of a change
//	  generation, id, how);
//	CREATE TABLE idx (            -- one row for each index
//	  id, parent, rule, state, next);
//	CREATE TABLE entry (          -- one row for each entry of an index
//	  idx, place, n);
//	CREATE TABLE indexed (        -- one row for each record in an index
//	  idx, fold, keys);
//
// Tables of form 1 lack the last three. They are made when a program opens the root, in one transaction: see upgrade.
//
// The columns mean what they mean in package sqlitestore. Folded names are bytea, because they are compared byte by
// byte. A value is in the column text, as objectdb.EncodeText writes it, unless it is a binary, or has bytes that are
// not UTF-8 or NUL; then it is in bytes.
//
// # What is missing
//
// A saved copy is a root file, and so this package has none: Save and Revert return errors.ErrUnsupported, and Copies
// is empty. The store of sqlitestore.WithCopies has them.
package pgstore
