package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"scripter/objectdb"
)

// undo is the archive of what an import replaces. It lies beside the root, and
// to import it is to go back.
type undo struct {
	root    string
	file    *os.File // nil until something is replaced
	w       *objectdb.ArchiveWriter
	removed []string // what the import adds
	time    time.Time
	name    string // when it is written
}

// undosKept is how many of them are kept.
const undosKept = 10

const undoTime = "20060102T150405.000Z"

// note takes in one change, before it is made.
func (u *undo) note(c objectdb.Change) error {
	if c.State == objectdb.Same {
		return nil
	}
	if err := u.begin(); err != nil {
		return err
	}
	if c.State == objectdb.Added {
		u.removed = append(u.removed, c.Address.String())
		return nil
	}
	if err := u.w.Put(c.Address, c.Old); err != nil {
		return hintError{fmt.Errorf("keep what is replaced: %w", err), "--no-undo imports without keeping the old objects"}
	}
	return nil
}

func (u *undo) begin() error {
	if u.file != nil {
		return nil
	}
	u.time = time.Now().UTC()
	if err := u.clearParts(); err != nil {
		return err
	}
	// The folder may be one in which others write: a name that they cannot foresee is
	// neither a link of theirs nor a file that they hold open.
	var err error
	u.file, err = os.CreateTemp(filepath.Dir(u.root), filepath.Base(u.root)+undoPart+"*")
	if err == nil {
		u.w = objectdb.NewArchiveWriter(u.file, objectdb.Zip, u.time)
	}
	return err
}

// undoPart is in the name of an archive that is being written.
const undoPart = ".undo.part-"

// clearParts removes what was left by imports that were ended before their time. The
// writer's lock is held: none is at work.
func (u *undo) clearParts() error {
	entries, err := os.ReadDir(filepath.Dir(u.root))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), filepath.Base(u.root)+undoPart) {
			continue
		}
		if err := os.Remove(filepath.Join(filepath.Dir(u.root), e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// made notes the tables that the import makes above the table it imports into.
func (u *undo) made(tx *objectdb.Tx, a objectdb.Address) error {
	for i := range a {
		_, err := tx.Find(a[:i+1])
		if errors.Is(err, objectdb.ErrNotFound) {
			err = u.note(objectdb.Change{Address: a[:i+1], State: objectdb.Added})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// finish puts the archive into its place: before the import is committed, so
// that there is no moment without it.
func (u *undo) finish(source string) error {
	if u.file == nil {
		return nil
	}
	m := objectdb.Manifest{
		Program: program(), Time: u.time.Truncate(time.Second), Remove: u.removed,
		Notes: fmt.Sprintf("What %s replaced. Import this archive to go back.", printable(source)),
	}
	if err := u.w.Close(m, readme(m, u.w.Count(), nil)); err != nil {
		return err
	}
	if err := u.file.Sync(); err != nil {
		return err
	}
	if err := u.file.Close(); err != nil {
		return err
	}
	// The writer's lock is held: no other import chooses a name now.
	var name string
	for ; ; u.time = u.time.Add(time.Millisecond) {
		name = u.root + ".undo-" + u.time.Format(undoTime) + ".zip"
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if err := os.Rename(u.file.Name(), name); err != nil {
		return err
	}
	u.name = name
	return nil
}

// abandon removes the archive of an import that was not made.
func (u *undo) abandon() {
	if u.file == nil {
		return
	}
	u.file.Close()
	if u.name == "" {
		os.Remove(u.file.Name())
	} else {
		os.Remove(u.name)
	}
}

var undoName = regexp.MustCompile(`^\d{8}T\d{6}\.\d{3}Z\.zip$`)

// prune removes the oldest archives when there are many.
func (u *undo) prune() error {
	dir, base := filepath.Split(u.root)
	entries, err := os.ReadDir(filepath.Clean(filepath.Join(dir, ".")))
	if err != nil {
		return err
	}
	var names []string
	for _, e := range entries {
		if stamp, ok := strings.CutPrefix(e.Name(), base+".undo-"); ok && undoName.MatchString(stamp) {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	for len(names) > undosKept {
		if err := os.Remove(filepath.Join(dir, names[0])); err != nil {
			return err
		}
		names = names[1:]
	}
	return nil
}
