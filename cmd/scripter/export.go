package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"scripter/objectdb"
	"scripter/objectfiles"
)

// exportFlags are the flags of an export.
type exportFlags struct {
	notes                 string
	force, mirror, dryRun bool
	at                    atFlag
}

func (t *tool) exportCommand() *cobra.Command {
	var f exportFlags
	c := &cobra.Command{
		Use:   "export ADDRESS FILE.zip|FILE.tar.gz|DIR",
		Short: "write objects as an archive, or as files, one for each",
		Long: `Export writes the objects below ADDRESS ("" is the whole root): to an archive
when the name ends in .zip, .tar.gz or .tgz, else as files below DIR, where the
folder tree is the table tree. "scripter import" reads both back.

Export updates a DIR that an earlier export has written. It does not overwrite or
remove files that it did not write, or that were changed since. If one is in the way,
export lists it and writes nothing. --mirror lists, overwrites and removes them;
names that begin with a dot, and a README.md, always stay.`,
		Args:              args(2, 2),
		ValidArgsFunction: t.arguments(addressOf(), files),
		RunE: func(c *cobra.Command, args []string) error {
			a, err := address(args[0])
			if err != nil {
				return err
			}
			to := args[1]
			format := objectfiles.ArchiveFormatOf(to)
			if info, err := os.Stat(to); err == nil && info.IsDir() {
				format = 0
			}
			if format == 0 {
				if suffix := otherArchive(to); suffix != "" {
					return usageError{fmt.Errorf("%s: an archive is made as .zip or .tar.gz, not as %s", to, suffix)}
				}
				if f.notes != "" || f.force {
					return usageError{hintError{errors.New("--notes and --force are for archives"),
						"name a file that ends in .zip or .tar.gz"}}
				}
				return t.exportFolder(c.Context(), a, to, f)
			}
			if f.mirror || f.dryRun {
				return usageError{hintError{errors.New("--mirror and --dry-run are for folders"),
					"--force replaces an archive"}}
			}
			text, err := readData(f.notes, t.in)
			if err != nil {
				return err
			}
			count, err := t.exportArchive(c.Context(), a, to, format, string(text), f)
			if err != nil {
				return err
			}
			if t.json {
				return t.printJSON(map[string]any{"objects": count, "to": to})
			}
			fmt.Fprintf(t.out, "exported %s to %s\n", counted(count, "object"), to)
			return nil
		},
	}
	c.Flags().StringVar(&f.notes, "notes", "",
		`change notes for the README and the manifest; "@FILE" reads a file, "@-" stdin`)
	t.flag(c, "notes", fileAfterAt)
	c.Flags().BoolVar(&f.force, "force", false, "replace an existing archive")
	c.Flags().BoolVar(&f.mirror, "mirror", false, "overwrite and remove files in the folder that export did not write")
	f.at.add(t, c)
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "list what would change in the folder, and change nothing")
	return c
}

// otherArchive returns the suffix of an archive that this program cannot make, or "". The
// user does not want a folder of such a name.
func otherArchive(name string) string {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return ""
	}
	name = strings.ToLower(name)
	for _, suffix := range []string{
		".tar", ".gz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".tar.zst", ".7z", ".rar", ".sit", ".sit.bin", ".hqx",
	} {
		if strings.HasSuffix(name, suffix) {
			return suffix
		}
	}
	return ""
}

// exportArchive writes an archive: under another name first, so that it
// appears whole or not at all. Only its owner can read it, as it is as secret as the root.
func (t *tool) exportArchive(
	ctx context.Context, a objectdb.Address, name string, format objectfiles.ArchiveFormat, notes string, f exportFlags,
) (int, error) {
	if _, err := os.Lstat(name); err == nil && !f.force {
		return 0, hintError{fmt.Errorf("write %s: %w", name, fs.ErrExist), "--force replaces it"}
	}
	file, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*.part")
	if err != nil {
		return 0, err
	}
	count, err := t.writeArchive(ctx, a, file, format, notes, f.at)
	if err = errors.Join(err, file.Close()); err == nil {
		if f.force {
			err = os.Rename(file.Name(), name)
		} else {
			// Unlike a rename, a link never replaces what somebody else made meanwhile.
			err = errors.Join(os.Link(file.Name(), name), os.Remove(file.Name()))
		}
	}
	if err != nil {
		os.Remove(file.Name())
	}
	return count, err
}

func (t *tool) writeArchive(
	ctx context.Context, a objectdb.Address, file *os.File, format objectfiles.ArchiveFormat, notes string, at atFlag,
) (int, error) {
	m := objectfiles.Manifest{Program: program(), Time: time.Now().UTC().Truncate(time.Second), Notes: notes}
	w := objectfiles.NewArchiveWriter(file, format, m.Time)
	bar := t.progress("export", 0)
	defer bar.end()
	var comments []scriptNote
	err := t.viewAt(ctx, at, func(tx *objectdb.Tx) error {
		table, err := objectfiles.ExportArchive(tx, a, w, func(a objectdb.Address, v objectdb.Value) error {
			bar.add(1)
			if source, ok := v.(objectdb.Script); ok {
				if c := topComment(string(source)); c != "" {
					comments = append(comments, scriptNote{a.String(), c})
				}
			}
			return nil
		})
		m.Address = table.String()
		return err
	})
	if err != nil {
		return 0, err
	}
	if err := w.Close(m, readme(m, w.Count(), comments)); err != nil {
		return 0, err
	}
	return w.Count(), file.Sync()
}
