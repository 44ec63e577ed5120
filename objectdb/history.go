package objectdb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"time"
)

// Change is a commit that the history of the root has recorded. Users name it by its
// generation.
type Change struct {
	Generation int64
	Time       int64 // nanoseconds since 1970
	Origin     Origin
	// First is the generation of the first commit of the same transaction: a transaction
	// that calls Flush makes more than one change.
	First  int64
	Undoes []int64 // the generations of the changes that it undoes
	Count  int     // how many objects it changed
}

// Replaced says what a change did to one object.
type Replaced struct {
	ID  int64
	How How
}

// ChangesBefore yields changes as History.Changes does. read returns the newest n changes of the generations below
// before, or all if there are fewer. They are read in parts, so that other statements can run between two changes.
// The first part is small, because many callers want one change.
func ChangesBefore(before int64, read func(before int64, n int) ([]Change, error)) iter.Seq2[Change, error] {
	const most = 100
	return func(yield func(Change, error) bool) {
		for n := 1; ; n = min(10*n, most) {
			list, err := read(before, n)
			if err != nil {
				yield(Change{}, err)
				return
			}
			for _, change := range list {
				if !yield(change, nil) {
					return
				}
			}
			if len(list) < n {
				return
			}
			before = list[n-1].Generation
		}
	}
}

// MergeReplaced sorts the objects of a change by their ids, and joins the two entries of an
// object that was both moved and written.
func MergeReplaced(list []Replaced) []Replaced {
	slices.SortStableFunc(list, func(a, b Replaced) int { return cmp.Compare(a.ID, b.ID) })
	merged := list[:0]
	for _, r := range list {
		if last := len(merged) - 1; last >= 0 && merged[last].ID == r.ID {
			merged[last].How = MovedAndWritten
			continue
		}
		merged = append(merged, r)
	}
	return merged
}

// How is a way to change an object.
type How uint8

const (
	Inserted How = iota + 1
	Written
	Moved // to another table, or to another name
	MovedAndWritten
	Deleted
)

// Keep says what a store keeps of an object before a commit overwrites or deletes it.
type Keep uint8

const (
	// KeepNothing keeps nothing. A reader of the past finds the new value instead of the
	// old one. It does not find a deleted object, nor a moved one at its old place.
	KeepNothing Keep = iota
	// KeepThinned keeps the object, and lets the store drop it earlier than others. When a
	// table is deleted, scripts, texts and outlines in it are kept as KeepAll says.
	KeepThinned
	// KeepAll keeps the object as long as HistoryBounds allow.
	KeepAll
)

// A Past is the state of an object in a range of generations.
type Past struct {
	Row
	Since int64  // the first generation of the range
	Until int64  // the generation that replaced the state; 0 if it is the present one
	Hash  []byte // SHA-256 of the stored form of a value that was too large to be kept, else nil
	// Thinned says that the state may be dropped earlier than others. Only Dump fills it in.
	Thinned bool
}

// HistoryInfo describes the history of a root.
type HistoryInfo struct {
	// Reach is the first generation that can be read, and ReachTime when it was committed,
	// in nanoseconds since 1970.
	Reach, ReachTime int64
	// Thinned is the generation up to which thinned values were dropped.
	Thinned int64
	Changes int64 // the number of changes
	Objects int64 // the number of kept states of objects
	Bytes   int64 // about how much space these states take
	// ThinnedObjects and ThinnedBytes are the parts of Objects and Bytes that are thinned.
	ThinnedObjects, ThinnedBytes int64
}

// Forgotten says how much Store.Forget has dropped.
type Forgotten struct {
	Objects int64 // the number of states of objects
	Bytes   int64 // about how much space they took
}

