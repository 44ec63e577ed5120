package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"scripter/objectdb"
	"scripter/objectfiles"
)

func (t *tool) undoCommand() *cobra.Command {
	var list, force bool
	c := &cobra.Command{
		Use:   "undo",
		Short: "take back the last put, rm, mv, cp or import",
		Long: `Undo takes back the last put, rm, mv, cp or import that changed the root; run again,
it takes back the one before. If somebody else has changed an object since, undo
names it and changes nothing. "scripter redo" makes the change again.
--list lists what can be taken back, the newest first.`,
		Args: args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			if list {
				return t.listRecords(c.Context())
			}
			return t.takeBack(c.Context(), undoStack, redoStack, force)
		},
	}
	c.Flags().BoolVar(&list, "list", false, "list what can be taken back, and change nothing")
	c.Flags().BoolVar(&force, "force", false, "take it back although an object was changed since")
	return c
}

func (t *tool) redoCommand() *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use:   "redo",
		Short: "make again what undo has taken back",
		Long: `Redo makes the change again that the last "scripter undo" took back. After a new put,
rm, mv, cp or import there is nothing to make again.`,
		Args: args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			return t.takeBack(c.Context(), redoStack, undoStack, force)
		},
	}
	c.Flags().BoolVar(&force, "force", false, "make it again although an object was changed since")
	return c
}

// sources are open records, which are closed after the transaction that imports them.
type sources []*source

// open opens a record.
func (list *sources) open(name string) (*source, error) {
	file, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, err
	}
	// Its size was bounded when it was made.
	archive, err := objectfiles.OpenArchive(file, info.Size(),
		objectfiles.ImportLimits{Bytes: math.MaxInt64, Files: math.MaxInt32})
	if err != nil {
		file.Close()
		return nil, hintError{fmt.Errorf("%s: %w", name, err), "remove this file to go on with the command before"}
	}
	s := &source{name: name, archive: archive, file: file}
	*list = append(*list, s)
	if archive.Manifest.Undo == nil {
		return nil, hintError{fmt.Errorf("%s was made by an older program", name),
			"scripter import " + name + " goes back"}
	}
	return s, nil
}

func (list *sources) close() {
	for _, s := range *list {
		s.close()
	}
}

