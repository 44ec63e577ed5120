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

// record has what one command replaces, for "scripter undo": the old objects in an
// archive beside the root, and in its manifest the state of every object before and
// after the command. The file gets its name before the command is committed, so that
// every change has a record. If the command was never committed, the states in its record
// differ from those of the root.
//
// A nil record notes nothing.
type record struct {
	objectfiles.Undo
	stack stack
	file  *os.File // nil until something is replaced
	w     *objectfiles.ArchiveWriter
	time  time.Time
	noted map[string]bool // the addresses of objects, folded
	tops  []objectdb.Address
	bytes int64
	name  string // the name of the finished file
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

	maxRecords  = 50        // of each stack
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
	return &record{stack: s, Undo: objectfiles.Undo{Command: command}, noted: map[string]bool{}}
}

func foldedKey(a objectdb.Address) string {
	names := make([]string, len(a))
	for i, name := range a {
		names[i] = objectdb.Fold(name)
	}
	return strings.Join(names, "\x00")
}

// tree notes the object at a with all below it, and the tables above it that are
// missing, before they are changed.
func (r *record) tree(tx *objectdb.Tx, a objectdb.Address) error {
	if r == nil || len(a) == 0 {
		return nil
	}
	r.tops = append(r.tops, a)
	return r.object(tx, a, true)
}

// object notes the object at a, with all below it if below is true, and the tables above
// it that are missing.
func (r *record) object(tx *objectdb.Tx, a objectdb.Address, below bool) error {
	if err := r.missing(tx, a); r == nil || err != nil {
		return err
	}
	n, err := tx.Find(a)
	if errors.Is(err, objectdb.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return tx.Walk(tx.Address(n), func(a objectdb.Address, n *objectdb.Node) error {
		v, err := valueOf(tx, n)
		if err != nil {
			return err
		}
		if err := r.add(a, v, true); err != nil || below {
			return err
		}
		return fs.SkipDir
	})
}

// missing notes the objects up to a that do not exist.
func (r *record) missing(tx *objectdb.Tx, a objectdb.Address) error {
	if r == nil {
		return nil
	}
	for i := range a {
		_, err := tx.Find(a[:i+1])
		if errors.Is(err, objectdb.ErrNotFound) {
			err = r.add(a[:i+1], nil, false)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// change notes the object that one change of an import is about to replace.
func (r *record) change(c objectfiles.Change) error {
	if r == nil || c.State == objectfiles.Same {
		return nil
	}
	return r.add(c.Address, c.Old, c.State != objectfiles.Added)
}

// add notes one object before it is changed: its value, which is nil for a table, or that
// it does not exist.
func (r *record) add(a objectdb.Address, v objectdb.Value, exists bool) error {
	key := foldedKey(a)
	if r.noted[key] {
		return nil
	}
	if err := r.begin(); err != nil {
		return r.failed(err)
	}
	r.noted[key] = true
	o := objectfiles.UndoObject{Address: a.String()}
	if exists {
		o.Table = v == nil
		o.Before = contentState(a.Name(), v)
		if err := r.w.Put(a, v); err != nil {
			return r.failed(err)
		}
		if r.bytes += int64(len(valueText(v))); r.bytes > recordBytes {
			return r.failed(fmt.Errorf("it has more than %d MB", recordBytes>>20))
		}
	}
	r.Objects = append(r.Objects, o)
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
	for i := range r.Objects {
		var err error
		if r.Objects[i].After, err = stateOf(tx, &r.Undo, r.Objects[i].Address); err != nil {
			return err
		}
	}
	if !slices.ContainsFunc(r.Objects, func(o objectfiles.UndoObject) bool { return o.Before != o.After }) {
		r.file.Close()
		err := os.Remove(r.file.Name())
		r.file = nil
		return err
	}
	m := objectfiles.Manifest{
		Program: program(), Time: r.time.Truncate(time.Second),
		Undo:  &r.Undo,
		Notes: fmt.Sprintf("What %q replaced. \"scripter %s\" brings it back.", "scripter "+r.Command, r.stack.what),
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

// addNew notes the objects in the noted trees that did not exist before.
func (r *record) addNew(tx *objectdb.Tx) error {
	for _, top := range r.tops {
		err := tx.Walk(top, func(a objectdb.Address, _ *objectdb.Node) error {
			return r.add(a, nil, false)
		})
		if err != nil && !errors.Is(err, objectdb.ErrNotFound) {
			return err
		}
	}
	return nil
}

// stateOf returns the state of the object at an address, or "" if there is none. The state
// of a moved object is its place alone: moving it back loses no change that others have
// made in it.
func stateOf(tx *objectdb.Tx, u *objectfiles.Undo, address string) (string, error) {
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
	if slices.Contains(u.Moved, address) {
		return placeState(n), nil
	}
	v, err := valueOf(tx, n)
	return contentState(n.Name(), v), err
}

// compare compares a record with the root. It returns the objects that were changed since
// the command; gone reports that the command was never committed or is taken back already.
func compare(tx *objectdb.Tx, u *objectfiles.Undo) (changed []string, gone bool, err error) {
	gone = true
	for _, o := range u.Objects {
		state, err := stateOf(tx, u, o.Address)
		if err != nil {
			return nil, false, err
		}
		if state != o.After {
			changed = append(changed, o.Address)
		}
		gone = gone && state == o.Before
	}
	return changed, gone && len(changed) > 0, nil
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
	r.Moved = []string{from.String(), to.String()}
	if there, err := tx.Find(to); err == nil && there.ID() == n.ID() {
		r.Objects = append(r.Objects, objectfiles.UndoObject{Address: to.String(), Before: placeState(n)})
		return nil
	}
	r.Objects = append(r.Objects,
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
	var changed []string
	err := db.View(context.WithoutCancel(ctx), func(tx *objectdb.Tx) (err error) {
		changed, _, err = compare(tx, &r.Undo)
		return err
	})
	if err == nil && len(changed) > 0 {
		os.Remove(r.name)
	}
}

// finished reports whether the record can be taken back: its command has replaced something.
func (r *record) finished() bool { return r != nil && r.name != "" }

// recorded runs a command that notes in r what it replaces, and removes the records of
// redo and the oldest records of undo.
func (t *tool) recorded(ctx context.Context, db *objectdb.DB, r *record, fn func(tx *objectdb.Tx) error) error {
	if err := commit(ctx, db, r, fn); err != nil || !r.finished() {
		return err
	}
	if err := errors.Join(t.stack(redoStack).prune(0, 0), r.stack.prune(maxRecords, recordBytes)); err != nil {
		t.warn("it is done, but old records of %q could not be removed: %v", "scripter undo", err)
	}
	return nil
}

// commit commits what fn changes, with the record r of it.
func commit(ctx context.Context, db *objectdb.DB, r *record, fn func(tx *objectdb.Tx) error) error {
	err := db.UpdateLocked(ctx, func(tx *objectdb.Tx) error {
		if err := fn(tx); err != nil {
			return err
		}
		return r.finish(tx)
	})
	if err != nil {
		r.abandon(ctx, db)
	}
	return err
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