// History is the part of a Session that reads the history. A method with a generation
// reads the root as the commit of that generation left it.
type History interface {
	// ObjectAt returns the object with this id. Its value is nil if it is longer than
	// WholeValue, or was not kept (Past.Hash).
	ObjectAt(ctx context.Context, id, generation int64) (Past, error)
	// ValueAt returns the value of the object with this id. If it was not kept, the
	// error is ErrNotKept.
	ValueAt(ctx context.Context, id, generation int64) (Value, error)
	// Changes yields the changes of the generations below before, the newest first.
	Changes(ctx context.Context, before int64) iter.Seq2[Change, error]
	// PersonChanges yields those of Changes that persons have made or that undo others.
	PersonChanges(ctx context.Context, before int64) iter.Seq2[Change, error]
	// GenerationAt returns the generation of the last change up to a time, in nanoseconds
	// since 1970. The error is ErrReach if the history does not reach back to that time.
	GenerationAt(ctx context.Context, time int64) (int64, error)
	// Parts returns the generations of the other changes of a transaction. first is the
	// generation of its first commit.
	Parts(ctx context.Context, first int64) ([]int64, error)
	// Replaced returns the objects of a change, in the order of their ids.
	Replaced(ctx context.Context, generation int64) ([]Replaced, error)
	// ChangesOf returns the generations in which an object was inserted, changed or
	// deleted, the newest first.
	ChangesOf(ctx context.Context, id int64) ([]int64, error)
	// Formerly returns the ids of the objects of which a past state is in a table. They may
	// still be there. If fold is not "", only objects with this folded name are returned.
	Formerly(ctx context.Context, table int64, fold string) ([]int64, error)
	// Reach returns the first generation that can be read, and when it was committed, in
	// nanoseconds since 1970.
	Reach(ctx context.Context) (generation, time int64, err error)
	// HistoryInfo describes the history. It reads the whole history to count.
	HistoryInfo(ctx context.Context) (HistoryInfo, error)
}

// HistoryBounds limit what a store keeps.
type HistoryBounds struct {
	Thinned time.Duration // how long thinned values are kept; 0 is for ever
	All     time.Duration // how long the others are kept; 0 is for ever
	Bytes   int64         // how much space all kept states take; 0 is no limit
}

// HistoryRules say what is kept of the objects that transactions overwrite and delete.
//
// Every state that a person replaces is kept. So is every script, text and outline that a
// request replaces. Other objects that requests replace are thinned: at most one value of
// each that is overwritten is kept in an Interval, and each that is deleted.
type HistoryRules struct {
	Interval time.Duration
	// Whole is the length in bytes of the longest value that is kept. Of a longer one, only
	// the length and a hash are kept.
	Whole    int64
	Bounds   HistoryBounds
	Subtrees []SubtreeRule
}

// SubtreeRule says what is kept of the objects at and below an address. If several rules
// match an object, the one with the longest address applies.
type SubtreeRule struct {
	Address Address
	Keep    SubtreeKeep
	Large   bool // values of any length are kept
}

// SubtreeKeep says what is kept of the objects in a subtree.
type SubtreeKeep uint8

const (
	KeepAsElsewhere SubtreeKeep = iota // as HistoryRules says
	KeepEverything                     // each value, whoever replaces it
	KeepNone                           // nothing
)

// DefaultHistory has the rules of a DB without Options.History.
var DefaultHistory = HistoryRules{
	Interval: time.Hour,
	Whole:    1 << 20,
	Bounds:   HistoryBounds{Thinned: 30 * 24 * time.Hour, Bytes: 256 << 20},
	Subtrees: []SubtreeRule{{Address: Address{"scratchpad"}, Keep: KeepNone}},
}

// rule returns the rule for an object. n is its node as the root has it, or a new one.
func (r *HistoryRules) rule(tx *Tx, n *Node) (rule SubtreeRule, err error) {
	if len(r.Subtrees) == 0 {
		return rule, nil
	}
	var buffer [16]string
	folds := buffer[:0] // from the object upwards
	for n.id != RootID {
		if len(folds) > maxDepth {
			return rule, fmt.Errorf("%w: object %d lies below itself", ErrDamaged, n.id)
		}
		folds = append(folds, n.fold)
		if n, err = tx.parentBefore(n); err != nil {
			return rule, err
		}
	}
	longest := -1
	for _, s := range r.Subtrees {
		if len(s.Address) > longest && len(s.Address) <= len(folds) && s.holds(folds) {
			rule, longest = s, len(s.Address)
		}
	}
	return rule, nil
}

