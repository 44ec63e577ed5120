package objectdb_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
)

func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := sqlitestore.Create(filepath.Join(dir, "my.root"), objectdb.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()

	ctx := context.Background()
	err = db.Update(ctx, func(tx *objectdb.Tx) error {
		return tx.Put(objectdb.Address{"user", "name"}, objectdb.String("Ada"))
	})
	if err != nil {
		log.Fatal(err)
	}
	err = db.View(ctx, func(tx *objectdb.Tx) error {
		v, err := tx.Get(objectdb.Address{"User", "NAME"})
		fmt.Println(v.Kind(), v)
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: string Ada
}

// A counter that any number of requests raise at once is exact: the function
// is run again when another transaction has written what it read.
func ExampleDB_Update() {
	db, remove := newRoot()
	defer remove()
	hits := objectdb.Address{"scratchpad", "hits"}
	raise := func(tx *objectdb.Tx) error {
		v, err := tx.Get(hits)
		if errors.Is(err, objectdb.ErrNotFound) {
			return tx.Put(hits, objectdb.Number(1))
		}
		if err != nil {
			return err
		}
		return tx.Put(hits, v.(objectdb.Number)+1)
	}
	for range 3 {
		if err := db.Update(context.Background(), raise); err != nil {
			log.Fatal(err)
		}
	}
	_ = db.View(context.Background(), func(tx *objectdb.Tx) error {
		v, err := tx.Get(hits)
		fmt.Println(v)
		return err
	})
	// Output: 3
}

func ExampleParseAddress() {
	a, err := objectdb.ParseAddress(`user.webserver.prefs.["odd.name"]`)
	fmt.Println(len(a), a.Name(), a.Parent(), err)
	_, err = objectdb.ParseAddress("user..prefs")
	fmt.Println(err)
	// Output:
	// 4 odd.name user.webserver.prefs <nil>
	// objectdb: parse address: name cannot be used: "user..prefs", column 6: a name is wanted here
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
