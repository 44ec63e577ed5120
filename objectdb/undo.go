package objectdb

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
)

// UndoOptions says how to undo changes.
type UndoOptions struct {
	// Only limits the undo to objects at and below these addresses, if there are any. An
	// object may have the address before the change or after it.
	Only []Address
	// Merge, if it is not nil, merges the value of an object that was written since. theirs
	// is its present value. Merge returns theirs without the change from before to after. If
	// it cannot, it returns an error that says why.
	Merge func(a Address, before, after, theirs Value) (Value, error)
}

// An UndoConflict says why changes cannot be undone.
type UndoConflict struct {
	Objects []ConflictingObject
}

// ConflictingObject is an object that was changed after the change that is to be undone.
type ConflictingObject struct {
	ID      int64
	Address Address // empty if it is not known any more
	Change  int64   // the change that is to be undone
	Since   int64   // the last change of the object; 0 if it is not known
	Why     string
	Merge   bool // UndoOptions.Merge may help
}

func (c *UndoConflict) Error() string {
	const most = 10
	var parts []string
	for _, o := range c.Objects[:min(most, len(c.Objects))] {
		parts = append(parts, o.String())
	}
	if more := len(c.Objects) - most; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, "; ")
}

func (o *ConflictingObject) String() string {
	text := fmt.Sprintf("%s %s", o.Address, o.Why)
	if len(o.Address) == 0 {
		text = fmt.Sprintf("object %d %s", o.ID, o.Why)
	}
	if o.Since > 0 {
		text += fmt.Sprintf(" (change %d)", o.Since)
	}
	return text
}

// Undone says what Undo has done.
type Undone struct {
	Changes []int64 // the changes that are undone, the newest first
	// The numbers of objects that were changed, restored and removed.
	Changed, Restored, Removed int
	Merged                     []Address // the objects that have a value from Merge
}

// ErrNothingToUndo says that all changes made by persons are undone.
var ErrNothingToUndo = errors.New("no change of a person is left to undo")

// Change returns the change of a generation. The error is ErrNotFound if the history does
// not have it.
func (tx *Tx) Change(generation int64) (Change, error) {
	s, err := tx.reader()
	if err != nil {
		return Change{}, err
	}
	for c, err := range s.Changes(tx.ctx, generation+1) {
		if err != nil || c.Generation == generation {
			return c, err
		}
		break
	}
	return Change{}, ErrNotFound
}

// LastUndoable returns the last change that a person has made and no later change has undone.
// It passes over changes that undo others, and over those in skip.
func (tx *Tx) LastUndoable(skip ...int64) (int64, error) {
	for c, err := range tx.effective(skip) {
		if err != nil {
			return 0, err
		}
		if c.Origin.Person && len(c.Undoes) == 0 {
			return c.Generation, nil
		}
	}
	return 0, ErrNothingToUndo
}

// LastRedoable returns the last undo that a person has made, if it is not undone and no
// person has made another change since.
func (tx *Tx) LastRedoable() (int64, error) {
	for c, err := range tx.effective(nil) {
		if err != nil {
			return 0, err
		}
		if !c.Origin.Person {
			continue
		}
		undo, err := tx.isUndo(c)
		switch {
		case err != nil:
			return 0, err
		case undo:
			return c.Generation, nil
		case len(c.Undoes) == 0:
			return 0, ErrNothingToUndo
		}
	}
	return 0, ErrNothingToUndo
}

// effective yields the changes of persons that are not undone, the newest first. Those in skip count
// as undone.
func (tx *Tx) effective(skip []int64) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		undone := map[int64]bool{}
		for _, g := range skip {
			undone[g] = true
		}
		for c, err := range tx.PersonChanges(0) {
			if err == nil && undone[c.Generation] { // if it is an undo, it has no effect
				continue
			}
			if !yield(c, err) {
				return
			}
			for _, g := range c.Undoes {
				undone[g] = true
			}
		}
	}
}

