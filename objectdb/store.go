package objectdb

import (
	"context"
	"iter"
	"slices"
	"time"
)

// A Store keeps the objects of one root. Package sqlitestore keeps them in an SQLite
// file, and package pgstore in PostgreSQL; package storetest has the tests that every store must pass. New makes a DB,
// which has addresses, transactions and a cache, of a store.
//
// A store may be used by many goroutines at once, and by other processes.
type Store interface {
	// BeginRead begins a session that sees the newest state of the root, and sees it
	// until its end.
	//
	// since is a generation that the caller knows. If the newest one is later, the
	// State says what was changed after it, as far as the store knows.
	//
	// *wait is how long the call may wait for others. The call reduces it by the time it
	// has waited, and returns ErrBusy when none is left.
	BeginRead(ctx context.Context, since int64, wait *time.Duration) (Session, State, error)

	// BeginWrite is BeginRead for a session that holds the writer's lock until its end.
	// One session of all processes holds it.
	BeginWrite(ctx context.Context, since int64, wait *time.Duration) (Writer, State, error)

	// Newest returns the newest generation if the store knows it at once, without a session. If recent is true, it
	// may be one that was the newest at some time of the last MaxAge. losses is the last State.Losses that the caller
	// has seen. If there are more, or if the caller may know a later generation, ok is false.
	Newest(losses int64, recent bool) (generation int64, ok bool)

	// At returns a store of the root as the commit of a generation left it. Its sessions
	// only read. It is closed with this store. Where a value was not kept, a session returns
	// a later one, and calls inexact with the row, from any goroutine.
	At(generation int64, inexact func(Row)) Store

	// Path names the root in messages: a file, or a URL without a password (see package rootname).
	Path() string

	// Size returns how much space the root takes.
	Size(ctx context.Context) (Size, error)

	// Forget removes the past states of objects from the history. It makes no change and no
	// generation. No part of the states is left in the files of the root.
	Forget(ctx context.Context, ids []int64) (Forgotten, error)

	// Mark marks the root as moved to target: every commit that comes after it, of any process, is refused with the
	// error that MovedTo returns. It calls locked while nobody else can write, before it marks the root. If the root is
	// marked already, it is refused, too. If target is "", Mark takes the mark back, and returns the target that the root
	// was marked with, or "".
	Mark(ctx context.Context, target string, locked func() error) (before string, err error)

	Save(ctx context.Context, o SaveOptions) (Copy, error)
	Revert(ctx context.Context, path string, o RevertOptions) (Reverted, error)
	Copies() ([]Copy, error)
	LastFailure() Failure

	// Close ends the use of the root when the last session has ended.
	Close() error
}

// A Session reads one state of a root. Only one goroutine may use it at a time, and a function
// that a method calls with rows does not use it. A method returns ErrNotFound for an object that
// does not exist.
type Session interface {
	// Child returns the object with the folded name in a table. Its value is nil if it
	// is longer than WholeValue.
	Child(ctx context.Context, table int64, fold string) (Row, error)
	// Object returns the object with this id, as Child does.
	Object(ctx context.Context, id int64) (Row, error)
	// Page calls fn with the first n objects of a table whose folded names are from or after it,
	// and before end, in the order of the bytes of the folded names. If backward is true, it calls
	// fn with the last n of them, in the reverse order. A value is nil if it is longer than
	// ListedValue.
	Page(ctx context.Context, table int64, from, end string, backward bool, n int, fn func(Row) error) error
	// Children calls fn with each object of a table, in the order of the bytes of the
	// folded names. A value is nil if it is longer than ListedValue.
	Children(ctx context.Context, table int64, fn func(Row) error) error
	// Len returns the number of objects in a table.
	Len(ctx context.Context, table int64) (int, error)
	// CountUpTo returns the number of objects that Page finds, up to most.
	CountUpTo(ctx context.Context, table int64, from, end string, most int) (int, error)
	// Value returns the value of the object with this id.
	Value(ctx context.Context, id int64) (Value, error)

	// Scan looks at the first objects that a Scan says, in the order of their ids, and calls fn with
	// those whose names or texts contain what it says, without regard to case. It may call fn with
	// others, too, and it does so if a text is longer than ScannedValue; then the value is nil. It
	// returns the last id that it has looked at, or the greatest int64 if there are no more.
	Scan(ctx context.Context, s Scan, fn func(Row) error) (last int64, err error)
	// CountIDs returns the number of objects with ids after one, up to another.
	CountIDs(ctx context.Context, after, last int64) (int64, error)

	// Indexes returns the indexes that the root has.
	Indexes(ctx context.Context) ([]Index, error)
	// Entries calls fn with the first n entries of an index whose places are from or after one, and before end, in the
	// order of the bytes of the places. If backward is true, it calls fn with the last n of them, in the reverse order.
	Entries(ctx context.Context, index int64, from, end string, backward bool, n int, fn func(IndexEntry) error) error
	// IndexKeys returns the keys that an index has of the record with a folded name.
	IndexKeys(ctx context.Context, index int64, fold string) ([]IndexKey, error)

	// All calls fn with each object of the root. If an object cannot be read, fn gets
	// the reason, and a row that has only the id.
	All(ctx context.Context, fn func(Row, error)) error
	// Check calls report with everything that is wrong with the form in which the store
	// keeps the root.
	Check(ctx context.Context, report func(message string)) error
	// Info returns what the root says of itself.
	Info(ctx context.Context) (Info, error)
	// Dump returns everything in the root. Its sequences are read before the session does anything else. A session
	// of the past has none.
	Dump(ctx context.Context) (*Dump, error)

	History

	// End ends the session. What was written and not committed is lost.
	End()
}