// parentBefore returns the table that an object was in before the transaction. For a new
// object, it returns the table that the transaction has put it in.
func (tx *Tx) parentBefore(n *Node) (*Node, error) {
	if n.parent == RootID {
		return tx.root, nil
	}
	if n.ver < 0 { // the transaction has put the object there, so the table exists
		return tx.parentOf(n)
	}
	hint := n.up
	if hint != nil && (hint.id != n.parent || hint.ver < 0) {
		hint = nil
	}
	return tx.byID(n.parent, hint)
}

// keep returns what is kept of an object that tx overwrites or deletes. old is its node as
// the root has it.
func (r *HistoryRules) keep(tx *Tx, old *Node) (keep Keep, large bool, err error) {
	rule, err := r.rule(tx, old)
	switch {
	case err != nil:
		return KeepNothing, false, err
	case rule.Keep == KeepNone:
		return KeepNothing, false, nil
	case rule.Keep == KeepEverything, tx.Origin.Person, old.kind.isCode():
		return KeepAll, rule.Large, nil
	}
	return KeepThinned, rule.Large, nil
}

// isCode reports whether objects of this kind are kept when a request replaces them.
func (k Kind) isCode() bool { return k == KindScript || k == KindText || k == KindOutline }

// maxDepth limits how many tables above an object are followed, should a damaged root have
// a table below itself. No usable root is that deep.
const maxDepth = 10000

// holds reports whether an object lies at or below the address of a rule. folds are the
// folded names from the object upwards.
func (s *SubtreeRule) holds(folds []string) bool {
	for i, name := range s.Address {
		if Fold(name) != folds[len(folds)-1-i] {
			return false
		}
	}
	return true
}

// historyRules returns the rules for what is kept. They are read under the writer's lock,
// after the read set was compared, so they are not added to it.
func (tx *Tx) historyRules() (*HistoryRules, error) {
	if tx.db.options.History == nil {
		return &DefaultHistory, nil
	}
	read := tx.read
	tx.read = nil
	defer func() { tx.read = read }()
	return tx.db.options.History(tx)
}

// Changes yields the changes of the generations below before, the newest first. If before
// is 0, it yields all changes.
func (tx *Tx) Changes(before int64) iter.Seq2[Change, error] {
	return tx.changes(before, Session.Changes)
}

// PersonChanges yields those of Changes that persons have made or that undo others. It need not
// read the changes of requests.
func (tx *Tx) PersonChanges(before int64) iter.Seq2[Change, error] {
	return tx.changes(before, Session.PersonChanges)
}

func (tx *Tx) changes(
	before int64, read func(s Session, ctx context.Context, before int64) iter.Seq2[Change, error],
) iter.Seq2[Change, error] {
	if before <= 0 {
		before = math.MaxInt64
	}
	s, err := tx.reader()
	if err != nil {
		return func(yield func(Change, error) bool) { yield(Change{}, err) }
	}
	return read(s, tx.ctx, before)
}

// ChangedObject is an object that a change has changed.
type ChangedObject struct {
	ID            int64
	How           How
	Before, After *ObjectState // nil if it did not exist
}

// ObjectState is an object as it was after a commit.
type ObjectState struct {
	Address Address
	Kind    Kind
	Size    int64
	Type    string
	// Written is the generation of the commit that wrote the value. It is above the
	// generation that was asked for if the value of that generation was not kept.
	Written int64
	Hash    []byte // if only a hash of the value was kept
}

// ChangedObjects yields the objects of a change, in the order of their ids.
func (tx *Tx) ChangedObjects(generation int64) iter.Seq2[ChangedObject, error] {
	return func(yield func(ChangedObject, error) bool) {
		s, err := tx.reader()
		if err != nil {
			yield(ChangedObject{}, err)
			return
		}
		list, err := s.Replaced(tx.ctx, generation)
		if err != nil {
			yield(ChangedObject{}, fmt.Errorf("change %d: %w", generation, err))
			return
		}
		for _, r := range list {
			o := ChangedObject{ID: r.ID, How: r.How}
			if o.Before, err = tx.StateAt(r.ID, generation-1); err == nil {
				o.After, err = tx.StateAt(r.ID, generation)
			}
			if !yield(o, err) || err != nil {
				return
			}
		}
	}
}

