// Package objectdb is the root: a tree of named, typed values.
//
// Create or open a root with the package of its store, and do everything in a
// transaction: View to read, Update to write.
//
//	db, err := sqlitestore.Open("site.root", objectdb.Options{})
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
// all of what it wrote is committed or nothing is. Readers do not wait. Writes
// are gathered in memory; at the end the writer's lock is taken, what the
// transaction has read is compared with the newest state, and the writes are
// applied. When something that was read has changed meanwhile, Update runs its
// function once more, holding the lock from the start. What counts as read
// is: that a name led to an object or to none; the content of an object that was
// looked at; the names in a table that was listed or counted. So two transactions that
// write different names into one table, or that write without having read, do not
// conflict.
//
// The root may be used by many processes at once. What was read is in a
// cache that all transactions of a DB share and that is right across
// processes: every commit raises the root's generation, which a transaction reads
// first, and says what it has changed, so that other processes drop that and no more.
// If the store knows the newest generation at once (Store.Newest), Update begins no
// session with the store until it misses something in the cache or writes. If another
// transaction commits before that, what was read so far is compared, as at the end.
// A store on a server has to ask for it, but may know a recent one: see UpdateRecent.
//
// The comparison asks the store what was changed since (Changes), and compares only
// that with what was read. If much was read, it is done once before the writer's lock
// is taken, and again for the little that was changed in between.
//
// # Indexes
//
// A table whose tables have the same fields may have indexes, which are declared in the root (IndexDeclarations): by
// the values of fields, in the order of AppendOrdered, and by the words in them. Every commit that writes such records
// writes the entries of their indexes, so that an index is right for all programs. Tx.Indexes returns those that are
// built, and Tx.Entries what they have, with what the transaction has written itself. What was read of an index counts
// as read: a commit conflicts if it changes an entry in that range. The indexes of a large table are built in steps:
// see DB.BuildIndexes.
//
// # Stores
//
// A Store keeps the objects: see Store, package sqlitestore for roots in files, and package
// pgstore for roots in PostgreSQL. The functions that open a root are there.
//
// # Saved copies
//
// Save makes a copy beside the root while others go on, under a name that has the time.
// Revert brings the root back to the state of a copy, while other processes have it open.
// Copies lists the copies.
package objectdb
