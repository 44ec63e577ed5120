package main

import (
	"context"
	"os/exec"
	"syscall"

	"scripter/autosave"
	"scripter/gateway"
	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
	"scripter/site"
)

// saveVariable names the root to the process that saves a copy. No web server
// makes a variable of this name of a request: those of fields begin with HTTP_.
const saveVariable = "SCRIPTER_SAVE_ROOT"

// saveLater starts this program again to make the saved copy that is due, and does not wait
// for it. It is another process because a web server waits until the process that it started
// ends, or kills it: the new process has none of its pipes, and its own session.
func saveLater(executable, root string) error {
	cmd := exec.Command(executable)
	cmd.Env = []string{saveVariable + "=" + root}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}

// saveAlone makes the saved copy. It reports no failure: the next request does
// (DB.LastFailure).
func saveAlone(root string) int {
	db, err := sqlitestore.Open(root, objectdb.Options{Program: gateway.Program(), History: site.History()})
	if err != nil {
		return 1
	}
	defer db.Close()
	if err := autosave.New(autosave.Options{DB: db}).SaveIfDue(context.Background()); err != nil {
		return 1
	}
	return 0
}