// StateAt returns the object with this id as a generation left it, or nil if there was none.
func (tx *Tx) StateAt(id, generation int64) (*ObjectState, error) {
	if _, err := tx.reader(); err != nil {
		return nil, err
	}
	p, err := tx.pastOf(id, generation)
	if p == nil || err != nil {
		return nil, err
	}
	return &ObjectState{
		Address: tx.addressOf(id, generation), Kind: p.Kind, Size: p.Size, Type: p.Type,
		Written: p.Version, Hash: p.Hash,
	}, nil
}

// ValueAt returns the value of the object with this id as a generation left it. The error
// is ErrNotKept if only its hash was kept. See ObjectState.Written.
func (tx *Tx) ValueAt(id, generation int64) (Value, error) {
	s, err := tx.reader()
	if err != nil {
		return nil, err
	}
	return s.ValueAt(tx.ctx, id, generation)
}

// addressOf returns the address that an object had in a generation, as far as it is known.
func (tx *Tx) addressOf(id, generation int64) Address {
	names := []string{}
	for id != RootID && len(names) < maxDepth {
		p, err := tx.session.ObjectAt(tx.ctx, id, generation)
		if err != nil {
			break
		}
		names = append(names, p.Name)
		id = p.Parent
	}
	slices.Reverse(names)
	return Address(names)
}

// GenerationAt returns the generation of the last change up to a time. The error is
// ErrReach if the history does not reach back to that time.
func (tx *Tx) GenerationAt(t time.Time) (int64, error) {
	s, err := tx.reader()
	switch {
	case err != nil:
		return 0, err
	case !t.Before(tx.db.options.Now()):
		return tx.gen, nil
	case t.Before(time.Unix(0, 0)): // UnixNano does not cover all of these times
		return 0, ErrReach
	}
	return s.GenerationAt(tx.ctx, t.UnixNano())
}

// Generation returns the generation that the transaction sees.
func (tx *Tx) Generation() int64 { return tx.gen }

// Reach returns the first generation that can be read, and when it was committed.
func (tx *Tx) Reach() (int64, time.Time, error) {
	s, err := tx.reader()
	if err != nil {
		return 0, time.Time{}, err
	}
	generation, made, err := s.Reach(tx.ctx)
	return generation, time.Unix(0, made), err
}

// IDsAt returns the ids of the objects that are or were at an address.
func (tx *Tx) IDsAt(a Address) ([]int64, error) {
	s, err := tx.reader()
	if err != nil {
		return nil, err
	}
	ids := []int64{RootID}
	for _, name := range a {
		var next []int64
		for _, id := range ids {
			switch row, err := s.Child(tx.ctx, id, Fold(name)); {
			case err == nil:
				next = append(next, row.ID)
			case err != ErrNotFound:
				return nil, err
			}
			past, err := s.Formerly(tx.ctx, id, Fold(name))
			if err != nil {
				return nil, err
			}
			next = append(next, past...)
		}
		slices.Sort(next)
		ids = slices.Compact(next)
	}
	return ids, nil
}

// IDsBelow returns ids, and the ids of the objects that are or were below them. If most is not 0 and
// there are more than most, some are missing, and complete is false.
func (tx *Tx) IDsBelow(ids []int64, most int) (list []int64, complete bool, err error) {
	s, err := tx.reader()
	if err != nil {
		return nil, false, err
	}
	enough := errors.New("enough")
	seen := map[int64]bool{}
	for next := ids; len(next) > 0; {
		var found []int64
		for _, id := range next {
			if seen[id] {
				continue
			}
			seen[id] = true
			past, err := s.Formerly(tx.ctx, id, "")
			if err != nil {
				return nil, false, err
			}
			found = append(found, past...)
			err = s.Children(tx.ctx, id, func(r Row) error {
				if found = append(found, r.ID); most > 0 && len(found) > most {
					return enough
				}
				return nil
			})
			if err == enough || most > 0 && len(seen) > most {
				return slices.Sorted(maps.Keys(seen)), false, nil
			}
			if err != nil {
				return nil, false, err
			}
		}
		next = found
	}
	return slices.Sorted(maps.Keys(seen)), true, nil
}

