package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"scripter/objectdb"
	"scripter/objectdb/roots"
	"scripter/objectfiles"
	"scripter/root"
	"scripter/site"
)

// sample is the site that serve makes where there is none: sample/site is the folder of the
// pages, sample/root has the objects of the demo. Everybody who reaches the site may write in
// the demo, so it is not among the supplied objects.
//
//go:embed all:sample
var sample embed.FS

// demoAddresses are the demo's scripts, and the table of what visitors send to them.
const demoAddresses = "suites.webserverScripts.demo user.demo"

// makeSample makes the folder of a site. The demo is imported too, unless the root has scripts
// of its own: it may be the root of a public site.
func (t *tool) makeSample(ctx context.Context, folder string) error {
	withDemo, err := t.importDemo(ctx)
	if err != nil {
		return err
	}
	pages, err := fs.Sub(sample, "sample/site")
	if err != nil {
		return err
	}
	if err := os.CopyFS(folder, pages); err != nil {
		return err
	}
	fmt.Fprintf(t.out, "made %s with a sample site\n", folder)
	if !withDemo {
		return cutDemo(filepath.Join(folder, "default.mcro"))
	}
	fmt.Fprintf(t.out, "made the demo in the root, in which every visitor may write; to remove it:\n  %s\n",
		t.self("rm -r "+demoAddresses))
	return nil
}

// importDemo imports the demo into a root that has only supplied scripts, and reports whether
// it did.
func (t *tool) importDemo(ctx context.Context) (done bool, err error) {
	o := forWork
	o.Origin, o.History = t.origin(), site.History()
	o.Origin.Person = false // otherwise "scripter undo" would take back the demo
	db, err := roots.Open(t.rootName(), o)
	if err != nil {
		return false, err
	}
	defer db.Close()
	objects, err := fs.Sub(sample, "sample/root")
	if err != nil {
		return false, err
	}
	err = db.Update(ctx, func(tx *objectdb.Tx) error {
		if done, err = onlySupplied(tx); err != nil || !done {
			return err
		}
		_, err := objectfiles.Import(tx, objects, nil, nil)
		return err
	})
	if errors.Is(err, objectdb.ErrReadOnly) {
		return false, nil
	}
	return done, err
}

// onlySupplied reports whether suites.webserverScripts has the supplied tables and nothing else.
func onlySupplied(tx *objectdb.Tx) (bool, error) {
	supplied, err := fs.ReadDir(root.FS, "suites/webserverScripts")
	if err != nil {
		return false, err
	}
	names := map[string]bool{}
	for _, entry := range supplied {
		names[entry.Name()] = true
	}
	list, err := tx.List(objectdb.Address{"suites", "webserverScripts"})
	if err != nil {
		return false, err
	}
	for _, o := range list {
		if !names[o.Name] {
			return false, nil
		}
	}
	return true, nil
}

var demoLines = regexp.MustCompile(`(?s)<!-- demo -->\n.*?<!-- end of demo -->\n`)

// cutDemo removes the lines about the demo from a page.
func cutDemo(file string) error {
	page, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return os.WriteFile(file, demoLines.ReplaceAll(page, nil), 0o644)
}