// A Replicated session is one with a server.
type Replicated interface {
	Session
	// Replication returns which standbys the server has.
	Replication(ctx context.Context) (*Replication, error)
}

// Replication says which standbys a server has.
type Replication struct {
	IsStandby   bool // the server itself is a standby
	Synchronous int  // standbys that have each commit before it is answered
	Others      int  // standbys that get it later
	Unknown     int  // standbys of which the user may not see more
	Wanted      bool // the server waits for synchronous standbys
	// Commits is synchronous_commit, the setting of the server that says what a commit waits for.
	Commits string
}

// A Writer is a session that holds the writer's lock.
type Writer interface {
	Session
	// Commit writes all of c or nothing, and commits it: every session that begins from
	// now on sees it. It stops when ctx ends.
	//
	// If the commit may still be lost when the power fails, flush is not nil: it
	// returns when the commit is on the disk. The caller ends the session before.
	Commit(ctx context.Context, c *Commit) (flush func(context.Context) error, err error)
}

// MaxAge is how old the state may be with which a transaction of UpdateRecent begins.
const MaxAge = 50 * time.Millisecond

// RootID is the id of the root table. Its parent is 0 and its name is "".
const RootID = 1

// A value longer than WholeValue bytes is not read with its row, but when it is asked
// for. In a listing the limit is ListedValue.
const (
	WholeValue  int64 = 16 << 10
	ListedValue int64 = 1 << 10
)

// Size is how much space a root takes, in bytes, without its saved copies.
type Size struct {
	Data int64 // the root itself
	WAL  int64 // a file beside it with the last changes; 0 if the store has none of its own
}

// State is what a session sees.
type State struct {
	Generation int64 // raised by each commit
	LastID     int64 // the greatest id that was ever given
	Changes    Changes
	// Losses is how often the store has noticed that the root has lost commits that it had made, as after the
	// failure of a server. A caller that has seen fewer losses must forget all that it knows of the root: a
	// generation, an id or a version may stand for something else now.
	Losses int64
}

// Changes is what the last commits have changed.
type Changes struct {
	// Since is the generation since which Changes is complete; 0 if nothing is known.
	Since int64
	// Places has every place at which an object came, went or was written after Since.
	// The objects in a table that is gone are not listed.
	Places []ChangedPlace
	// Entries of an index are at places that have its ID as the table, and an empty place stands for all of them.
	// Reverted is the generation of the last Revert, or undo of the deletion of a table, after
	// Since, or 0 if there was none. Objects that come back have the ids that they had before.
	Reverted int64
}

// ChangedPlace is a place and the last generation that changed it.
type ChangedPlace struct {
	Place
	Generation int64
}

// Place is where an object is: the id of its table, and its folded name.
type Place struct {
	Table int64
	Fold  string
}

