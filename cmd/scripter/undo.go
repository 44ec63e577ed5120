package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"scripter/objectdb"
	"scripter/objectfiles"
)

// record keeps what one command replaces, for "scripter undo": the old objects in an
// archive beside the root, and in its manifest the state of every object before and
// after the command. The file gets its name before the command is committed, so that
// every change has a record. A record whose command was never committed has states that
// are not those of the root.
//
// A nil record keeps nothing.
type record struct {
	stack   stack
	command string
	moved   []string
	file    *os.File // nil until something is replaced
	w       *objectfiles.ArchiveWriter
	time    time.Time
	objects []objectfiles.UndoObject
	known   map[string]bool // the addresses of objects, folded
	tops    []objectdb.Address
	bytes   int64
	name    string // the name of the finished file
}

// stack is one of the two stacks of records beside a root: undo, and redo, onto which
// undo pushes a record of what it replaces.
type stack struct {
	root string // its path, links resolved
	what string
}

const (
	undoStack = "undo"
	redoStack = "redo"

	recordsKept = 50        // at most, of each stack
	recordBytes = 256 << 20 // at most, of one record and of a stack

	recordTime = "20060102T150405.000Z"
)

func (t *tool) stack(what string) stack {
	root := t.rootFile()
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	return stack{root, what}
}

func (s stack) newRecord(command string) *record {
	return &record{stack: s, command: command, known: map[string]bool{}}
}

func foldedKey(a objectdb.Address) string {
	names := make([]string, len(a))
	for i, name := range a {
		names[i] = objectdb.Fold(name)
	}
	return strings.Join(names, "\x00")
}

// keep notes the object at a with all below it, and the tables above it that are
// missing, before they are changed.
func (r *record) keep(tx *objectdb.Tx, a objectdb.Address) error {
	if r == nil || len(a) == 0 {
		return nil
	}
	if err := r.missing(tx, a[:len(a)-1]); err != nil {
		return err
	}
	r.tops = append(r.tops, a)
	n, err := tx.Find(a)
	if errors.Is(err, objectdb.ErrNotFound) {
		return r.add(a, objectdb.KindTable, nil, false)
	}
	if err != nil {
		return err
	}
	return tx.Walk(tx.Address(n), func(a objectdb.Address, n *objectdb.Node) error {
		v, err := valueOf(tx, n)
		if err != nil {
			return err
		}
		return r.add(a, n.Kind(), v, true)
	})
}

// one notes the object at a without what lies below it, and the tables above it that are missing.
func (r *record) one(tx *objectdb.Tx, a objectdb.Address) error {
	if r == nil {
		return nil
	}
	if err := r.missing(tx, a[:len(a)-1]); err != nil {
		return err
	}
	n, err := tx.Find(a)
	if errors.Is(err, objectdb.ErrNotFound) {
		return r.add(a, objectdb.KindTable, nil, false)
	}
	if err != nil {
		return err
	}
	v, err := valueOf(tx, n)
	if err != nil {
		return err
	}
	return r.add(tx.Address(n), n.Kind(), v, true)
}

