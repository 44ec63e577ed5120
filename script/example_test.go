package script_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
	"scripter/script"
)

// A script of the root is run with an argument; it calls a verb and writes.
func ExampleEngine() {
	dir, _ := os.MkdirTemp("", "scripter")
	defer os.RemoveAll(dir)
	db, err := sqlitestore.Create(filepath.Join(dir, "scripter.root"), objectdb.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()

	engine := script.NewEngine([]script.Verb{{
		Name: "voice.shout", Doc: "Text in capital letters.",
		Func: func(c *script.Call) error {
			c.Return(strings.ToUpper(c.String(1)) + "!")
			return nil
		},
	}})
	hello := objectdb.Address{"user", "hello"}
	err = db.Update(context.Background(), func(tx *objectdb.Tx) error {
		source := objectdb.Script(`
			user.greeted = (user.greeted or 0) + 1
			return voice.shout ("hello " .. ...) .. user.greeted`)
		if err := tx.Put(hello, source); err != nil {
			return err
		}
		t := engine.NewThread(context.Background(), script.ThreadOptions{Tx: tx})
		defer t.Close()
		v, err := t.Run(hello, "world")
		fmt.Println(v)
		return err
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: HELLO WORLD!1
}

// The error of a script says where it happened.
func ExampleError() {
	engine := script.NewEngine(nil)
	t := engine.NewThread(context.Background(), script.ThreadOptions{})
	defer t.Close()
	_, err := t.RunSource("typed", "local a = {}\nreturn a.b.c")
	fmt.Println(err)
	// Output: typed:2: attempt to index field 'b' (a nil value)
}
