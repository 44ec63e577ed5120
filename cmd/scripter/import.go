package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"scripter/objectdb"
	"scripter/objectdb/roots"
	"scripter/objectfiles"
	"scripter/valuetext"
)

// importFlags are the flags of an import.
type importFlags struct {
	dryRun              bool
	force, parents      bool
	mirror, allowDelete bool
	maxSize, maxObjects int
	timeout             time.Duration
}

func (t *tool) importCommand() *cobra.Command {
	var f importFlags
	c := &cobra.Command{
		Use:   "import FILE|DIR|URL [ADDRESS]",
		Short: "read objects from an archive or from files",
		Long: `Import reads an archive (zip or tar.gz) or the files below DIR, as "scripter
export" writes them, into the table at ADDRESS. Without ADDRESS an archive goes where
its objects came from, and a folder into the root. A URL (http, https or anonymous
ftp) names an archive on the net. Everything is imported, or nothing: a script that
does not compile stops the import, unless --force is given. "scripter undo" takes an
import back.

Objects below ADDRESS that are not among the files stay. --mirror lists and removes
them. It needs --allow-delete to remove more than half of the objects below ADDRESS,
or any object if ADDRESS is the whole root.`,
		Args:              args(1, 2),
		ValidArgsFunction: t.arguments(files, addressOf(objectdb.KindTable)),
		RunE: func(c *cobra.Command, args []string) error {
			a, err := address(strings.Join(args[1:], ""))
			if err != nil {
				return err
			}
			if f.allowDelete && !f.mirror {
				return usageError{errors.New("--allow-delete is for --mirror, which removes objects")}
			}
			if f.maxSize < 0 || f.maxObjects < 0 || f.timeout <= 0 {
				return usageError{errors.New("--max-size and --max-objects are no less than 0, --timeout is more")}
			}
			if exists, err := roots.Exists(t.rootName()); err != nil || !exists {
				db, err := t.open(forWork) // says what to do
				if err == nil {
					err = db.Close()
				}
				return err
			}
			s, err := t.openSource(c.Context(), args[0], f)
			if err != nil {
				return err
			}
			defer s.close()
			if len(args) == 1 && s.archive != nil {
				if a, err = objectdb.ParseAddress(s.archive.Manifest.Address); err != nil {
					return err
				}
			}
			f.parents = f.parents || len(args) == 1 // an archive names its own tables
			return t.importFrom(c.Context(), s, a, f)
		},
	}
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "tell what would change, and change nothing")
	c.Flags().BoolVar(&f.force, "force", false, "import scripts that do not compile, too")
	c.Flags().BoolVar(&f.mirror, "mirror", false, "remove the objects below ADDRESS that are not among the files")
	c.Flags().BoolVar(&f.allowDelete, "allow-delete", false,
		"let --mirror remove more than half of the objects, or any in an import into the whole root")
	parentsFlag(c, &f.parents)
	c.Flags().IntVar(&f.maxSize, "max-size", 0,
		"largest total size of the files, unpacked, in MB (32, or 25 times the size on the disk)")
	c.Flags().IntVar(&f.maxObjects, "max-objects", 0,
		"largest number of files and folders (75000, or one for each 64 bytes on the disk)")
	c.Flags().DurationVar(&f.timeout, "timeout", 5*time.Minute, "longest time of a download")
	t.flag(c, "max-size", nothing)
	t.flag(c, "max-objects", nothing)
	t.flag(c, "timeout", nothing)
	return c
}

// importing has what an import has done, or would do in a dry run.
type importing struct {
	result  objectfiles.ImportResult
	changes []objectfiles.Change // without the old values; only of a dry run
	scripts newScripts
	broken  []error // the errors of scripts that do not compile
	removed []doneObject
	refused error // why --mirror is refused
	number  int64 // of the change: see commit
}

var errDryRun = errors.New("nothing is to be changed")

func (t *tool) importFrom(ctx context.Context, s *source, a objectdb.Address, f importFlags) error {
	db, err := t.open(forWork)
	if err != nil {
		return err
	}
	defer db.Close()
	did := &importing{}
	bar := t.progress("import", s.count())
	defer bar.end()
	run := func(tx *objectdb.Tx) error {
		did = &importing{}
		if err := did.run(tx, s, a, f, bar); err != nil {
			return err
		}
		bar.end()
		if f.dryRun {
			return errDryRun
		}
		// The list is printed before the commit.
		t.printRemoved(did)
		return did.stops(f)
	}
	if f.dryRun { // it does not take the writer's lock
		err = db.Update(ctx, run)
	} else {
		var number int64
		number, err = t.commit(ctx, db, run)
		did.number = number
	}
	bar.end()
	if f.dryRun && errors.Is(err, errDryRun) {
		if err := t.printDryRun(s, a, did); err != nil {
			return err
		}
		return did.stops(f)
	}
	if err != nil {
		return s.explain(err)
	}
	for _, why := range did.broken {
		t.warn("it does not compile: %s", syntaxDetail(why).Error())
	}
	return t.printImport(s, a, did)
}

// stops returns the error that stops the import, or nil.
func (did *importing) stops(f importFlags) error {
	if len(did.broken) > 0 && !f.force {
		return brokenError(did.broken)
	}
	return did.refused
}

