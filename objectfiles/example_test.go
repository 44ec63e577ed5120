package objectfiles_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
	"scripter/objectfiles"
)

// A site can keep its objects in Git in the folder form, edit them, and import them again.
func ExamplePlanExport() {
	db, remove := newRoot()
	defer remove()
	dir, err := os.MkdirTemp("", "export")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	err = db.Update(context.Background(), func(tx *objectdb.Tx) error {
		return errors.Join(
			tx.Put(objectdb.Address{"suites", "hello"}, objectdb.Script("return \"hello\"")),
			tx.Put(objectdb.Address{"suites", "size"}, objectdb.Number(24)),
			tx.Put(objectdb.Address{"suites", "a/b"}, objectdb.Text("odd")))
	})
	if err != nil {
		log.Fatal(err)
	}
	err = db.View(context.Background(), func(tx *objectdb.Tx) error {
		plan, err := objectfiles.PlanExport(tx, objectdb.Address{"suites"}, dir)
		if err != nil {
			return err
		}
		defer plan.Close()
		return plan.Do(false)
	})
	if err != nil {
		log.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range entries {
		fmt.Println(e.Name())
	}
	// Output:
	// .scripter-export
	// _index.json
	// a%2Fb.txt
	// hello.lua
	// size.json
}

func newRoot() (db *objectdb.DB, remove func()) {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	db, err = sqlitestore.Create(filepath.Join(dir, "my.root"), objectdb.Options{})
	if err != nil {
		log.Fatal(err)
	}
	return db, func() { db.Close(); os.RemoveAll(dir) }
}
