package main

import (
	"context"
	"os/exec"
	"syscall"

	"scripter/gateway"
	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
)

// saveVariable names the root to the process that saves a copy. No web server
// makes a variable of this name of a request: those of fields begin with HTTP_.
const saveVariable = "SCRIPTER_SAVE_ROOT"

// saveLater starts this program once more, to save the copy that is due, and
// does not wait for it. Another process, because a web server waits for the end of
// the one that it has started, or kills it: this one has none of its pipes and
// a session of its own.
func saveLater(executable, root string) error {
	cmd := exec.Command(executable)
	cmd.Env = []string{saveVariable + "=" + root}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}

// saveAlone is all that the other process does. It has nobody to tell of a
// failure: the next one that is due does that (DB.LastFailure).
func saveAlone(root string) int {
	db, err := sqlitestore.Open(root, objectdb.Options{Program: gateway.Program()})
	if err != nil {
		return 1
	}
	defer db.Close()
	if err := gateway.New(gateway.Options{DB: db}).SaveIfDue(context.Background()); err != nil {
		return 1
	}
	return 0
}