// Row is an object as a store keeps it.
type Row struct {
	ID       int64  // never given twice
	Parent   int64  // the id of its table
	Name     string // as it is spelled
	Fold     string // see Fold
	Kind     Kind
	Version  int64 // the generation of the commit that last wrote the row
	Created  int64 // nanoseconds since 1970
	Modified int64
	Size     int64
	Type     string // MIME type of a binary
	// Kept is when the last request was made that kept what it overwrote of the object, in
	// nanoseconds since 1970; 0 if the next one keeps it in any case.
	Kept  int64
	Value Value // nil in a table, and if the value is too long
}

// Commit is what one transaction writes. A store takes the steps in the order of the
// fields, so that objects can change their places and can be moved out of a table that
// is deleted. It may take all objects of Moves from their places first. Every row that
// it writes has the version Generation.
type Commit struct {
	Generation int64 // that the commit makes
	LastID     int64
	Time       int64 // nanoseconds since 1970
	Origin     Origin

	Deletes []Delete
	Moves   []Write                 // objects that get another parent or name: ID, Parent, Name, Fold
	Values  iter.Seq2[Write, error] // objects that get another value: all but Parent, Name, Fold, Created
	Inserts iter.Seq2[Write, error] // new objects
	Touched []int64                 // tables whose names have changed: they are modified at Time

	Indexes []Index      // indexes that are new or change
	Entries []IndexWrite // of records in them
	// Purge are dropped indexes. The store deletes PurgeStep entries of each, and forgets those that have no more.
	Purge     []int64
	PurgeStep int

	// Changed are the places for the State.Changes of later sessions.
	Changed []Place
	// Revives says that Inserts has tables that had been deleted. The State.Changes of later
	// sessions report that as a Revert.
	Revives bool

	// The store keeps what Keep says. It records the commit as a Change if it keeps anything,
	// inserts an object whose Keep is not KeepNothing, or undoes changes.
	First  int64         // see Change; 0 is Generation
	Undoes []int64       // see Change
	Whole  int64         // see HistoryRules
	Bounds HistoryBounds // beyond which the store drops what it has kept, little by little
}

// Write is an object that a commit writes. Kept is written with a value if the one before
// is kept.
type Write struct {
	Row
	Keep  Keep // what is kept of its present state
	Large bool // a value of any length is kept
}

// Delete is an object that goes; if it is a table, with all below it.
type Delete struct {
	ID    int64
	Table bool
	Keep  Keep
	Large bool // see Write
}

// Origin says who makes a commit, and for what.
type Origin struct {
	Person bool   // a person makes it at a command line or on the web page
	Who    string // a user of the host, or the user of a request; "" if nobody has checked who it is
	Why    string // a command, or the method of a request
	Path   string // of the request
}

// knownSince reports whether c knows everything that was changed after a generation.
func (c *Changes) knownSince(generation int64) bool { return c.Since > 0 && c.Since <= generation }

// changedPlaces are places by their tables.
type changedPlaces map[int64][]string

// after returns what was changed after a generation; nil if c does not know it.
func (c *Changes) after(generation int64) changedPlaces {
	if !c.knownSince(generation) {
		return nil
	}
	p := changedPlaces{}
	for _, ch := range c.Places {
		if ch.Generation > generation {
			p[ch.Table] = append(p[ch.Table], ch.Fold)
		}
	}
	for _, folds := range p {
		slices.Sort(folds)
	}
	return p
}

// mayHold reports whether a place may have been changed. Where nothing is known, it may.
func (p changedPlaces) mayHold(table int64, fold string) bool {
	if p == nil {
		return true
	}
	_, found := slices.BinarySearch(p[table], fold)
	return found
}

// among calls fn with each of nodes whose place may have been changed, until fn returns
// false or an error. Neighbours in nodes are as a rule of one table.
func (p changedPlaces) among(nodes []*Node, fn func(*Node) (bool, error)) (bool, error) {
	table, folds := int64(-1), []string(nil)
	for _, n := range nodes {
		if p != nil {
			if n.parent != table {
				table, folds = n.parent, p[n.parent]
			}
			if len(folds) == 0 {
				continue
			}
			if _, found := slices.BinarySearch(folds, n.fold); !found {
				continue
			}
		}
		if ok, err := fn(n); err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}