// takeBack takes back the newest record of the stack from, and records what that replaces
// in the stack to.
func (t *tool) takeBack(ctx context.Context, from, to string, force bool) error {
	db, err := t.open(forWork)
	if err != nil {
		return err
	}
	defer db.Close()
	var taken *takenBack
	var done []string // files of records that are no longer needed
	var skipped []string
	var opened sources
	defer opened.close()
	r := t.stack(to).newRecord("")
	err = commit(ctx, db, r, func(tx *objectdb.Tx) error {
		list, err := t.stack(from).files()
		if err != nil {
			return err
		}
		for _, name := range slices.Backward(list) {
			s, err := opened.open(name)
			if err != nil {
				return err
			}
			u := s.archive.Manifest.Undo
			changed, gone, err := compare(tx, u)
			switch {
			case err != nil:
				return err
			case gone:
				done, skipped = append(done, name), append(skipped, u.Command)
				continue
			case len(changed) > 0 && !force:
				return hintError{fmt.Errorf("%q is not taken back: %s since", "scripter "+u.Command, changedText(changed)),
					fmt.Sprintf("--force does it all the same, and keeps the present values for %q", "scripter "+to)}
			}
			done = append(done, name)
			taken = &takenBack{Undo: u, again: from == redoStack}
			r.Command = u.Command
			return taken.apply(tx, s.archive, r)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range done {
		err = errors.Join(err, os.Remove(name))
	}
	if err = errors.Join(err, t.stack(to).prune(maxRecords, recordBytes)); err != nil {
		t.warn("it is done, but an old record could not be removed: %v", err)
	}
	for _, command := range skipped {
		t.warn("%q was not finished, or is taken back already", "scripter "+command)
	}
	switch {
	case taken != nil:
		return t.printTakenBack(taken)
	case from == undoStack:
		return errors.New("there is nothing to take back: no put, rm, mv, cp or import of this root has a record")
	}
	return errors.New("there is nothing to make again: nothing was taken back since the last change")
}

func changedText(list []string) string {
	const most = 10
	text := strings.Join(list[:min(most, len(list))], ", ")
	if len(list) > most {
		text += fmt.Sprintf(" and %d more", len(list)-most)
	}
	if len(list) == 1 {
		return text + " was changed"
	}
	return text + " were changed"
}

// takenBack is a record that undo or redo takes back.
type takenBack struct {
	*objectfiles.Undo
	again bool     // redo makes the change again
	stays []string // tables that stay because they hold other objects by now
}

// apply restores the objects that the record's command has replaced, and removes those
// that it has added. r notes the present objects.
func (b *takenBack) apply(tx *objectdb.Tx, archive *objectfiles.Archive, r *record) error {
	objects, err := b.parse()
	if err != nil {
		return err
	}
	if len(b.Moved) == 2 {
		from, fromErr := objectdb.ParseAddress(b.Moved[0])
		to, err := objectdb.ParseAddress(b.Moved[1])
		if err := errors.Join(fromErr, err); err != nil {
			return err
		}
		if err := r.move(tx, to, from); err != nil {
			return err
		}
		if err := tx.Move(to, from); err != nil {
			return err
		}
	}
	for _, o := range objects {
		if err := r.object(tx, o.address, false); err != nil {
			return err
		}
	}
	for _, o := range objects {
		if err := b.clear(tx, o, r); err != nil {
			return err
		}
	}
	_, err = archive.Import(tx, nil, nil)
	return err
}

type undoObject struct {
	objectfiles.UndoObject
	address objectdb.Address
}

// parse returns the objects except the moved one, the deepest first.
func (b *takenBack) parse() ([]undoObject, error) {
	var list []undoObject
	for _, o := range b.Objects {
		if slices.Contains(b.Moved, o.Address) {
			continue
		}
		a, err := objectdb.ParseAddress(o.Address)
		if err != nil || len(a) == 0 {
			return nil, fmt.Errorf("the record names %q, which is not the address of an object", o.Address)
		}
		list = append(list, undoObject{o, a})
	}
	slices.SortStableFunc(list, func(a, b undoObject) int { return cmp.Compare(len(b.address), len(a.address)) })
	return list, nil
}

// clear removes an object that did not exist before the command, or that was a table and is
// not, or the other way round. It removes a table only if it is empty.
func (b *takenBack) clear(tx *objectdb.Tx, o undoObject, r *record) error {
	n, err := tx.Find(o.address)
	if errors.Is(err, objectdb.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	table := n.Kind() == objectdb.KindTable
	if o.Before == o.After || o.Before != "" && table == o.Table {
		return nil
	}
	if table {
		size, err := tx.Len(n)
		if err != nil {
			return err
		}
		if size > 0 && o.Before == "" {
			b.stays = append(b.stays, o.Address)
			return nil
		}
		if err := r.tree(tx, o.address); err != nil {
			return err
		}
	}
	return tx.Delete(o.address)
}

// counts returns how many objects a record changes, adds and removes when it is taken back.
func (b *takenBack) counts() (changed, added, removed int) {
	for _, o := range b.Objects {
		switch {
		case slices.Contains(b.Moved, o.Address) || o.Before == o.After:
		case o.Before == "":
			removed++
		case o.After == "":
			added++
		default:
			changed++
		}
	}
	return changed, added, removed - len(b.stays)
}

// text returns what taking the record back does: "1 object changed, 2 objects added".
func (b *takenBack) text() string {
	var parts []string
	if len(b.Moved) == 2 {
		parts = append(parts, fmt.Sprintf("%s moved to %s", b.Moved[1], b.Moved[0]))
	}
	changed, added, removed := b.counts()
	for _, p := range []struct {
		n    int
		what string
	}{{changed, "changed"}, {added, "added"}, {removed, "removed"}} {
		if p.n > 0 {
			parts = append(parts, counted(p.n, "object")+" "+p.what)
		}
	}
	if len(parts) == 0 {
		return "nothing changed"
	}
	return strings.Join(parts, ", ")
}

func (t *tool) printTakenBack(b *takenBack) error {
	if t.json {
		changed, added, removed := b.counts()
		return t.printJSON(map[string]any{
			"command": b.Command, "changed": changed,
			"added": added, "removed": removed, "stays": append([]string{}, b.stays...),
		})
	}
	for _, a := range b.stays {
		fmt.Fprintf(t.out, "%s stays: it holds other objects\n", a)
	}
	command := "scripter " + b.Command
	if b.again {
		fmt.Fprintf(t.out, "made %q again: %s; %s takes it back\n", command, b.text(), t.self(undoStack))
	} else {
		fmt.Fprintf(t.out, "took back %q: %s; %s makes it again\n", command, b.text(), t.self(redoStack))
	}
	return nil
}

// self returns the command line of another command on the same root.
func (t *tool) self(command string) string {
	if t.root == "" {
		return "scripter " + command
	}
	return "scripter --root " + shellWord(t.root) + " " + command
}

// listRecords lists what undo can take back. To find out, it takes back one record after
// another in a transaction that is not committed.
func (t *tool) listRecords(ctx context.Context) error {
	list, err := t.stack(undoStack).files()
	if err != nil {
		return err
	}
	db, err := t.open(forWork)
	if err != nil {
		return err
	}
	defer db.Close()
	var records []listedRecord
	var opened sources
	defer opened.close()
	err = db.Update(ctx, func(tx *objectdb.Tx) error {
		records = nil
		for _, name := range slices.Backward(list) {
			r, err := tryRecord(tx, name, &opened)
			if err != nil {
				return err
			}
			if r != nil {
				records = append(records, *r)
			}
		}
		return errDryRun
	})
	if !errors.Is(err, errDryRun) {
		return err
	}
	if t.json {
		return t.printJSON(append([]listedRecord{}, records...))
	}
	if len(records) == 0 {
		fmt.Fprintln(t.out, "there is nothing to take back")
		return nil
	}
	var rows [][]string
	for _, r := range records {
		rows = append(rows, []string{r.Time.Format("2006-01-02 15:04:05"), "scripter " + r.Command, r.does})
	}
	return t.columns(rows)
}

// listedRecord is a record in the output of --list.
type listedRecord struct {
	File    string    `json:"file"`
	Command string    `json:"command,omitempty"`
	Time    time.Time `json:"time"`
	Changed []string  `json:"changedSince"`
	Error   string    `json:"error,omitempty"`
	does    string
}

// tryRecord takes a record back in tx. It returns nil for a record whose command was never
// committed or is taken back already.
func tryRecord(tx *objectdb.Tx, name string, opened *sources) (*listedRecord, error) {
	r := &listedRecord{File: name, Changed: []string{}}
	s, err := opened.open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		r.Error, r.does = err.Error(), err.Error()
		return r, nil
	}
	u := s.archive.Manifest.Undo
	r.Command, r.Time = u.Command, s.archive.Manifest.Time.UTC()
	changed, gone, err := compare(tx, u)
	switch {
	case err != nil:
		return nil, err
	case gone:
		return nil, nil
	case len(changed) > 0:
		r.Changed, r.does = changed, "not without --force: "+changedText(changed)+" since"
		return r, nil
	}
	b := &takenBack{Undo: u}
	if err := b.apply(tx, s.archive, nil); err != nil {
		r.Error, r.does = err.Error(), err.Error()
		return r, nil
	}
	r.does = b.text()
	return r, nil
}