// ChangedBelow reports whether a change has changed one of the objects ids, or an object that was below one of them
// before or after the change. It examines at most that number of objects of the change, and returns the number that
// it has examined.
func (tx *Tx) ChangedBelow(generation int64, ids map[int64]bool, most int) (below bool, looked int, err error) {
	s, err := tx.reader()
	if err != nil {
		return false, 0, err
	}
	list, err := s.Replaced(tx.ctx, generation)
	if err != nil {
		return false, 0, fmt.Errorf("change %d: %w", generation, err)
	}
	after, before := map[int64]bool{}, map[int64]bool{}
	list = list[:min(most, len(list))]
	for i, r := range list {
		below, err := tx.isBelow(r.ID, generation, ids, after)
		if !below && err == nil {
			below, err = tx.isBelow(r.ID, generation-1, ids, before)
		}
		if below || err != nil {
			return below, i + 1, err
		}
	}
	return false, len(list), nil
}

// isBelow reports whether an object was one of ids in a generation, or below one of them. It adds what it finds to
// known.
func (tx *Tx) isBelow(id, generation int64, ids, known map[int64]bool) (bool, error) {
	var tables []int64
	below, found := false, false
	for id != RootID && len(tables) < maxDepth {
		if below, found = known[id]; found {
			break
		}
		if below = ids[id]; below {
			break
		}
		tables = append(tables, id)
		p, err := tx.pastOf(id, generation)
		if err != nil {
			return false, err
		}
		if p == nil {
			break
		}
		id = p.Parent
	}
	for _, table := range tables {
		known[table] = below
	}
	return below, nil
}

// ChangesOf returns the generations of the changes of some objects, the newest first. A
// commit that kept nothing of an object is not among them.
func (tx *Tx) ChangesOf(ids []int64) ([]int64, error) {
	s, err := tx.reader()
	if err != nil {
		return nil, err
	}
	all := map[int64]bool{}
	for _, id := range ids {
		list, err := s.ChangesOf(tx.ctx, id)
		if err != nil {
			return nil, err
		}
		for _, g := range list {
			all[g] = true
		}
	}
	list := slices.Sorted(maps.Keys(all))
	slices.Reverse(list)
	return list, nil
}

// HistoryInfo describes the history. It reads the whole history to count.
func (db *DB) HistoryInfo(ctx context.Context) (info HistoryInfo, err error) {
	err = db.View(ctx, func(tx *Tx) error {
		s, err := tx.reader()
		if err == nil {
			info, err = s.HistoryInfo(ctx)
		}
		return err
	})
	return info, err
}

// Forget removes from the history the past states of the objects that are or were at and
// below an address. The present objects stay. Saved copies are not touched.
func (db *DB) Forget(ctx context.Context, a Address) (Forgotten, error) {
	var ids []int64
	err := db.View(ctx, func(tx *Tx) (err error) {
		if ids, err = tx.IDsAt(a); err == nil {
			ids, _, err = tx.IDsBelow(ids, 0)
		}
		return err
	})
	if err != nil {
		return Forgotten{}, err
	}
	return db.store.Forget(ctx, ids)
}

// At returns a DB of the root as the commit of a generation left it. Its transactions may
// write and see what they have written, but they cannot be committed. Where a value was not
// kept, a transaction finds a later one. It then calls inexact, if that is not nil, with the
// id of the object and the generation that wrote the value, from any goroutine. The DB is
// closed with db.
func (db *DB) At(generation int64, inexact func(id, written int64)) *DB {
	o := db.options
	o.ReadOnly = false // what a transaction writes goes nowhere
	s := db.store.At(generation, func(r Row) {
		if inexact != nil {
			inexact(r.ID, r.Version)
		}
	})
	past := New(s, o)
	past.past = true
	return past
}

// IsPast reports whether the DB is the root as it was: see At.
func (db *DB) IsPast() bool { return db.past }