// missing notes the tables up to a that are not there.
func (r *record) missing(tx *objectdb.Tx, a objectdb.Address) error {
	if r == nil {
		return nil
	}
	for i := range a {
		_, err := tx.Find(a[:i+1])
		if errors.Is(err, objectdb.ErrNotFound) {
			err = r.add(a[:i+1], objectdb.KindTable, nil, false)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// note keeps the object that one change of an import is about to replace.
func (r *record) note(c objectfiles.Change) error {
	if r == nil || c.State == objectfiles.Same {
		return nil
	}
	kind := c.Kind
	if c.Old != nil {
		kind = c.Old.Kind()
	}
	return r.add(c.Address, kind, c.Old, c.State != objectfiles.Added)
}

// add notes one object before it is changed: its value, which is nil for a table, or that
// it does not exist.
func (r *record) add(a objectdb.Address, k objectdb.Kind, v objectdb.Value, exists bool) error {
	key := foldedKey(a)
	if r.known[key] {
		return nil
	}
	if err := r.begin(); err != nil {
		return r.failed(err)
	}
	r.known[key] = true
	o := objectfiles.UndoObject{Address: a.String()}
	if exists {
		o.Table = k == objectdb.KindTable
		o.Before = contentState(a.Name(), v)
		if err := r.w.Put(a, v); err != nil {
			return r.failed(err)
		}
		if r.bytes += int64(len(valueText(v))); r.bytes > recordBytes {
			return r.failed(fmt.Errorf("it has more than %d MB", recordBytes>>20))
		}
	}
	r.objects = append(r.objects, o)
	return nil
}

func (r *record) failed(err error) error {
	return hintError{fmt.Errorf("keep what is replaced: %w", err),
		"--no-undo makes the change without keeping the old objects"}
}

// begin makes the file. It is as secret as the root: only its owner can read it, and
// where the system allows it, that is the owner of the root.
func (r *record) begin() error {
	if r.file != nil {
		return nil
	}
	r.time = time.Now().UTC()
	if err := r.stack.clearParts(); err != nil {
		return err
	}
	// Others may write in the folder. A name that they cannot predict is neither their
	// link nor a file that they hold open.
	var err error
	r.file, err = os.CreateTemp(filepath.Dir(r.stack.root), filepath.Base(r.stack.root)+r.stack.part()+"*")
	if err != nil {
		return err
	}
	r.w = objectfiles.NewArchiveWriter(r.file, objectfiles.Zip, r.time)
	if info, err := os.Stat(r.stack.root); err == nil {
		if owner, ok := info.Sys().(*syscall.Stat_t); ok {
			// The operator may be another user than the web server's.
			_ = r.file.Chown(int(owner.Uid), int(owner.Gid))
		}
	}
	return nil
}

// part returns the middle of the name of a record that is being written.
func (s stack) part() string { return "." + s.what + ".part-" }

// clearParts removes unfinished records of commands that were killed. The caller holds the
// writer's lock, so no other command writes one.
func (s stack) clearParts() error {
	entries, err := os.ReadDir(filepath.Dir(s.root))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), filepath.Base(s.root)+s.part()) {
			continue
		}
		if info, err := e.Info(); err != nil || !s.owns(info) {
			continue
		}
		if err := os.Remove(filepath.Join(filepath.Dir(s.root), e.Name())); err != nil &&
			!errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// finish notes the state after the command, and gives the record its name. The caller
// holds the writer's lock and commits afterwards.
func (r *record) finish(tx *objectdb.Tx) error {
	if r == nil || r.file == nil {
		return nil
	}
	if err := r.addNew(tx); err != nil {
		return err
	}
	now := statesIn(tx, r.moved)
	for i := range r.objects {
		var err error
		if r.objects[i].After, err = now(r.objects[i].Address); err != nil {
			return err
		}
	}
	if !slices.ContainsFunc(r.objects, func(o objectfiles.UndoObject) bool { return o.Before != o.After }) {
		r.file.Close()
		err := os.Remove(r.file.Name())
		r.file = nil
		return err
	}
	m := objectfiles.Manifest{
		Program: program(), Time: r.time.Truncate(time.Second),
		Undo:  &objectfiles.Undo{Command: r.command, Moved: r.moved, Objects: r.objects},
		Notes: fmt.Sprintf("What %q replaced. \"scripter %s\" brings it back.", "scripter "+r.command, r.stack.what),
	}
	if err := r.w.Close(m, readme(m, r.w.Count(), nil)); err != nil {
		return r.failed(err)
	}
	if err := errors.Join(r.file.Sync(), r.file.Close()); err != nil {
		return r.failed(err)
	}
	// The writer's lock is held, so nobody else chooses a name now. Names sort in the
	// order in which the records were made, also after the clock was set back.
	list, err := r.stack.files()
	if err != nil {
		return r.failed(err)
	}
	if len(list) > 0 {
		last, err := time.Parse(recordTime, r.stack.stamp(list[len(list)-1]))
		if err == nil && !r.time.Truncate(time.Millisecond).After(last) {
			r.time = last.Add(time.Millisecond)
		}
	}
	name := r.stack.prefix() + r.time.Format(recordTime) + ".zip"
	if err := os.Rename(r.file.Name(), name); err != nil {
		return r.failed(err)
	}
	r.name = name
	if err := syncFolder(filepath.Dir(name)); err != nil {
		return r.failed(err)
	}
	return nil
}

// addNew notes the objects below the kept addresses that did not exist before.
func (r *record) addNew(tx *objectdb.Tx) error {
	for _, top := range r.tops {
		err := tx.Walk(top, func(a objectdb.Address, n *objectdb.Node) error {
			return r.add(a, n.Kind(), nil, false)
		})
		if err != nil && !errors.Is(err, objectdb.ErrNotFound) {
			return err
		}
	}
	return nil
}

// states returns the state of the object at an address, or "" if there is none.
type states func(address string) (string, error)

// statesIn returns the states in tx. For a moved object only its place counts: to move it
// back loses no change that others have made in it.
func statesIn(tx *objectdb.Tx, moved []string) states {
	return func(address string) (string, error) {
		a, err := objectdb.ParseAddress(address)
		if err != nil {
			return "", err
		}
		n, err := tx.Find(a)
		if errors.Is(err, objectdb.ErrNotFound) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		if slices.Contains(moved, address) {
			return placeState(n), nil
		}
		v, err := valueOf(tx, n)
		return contentState(n.Name(), v), err
	}
}

// move notes that the object at from is about to be moved.
func (r *record) move(tx *objectdb.Tx, from, to objectdb.Address) error {
	if r == nil || len(from) == 0 || len(to) == 0 {
		return nil
	}
	n, err := tx.Find(from)
	if err != nil {
		return err
	}
	if err := r.missing(tx, to[:len(to)-1]); err != nil {
		return err
	}
	if err := r.begin(); err != nil {
		return r.failed(err)
	}
	from = tx.Address(n)
	r.moved = []string{from.String(), to.String()}
	if there, err := tx.Find(to); err == nil && there.ID() == n.ID() {
		r.objects = append(r.objects, objectfiles.UndoObject{Address: to.String(), Before: placeState(n)})
		return nil
	}
	r.objects = append(r.objects,
		objectfiles.UndoObject{Address: from.String(), Before: placeState(n)},
		objectfiles.UndoObject{Address: to.String()})
	return nil
}

// contentState returns the state for the name and the value of an object; v is nil for a
// table.
func contentState(name string, v objectdb.Value) string {
	if v == nil {
		return digest("table", name)
	}
	mime := ""
	if b, ok := v.(objectdb.Binary); ok {
		mime = b.Type
	}
	return digest(v.Kind().String(), name, mime, exactText(v))
}

// exactText returns the text of a value, which differs for values that valueText prints
// alike in a list.
func exactText(v objectdb.Value) string {
	var parts []string
	switch v := v.(type) {
	case objectdb.List:
		for _, e := range v {
			parts = append(parts, e.Kind().String(), exactText(e))
		}
	case objectdb.Record:
		for _, f := range v {
			parts = append(parts, f.Name, f.Value.Kind().String(), exactText(f.Value))
		}
	default:
		return valueText(v)
	}
	return digest(parts...)
}

// placeState returns the state for the name of an object, whatever its content is.
func placeState(n *objectdb.Node) string { return digest("object", n.Name()) }

func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// valueOf returns the value of an object, or nil for a table.
func valueOf(tx *objectdb.Tx, n *objectdb.Node) (objectdb.Value, error) {
	if n.Kind() == objectdb.KindTable {
		return nil, nil
	}
	return tx.Value(n)
}

// abandon removes the record of a command that failed. If the record already had its name,
// it stays when the command was committed all the same.
func (r *record) abandon(ctx context.Context, db *objectdb.DB) {
	if r == nil || r.file == nil {
		return
	}
	r.file.Close()
	if r.name == "" {
		os.Remove(r.file.Name())
		return
	}
	made := true
	err := db.View(context.WithoutCancel(ctx), func(tx *objectdb.Tx) error {
		differs, err := differing(r.objects, statesIn(tx, r.moved), stateAfter)
		made = err != nil || len(differs) == 0
		return err
	})
	if err == nil && !made {
		os.Remove(r.name)
	}
}

// change runs a command that "scripter undo" can take back, in one transaction. kept
// reports whether it has made a record.
func (t *tool) change(
	ctx context.Context, command string, noUndo bool, fn func(tx *objectdb.Tx, r *record) error,
) (kept bool, err error) {
	db, err := t.open(forWork)
	if err != nil {
		return false, err
	}
	defer db.Close()
	var r *record
	if !noUndo {
		r = t.stack(undoStack).newRecord(command)
	}
	if err := t.recorded(ctx, db, r, fn); err != nil {
		return false, err
	}
	return r != nil && r.name != "", nil
}

// recorded runs a command that keeps what it replaces in r.
func (t *tool) recorded(
	ctx context.Context, db *objectdb.DB, r *record, fn func(tx *objectdb.Tx, r *record) error,
) error {
	err := db.UpdateLocked(ctx, func(tx *objectdb.Tx) error {
		if err := fn(tx, r); err != nil {
			return err
		}
		return r.finish(tx)
	})
	if err != nil {
		r.abandon(ctx, db)
		return err
	}
	t.settle(r)
	return nil
}

// settle is called after a command with a record is committed. It removes the records of
// redo, and the oldest records of undo.
func (t *tool) settle(r *record) {
	if r == nil || r.name == "" {
		return
	}
	if err := errors.Join(t.stack(redoStack).prune(0, 0), r.stack.prune(recordsKept, recordBytes)); err != nil {
		t.warn("it is done, but old records of %q could not be removed: %v", "scripter undo", err)
	}
}

func (s stack) prefix() string { return s.root + "." + s.what + "-" }

func (s stack) stamp(file string) string {
	return strings.TrimSuffix(strings.TrimPrefix(file, s.prefix()), ".zip")
}

var recordName = regexp.MustCompile(`^\d{8}T\d{6}\.\d{3}Z\.zip$`)

// files returns the records, the oldest first. It leaves out files of other users: they
// could make undo store any object.
func (s stack) files() ([]string, error) {
	dir, base := filepath.Split(s.prefix())
	entries, err := os.ReadDir(filepath.Clean(filepath.Join(dir, ".")))
	if err != nil {
		return nil, err
	}
	var list []string
	for _, e := range entries {
		stamp, ok := strings.CutPrefix(e.Name(), base)
		if !ok || !recordName.MatchString(stamp) {
			continue
		}
		if info, err := e.Info(); err == nil && s.owns(info) {
			list = append(list, s.prefix()+stamp)
		}
	}
	slices.Sort(list)
	return list, nil
}

// owns reports whether only this user, the owner of the root and the administrator can
// have written a file.
func (s stack) owns(file fs.FileInfo) bool {
	of, ok := file.Sys().(*syscall.Stat_t)
	if !file.Mode().IsRegular() || !ok || file.Mode().Perm()&0o022 != 0 {
		return false
	}
	if of.Uid == 0 || int(of.Uid) == os.Geteuid() {
		return true
	}
	root, err := os.Stat(s.root)
	if err != nil {
		return false
	}
	owner, ok := root.Sys().(*syscall.Stat_t)
	return ok && of.Uid == owner.Uid
}

// prune removes the oldest records beyond a number and a total size. The newest stays,
// whatever its size.
func (s stack) prune(most int, bytes int64) error {
	list, err := s.files()
	if err != nil {
		return err
	}
	slices.Reverse(list)
	var errs []error
	for i, name := range list {
		if info, err := os.Lstat(name); err == nil {
			bytes -= info.Size()
		}
		if i >= most || i > 0 && bytes < 0 {
			if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