// isUndo reports whether a change is an undo. A change that undoes an undo is a redo, and
// one that undoes a redo is an undo again.
func (tx *Tx) isUndo(c Change) (bool, error) {
	undo := false
	for len(c.Undoes) > 0 {
		undo = !undo
		before, err := tx.Change(c.Undoes[0])
		if err == ErrNotFound {
			break
		}
		if err != nil {
			return false, err
		}
		c = before
	}
	return undo, nil
}

// withParts returns the changes with the other changes of the same transactions, the newest
// first.
func (tx *Tx) withParts(changes []int64) ([]int64, error) {
	all := map[int64]bool{}
	for _, g := range changes {
		c, err := tx.Change(g)
		if err != nil {
			return nil, fmt.Errorf("change %d: %w", g, err)
		}
		all[g] = true
		parts, err := tx.session.Parts(tx.ctx, c.First)
		if err != nil {
			return nil, err
		}
		if _, err := tx.Change(c.First); err == nil {
			parts = append(parts, c.First)
		} else if err != ErrNotFound {
			return nil, err
		}
		for _, p := range parts {
			all[p] = true
		}
	}
	list := slices.Sorted(maps.Keys(all))
	slices.Reverse(list)
	return list, nil
}

// Undo undoes changes, and all other changes of the same transactions. It puts back what
// they overwrote and moved, deletes what they inserted, and restores what they deleted, with
// the old ids. It leaves alone an object that already is as it was before the change. If an
// object was changed since, the error is an UndoConflict and nothing is written.
func (tx *Tx) Undo(changes []int64, o UndoOptions) (Undone, error) {
	if tx.mode == viewing {
		return Undone{}, ErrReadOnly
	}
	if _, err := tx.reader(); err != nil {
		return Undone{}, err
	}
	list, err := tx.withParts(changes)
	if err != nil {
		return Undone{}, err
	}
	done := Undone{Changes: list}
	err = tx.Try(func() error {
		for _, g := range list {
			u := undo{tx: tx, o: &o, change: g, done: &done}
			if err := u.run(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return Undone{}, err
	}
	tx.delta(tx.root) // so that it is committed, though all may be as it was already
	before := tx.undoes
	tx.undoes = slices.Concat(before, list)
	tx.undoable(func() { tx.undoes = before })
	return done, nil
}

// undo undoes one change.
type undo struct {
	tx      *Tx
	o       *UndoOptions
	change  int64
	done    *Undone
	objects []*undoing
	byID    map[int64]*undoing
	leads   map[int64]bool // tables known to be the root or to lie below it
	problem UndoConflict
}

// undoing is one object of the change.
type undoing struct {
	id            int64
	how           How
	before, after *Past // nil if it did not exist
	now           *Node // nil if it does not exist
	goes          bool  // it is to be deleted
	moves         bool  // it is to be put at the place of before
	placed        bool  // putBack has been called with it
	write         Value // the value that is to be written, or nil
}

func (u *undo) run() error {
	if err := u.load(); err != nil {
		return err
	}
	for _, o := range u.objects {
		if err := u.compare(o); err != nil {
			return err
		}
	}
	if err := u.conflict(); err != nil {
		return err
	}
	for _, step := range []func() error{u.vacate, u.place, u.remove, u.write} {
		if err := step(); err != nil {
			return err
		}
		if err := u.conflict(); err != nil {
			return err
		}
	}
	return nil
}

func (u *undo) conflict() error {
	if len(u.problem.Objects) > 0 {
		return &u.problem
	}
	return nil
}

// refuse adds an object to the conflict.
func (u *undo) refuse(id int64, why string) {
	c := ConflictingObject{ID: id, Address: u.address(id), Change: u.change, Why: why}
	if list, err := u.tx.session.ChangesOf(u.tx.ctx, id); err == nil && len(list) > 0 && list[0] > u.change {
		c.Since = list[0]
	}
	u.problem.Objects = append(u.problem.Objects, c)
}

// address returns the address of an object after the change, or else before it, or else now.
func (u *undo) address(id int64) Address {
	for _, generation := range []int64{u.change, u.change - 1} {
		if a := u.tx.addressOf(id, generation); len(a) > 0 {
			return a
		}
	}
	if n, err := u.tx.nodeByID(id); n != nil && err == nil {
		return u.tx.Address(n)
	}
	return nil
}

// load reads what the change has done.
func (u *undo) load() error {
	tx := u.tx
	list, err := tx.session.Replaced(tx.ctx, u.change)
	if err != nil {
		return fmt.Errorf("change %d: %w", u.change, err)
	}
	u.byID = make(map[int64]*undoing, len(list))
	for _, r := range list {
		o := &undoing{id: r.ID, how: r.How}
		if o.before, err = tx.pastOf(r.ID, u.change-1); err != nil {
			return err
		}
		if o.after, err = tx.pastOf(r.ID, u.change); err != nil {
			return err
		}
		if o.now, err = tx.nodeByID(r.ID); err != nil {
			return err
		}
		if o.now != nil {
			// The tables above it count as read: another transaction may delete one.
			if err := tx.alive(o.now); err == ErrNotFound {
				o.now = nil
			} else if err != nil {
				return err
			}
		}
		if !u.wanted(o) {
			continue
		}
		u.objects = append(u.objects, o)
		u.byID[o.id] = o
	}
	return nil
}

// wanted reports whether an object is among those of UndoOptions.Only.
func (u *undo) wanted(o *undoing) bool {
	if len(u.o.Only) == 0 {
		return true
	}
	for _, generation := range []int64{u.change - 1, u.change} {
		a := u.tx.addressOf(o.id, generation)
		for _, only := range u.o.Only {
			if a.hasPrefix(only) {
				return true
			}
		}
	}
	return false
}

// pastOf returns an object as a generation left it, or nil if there was none.
func (tx *Tx) pastOf(id, generation int64) (*Past, error) {
	p, err := tx.session.ObjectAt(tx.ctx, id, generation)
	if err == ErrNotFound {
		return nil, nil
	}
	return &p, err
}

// nodeByID returns the present node of an object, or nil if it does not exist.
func (tx *Tx) nodeByID(id int64) (*Node, error) {
	n, err := tx.present(&Node{id: id, kind: KindTable})
	if err == nil && n.fold == "" && id != RootID {
		n, err = tx.byID(id, nil)
	}
	if err == ErrNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	tx.readsPlace(n)
	tx.readsObject(n)
	return n, nil
}

// compare decides what to do with an object. It refuses an object that is no longer as the
// change left it. A state that was not kept is taken to differ from the present one.
func (u *undo) compare(o *undoing) error {
	switch {
	case o.how == Deleted && o.now != nil: // it is back already
		return nil
	case o.how == Deleted && o.before == nil:
		u.refuse(o.id, "cannot be restored: "+notKeptAnyMore)
		return nil
	case o.how == Deleted:
		o.moves = true
		return nil
	case o.how == Inserted && o.now == nil: // nothing is left to undo
		return nil
	case o.now == nil:
		u.refuse(o.id, "was deleted since")
		return nil
	case o.how != Inserted && o.before == nil:
		u.refuse(o.id, "cannot be moved back: "+notKeptAnyMore)
		return nil
	case o.after == nil:
		u.refuse(o.id, "was changed since")
		return nil
	}
	same, err := u.isAt(o.now, o.after, u.change)
	if err != nil {
		return err
	}
	samePlace := o.after.isPlaceOf(o.now)
	switch {
	case o.how == Inserted:
		if !same || !samePlace {
			u.refuse(o.id, "was changed since")
		}
		o.goes = true
		return nil
	case o.before.isPlaceOf(o.now):
	case !samePlace:
		u.refuse(o.id, "was moved since")
		return nil
	default:
		o.moves = true
	}
	return u.compareValue(o, same)
}

const notKeptAnyMore = "its old state is no longer kept"

// isPlaceOf reports whether an object is still at the place that it had in p.
func (p *Past) isPlaceOf(n *Node) bool { return n.parent == p.Parent && n.name == p.Name }

// compareValue finds the value that an object gets. same says whether the present value is
// the one of after.
func (u *undo) compareValue(o *undoing, same bool) error {
	if o.now.kind == KindTable || o.how == Moved && same {
		return nil
	}
	already, err := u.isAt(o.now, o.before, u.change-1)
	if err != nil || already {
		return err
	}
	if !same && u.o.Merge == nil {
		u.refuse(o.id, "was written since")
		u.problem.Objects[len(u.problem.Objects)-1].Merge = true
		return nil
	}
	if o.how == Moved {
		return nil
	}
	before, err := u.value(o.id, o.before, u.change-1)
	if err == ErrNotKept {
		u.refuse(o.id, "cannot get its old value back: "+whyNotKept(o.before))
		return nil
	}
	if err != nil {
		return err
	}
	if same {
		o.write = before
		return nil
	}
	after, err := u.value(o.id, o.after, u.change)
	if err == ErrNotKept {
		u.refuse(o.id, "cannot be merged: "+whyNotKept(o.after))
		return nil
	}
	if err != nil {
		return err
	}
	theirs, err := u.tx.Value(o.now)
	if err != nil {
		return err
	}
	a := u.tx.Address(o.now)
	if o.write, err = u.o.Merge(a, before, after, theirs); err != nil {
		u.refuse(o.id, "cannot be merged: "+err.Error())
		return nil
	}
	u.done.Merged = append(u.done.Merged, a)
	return nil
}

func whyNotKept(p *Past) string {
	if p.Hash == nil {
		return notKeptAnyMore
	}
	return fmt.Sprintf("only its length of %d bytes and a hash were kept", p.Size)
}

// isAt reports whether an object has the content that it had in a generation. p is its state
// in that generation.
func (u *undo) isAt(n *Node, p *Past, generation int64) (bool, error) {
	if n.kind == KindTable || p.Kind == KindTable {
		return n.kind == p.Kind, nil
	}
	if p.Version > generation {
		return false, nil
	}
	if n.ver == p.Version {
		return true, nil
	}
	if n.kind != p.Kind || n.typ != p.Type || n.size != p.Size {
		return false, nil
	}
	now, err := u.tx.Value(n)
	if err != nil {
		return false, err
	}
	if p.Hash != nil {
		return bytes.Equal(HashColumn(now), p.Hash), nil
	}
	then, err := u.valueOf(n.id, p)
	return err == nil && Equal(now, then), err
}

// value returns the value that an object had in a generation. If it was not kept, the error
// is ErrNotKept.
func (u *undo) value(id int64, p *Past, generation int64) (Value, error) {
	if p.Version > generation { // a later value, because the one of generation was not kept
		return nil, ErrNotKept
	}
	return u.valueOf(id, p)
}

func (u *undo) valueOf(id int64, p *Past) (Value, error) {
	if p.Value != nil {
		return p.Value, nil
	}
	return u.tx.session.ValueAt(u.tx.ctx, id, p.Since)
}

// vacate removes the objects that are to be deleted or moved from their present places.
func (u *undo) vacate() error {
	for _, o := range u.objects {
		if o.now == nil || !o.goes && !o.moves {
			continue
		}
		t, err := u.tx.parentOf(o.now)
		if err == nil {
			err = u.tx.leave(t, gone(t.id, o.now.fold))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// place puts the objects at the places of before, a table before the objects in it.
func (u *undo) place() error {
	u.leads = map[int64]bool{RootID: true}
	for _, o := range u.objects {
		if err := u.putBack(o); err != nil {
			return err
		}
	}
	return nil
}

// putBack puts one object at the place of before. The tables above that place come first.
func (u *undo) putBack(o *undoing) error {
	if !o.moves || o.placed {
		return nil
	}
	o.placed = true
	tx := u.tx
	t, err := u.tableFor(o)
	if t == nil || err != nil {
		return err
	}
	there, err := tx.at(t.id, []byte(o.before.Fold), t)
	if err != nil {
		return err
	}
	tx.readsPlace(there)
	if there.exists() && there.id != o.id { // else the table above it was deleted by this transaction
		u.refuse(there.id, "is now at the place of "+o.before.Name+", which would be restored")
		return nil
	}
	if o.now == nil {
		return u.revive(o, t)
	}
	now := *o.now
	now.ver = tx.db.nextUncommitted()
	now.parent, now.up, now.name, now.fold = t.id, t, o.before.Name, o.before.Fold
	o.now = &now
	u.done.Changed++
	return tx.leave(t, &now)
}

// tableFor returns the table of before, after it has put back the tables above it. It
// returns nil if the table is gone, or would lie below the object.
func (u *undo) tableFor(o *undoing) (*Node, error) {
	var way []int64
	for id := o.before.Parent; !u.leads[id]; {
		if above := u.byID[id]; above != nil && above.moves && !above.placed {
			if err := u.putBack(above); err != nil {
				return nil, err
			}
		}
		if id == o.id || slices.Contains(way, id) {
			u.refuse(o.id, "would lie below itself")
			return nil, nil
		}
		way = append(way, id)
		t, err := u.tx.nodeByID(id)
		if err != nil {
			return nil, err
		}
		if t == nil || t.kind != KindTable {
			u.refuse(o.id, "has no table to be restored to")
			return nil, nil
		}
		id = t.parent
	}
	for _, id := range way {
		u.leads[id] = true
	}
	return u.tx.nodeByID(o.before.Parent)
}

// revive restores an object that was deleted.
func (u *undo) revive(o *undoing, t *Node) error {
	tx, b := u.tx, o.before
	n := b.node(t)
	n.parent, n.ver = t.id, tx.db.nextUncommitted()
	n.modified, n.kept = tx.db.options.Now().UnixNano(), 0
	if n.kind != KindTable {
		v, err := u.value(o.id, b, u.change-1)
		if err == ErrNotKept {
			u.refuse(o.id, "cannot get its old value back: "+whyNotKept(b))
			return nil
		}
		if err != nil {
			return err
		}
		n.value = v
	}
	switch _, err := tx.session.Object(tx.ctx, o.id); err {
	case ErrNotFound:
		n.revived, n.dirty = true, true
		if n.kind == KindTable && !tx.uncached {
			tx.uncached = true
			tx.undoable(func() { tx.uncached = false })
		}
	case nil: // only this transaction has deleted it
		n.dirty = n.kind != KindTable
	default:
		return err
	}
	u.done.Restored++
	return tx.leave(t, n)
}

// remove deletes the objects that the change has inserted. It refuses a table that has other
// objects in it.
func (u *undo) remove() error {
	for _, o := range u.objects {
		if !o.goes {
			continue
		}
		if o.now.kind == KindTable {
			children, err := u.tx.listed(o.now)
			if err != nil {
				return err
			}
			for _, c := range children {
				if in := u.byID[c.id]; in == nil || !in.goes {
					u.refuse(c.id, "lies in "+u.tx.addressOf(o.id, u.change).String()+", which would be deleted")
				}
			}
		}
	}
	for _, o := range u.objects {
		if o.goes {
			u.tx.drop(o.now)
			u.done.Removed++
		}
	}
	return nil
}

// write writes the values of before.
func (u *undo) write() error {
	for _, o := range u.objects {
		if o.write == nil {
			continue
		}
		n, err := u.tx.nodeByID(o.id)
		if err != nil {
			return err
		}
		t, err := u.tx.parentOf(n)
		if err == nil {
			err = u.tx.Set(t, n.name, o.write)
		}
		if err != nil {
			return err
		}
		if !o.moves {
			u.done.Changed++
		}
	}
	return nil
}