func (did *importing) run(tx *objectdb.Tx, s *source, a objectdb.Address, f importFlags, bar *progress) (err error) {
	if _, err := missingTables(tx, a, f.parents); err != nil {
		return err
	}
	named := map[string]bool{} // addresses of the objects in the files, folded
	did.result, err = s.importInto(tx, a, func(c objectfiles.Change) error {
		bar.add(1)
		did.scripts.note(c)
		if f.mirror && c.State != objectfiles.Removed {
			named[foldedKey(c.Address)] = true
		}
		if f.dryRun {
			changed := c
			changed.Old = nil
			did.changes = append(did.changes, changed)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if f.mirror {
		if err := did.mirror(tx, a, named, f); err != nil {
			return err
		}
	}
	did.broken, err = did.scripts.broken(tx)
	return err
}

// mirror removes the objects below a that are not named.
func (did *importing) mirror(tx *objectdb.Tx, a objectdb.Address, named map[string]bool, f importFlags) error {
	err := tx.Walk(a, func(at objectdb.Address, n *objectdb.Node) error {
		if len(at) == len(a) || named[foldedKey(at)] {
			return nil
		}
		o := doneObject{change: "removed"}
		if err := o.describe(tx, at); err != nil {
			return err
		}
		did.removed = append(did.removed, o)
		return fs.SkipDir
	})
	if err != nil {
		return err
	}
	before := did.result.Changed + did.result.Same
	count := 0
	for i := range did.removed {
		o := &did.removed[i]
		count++
		if o.kind == objectdb.KindTable {
			if o.size, err = objectsBelow(tx, o.address); err != nil {
				return err
			}
			count += o.size
		}
		if err := tx.Delete(o.address); err != nil {
			return err
		}
	}
	did.result.Removed += count
	if f.allowDelete || count == 0 {
		return nil
	}
	const hint = "--allow-delete removes them, --dry-run shows all that would change"
	switch {
	case len(a) == 0:
		did.refused = hintError{fmt.Errorf("%s of the root that no file names would be removed, "+
			"and nothing is imported",
			counted(count, "object")), hint}
	case count*2 > before+count:
		did.refused = hintError{fmt.Errorf("%d of %s below %s would be removed, and nothing is imported",
			count, counted(before+count, "object"), a), hint}
	}
	return nil
}

// foldedKey returns a key of an address that is the same for all its spellings.
func foldedKey(a objectdb.Address) string {
	names := make([]string, len(a))
	for i, name := range a {
		names[i] = objectdb.Fold(name)
	}
	return strings.Join(names, "\x00")
}

// objectsBelow returns the number of all objects below a table.
func objectsBelow(tx *objectdb.Tx, a objectdb.Address) (int, error) {
	count := -1
	err := tx.Walk(a, func(objectdb.Address, *objectdb.Node) error {
		count++
		return nil
	})
	return count, err
}

// printRemoved lists the objects that a mirror removes, and the files that are skipped.
func (t *tool) printRemoved(did *importing) {
	if t.json {
		return
	}
	for _, o := range did.removed {
		with := ""
		if o.kind == objectdb.KindTable && o.size > 0 {
			with = ", with " + valuetext.Count(o.size, "object")
		}
		fmt.Fprintf(t.out, "%-8s %-8s %s%s\n", o.change, o.kind, o.address, with)
	}
	t.printSkipped(did)
}

func (t *tool) printSkipped(did *importing) {
	list := did.result.Skipped
	if len(list) == 0 {
		return
	}
	const most = 10
	text := strings.Join(list[:min(most, len(list))], ", ")
	if len(list) > most {
		text += fmt.Sprintf(" and %d more", len(list)-most)
	}
	fmt.Fprintf(t.out, "skipped %s: %s\n", counted(len(list), "file"), text)
}

func (t *tool) printImport(s *source, a objectdb.Address, did *importing) error {
	if t.json {
		fields := s.fields(a, did.result)
		removed := []string{}
		for _, o := range did.removed {
			removed = append(removed, o.address.String())
		}
		fields["removedObjects"] = removed
		return t.printJSON(withNumber(fields, did.number))
	}
	fmt.Fprintf(t.out, "imported %s%s: %s\n", s.name, into(a), counts(did.result))
	if did.number > 0 {
		fmt.Fprintf(t.out, "%s takes it back\n", t.self("undo"))
	}
	return nil
}

func (t *tool) printDryRun(s *source, a objectdb.Address, did *importing) error {
	if t.json {
		fields := s.fields(a, did.result)
		objects := []map[string]string{}
		for _, c := range did.changes {
			objects = append(objects, map[string]string{"address": c.Address.String(),
				"kind": c.Kind.String(), "change": c.State.String()})
		}
		for _, o := range did.removed {
			objects = append(objects, map[string]string{"address": o.address.String(),
				"kind": o.kind.String(), "change": o.change})
		}
		fields["dryRun"], fields["objects"] = true, objects
		return t.printJSON(fields)
	}
	if s.archive != nil {
		m := s.archive.Manifest
		fmt.Fprintf(t.out, "written by %s on %s\n", m.Program, m.Time.UTC().Format("2006-01-02 15:04:05"))
		if m.Notes != "" {
			fmt.Fprintf(t.out, "%s\n", strings.TrimRight(m.Notes, "\n"))
		}
	}
	for _, c := range did.changes {
		if c.State != objectfiles.Same {
			fmt.Fprintf(t.out, "%-8s %-8s %s\n", c.State, c.Kind, c.Address)
		}
	}
	t.printRemoved(did)
	fmt.Fprintf(t.out, "would import %s%s: %s\n", s.name, into(a), counts(did.result))
	return nil
}

func into(a objectdb.Address) string {
	if len(a) == 0 {
		return ""
	}
	return " into " + a.String()
}

func counts(r objectfiles.ImportResult) string {
	text := fmt.Sprintf("%d added, %d changed, %d the same", r.Added, r.Changed, r.Same)
	if r.Removed > 0 {
		text += fmt.Sprintf(", %d removed", r.Removed)
	}
	return text
}
