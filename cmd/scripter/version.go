package main

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"

	"github.com/spf13/cobra"

	"scripter/objectdb"
	"scripter/objectdb/roots"
	"scripter/objectfiles"
)

func (t *tool) versionCommand() *cobra.Command {
	var licenses bool
	c := &cobra.Command{
		Use:   "version",
		Short: "print the versions of the program and of the root",
		Long: `Version prints the version of the program and of the forms that it writes, and of
the root, if there is one, its form and the program that made it. An older root is
not brought up to date by this.`,
		Args: args(0, 0),
		RunE: func(*cobra.Command, []string) error {
			if licenses {
				return t.printLicenses()
			}
			info, err := roots.Inspect(t.rootName())
			found := err == nil
			if errors.Is(err, fs.ErrNotExist) && t.root == "" {
				err = nil // nobody asked for this one
			}
			if t.json {
				m := map[string]any{"version": version, "go": runtime.Version(), "rootForm": objectdb.FileVersion,
					"folderForm": objectfiles.FolderForm, "archiveForm": objectfiles.ArchiveForm}
				if found {
					m["root"] = map[string]any{"file": t.rootName(), "form": info.Version, "madeBy": info.MadeBy,
						"migratedBy": info.MigratedBy, "created": info.Created}
				}
				return errors.Join(t.printJSON(m), err)
			}
			fmt.Fprintf(t.out, "scripter %s (%s)\n", version, runtime.Version())
			fmt.Fprintf(t.out, "root form %d, folder form %d, archive form %d\n",
				objectdb.FileVersion, objectfiles.FolderForm, objectfiles.ArchiveForm)
			if found {
				t.printRootVersion(info)
			}
			return err
		},
	}
	c.Flags().BoolVar(&licenses, "licenses", false,
		"print the licences of the programs and of everything that they contain")
	return c
}

func (t *tool) printRootVersion(info objectdb.Info) {
	by := info.MadeBy
	if by == "" {
		by = "an unknown program"
	}
	fmt.Fprintf(t.out, "%s: form %d, made by %s", t.rootName(), info.Version, by)
	if info.MigratedBy != "" {
		fmt.Fprintf(t.out, ", brought up to date by %s", info.MigratedBy)
	}
	if info.Outdated {
		fmt.Fprintf(t.out, "; it is brought to form %d when it is next used, after a saved copy", objectdb.FileVersion)
	}
	fmt.Fprintln(t.out)
}
