package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// relayOutcome is what became of the attempt to hand the request over to a
// resident server; the relay decides.
type relayOutcome int

// residentIdle is how long a resident server that a request has started stays
// without another one.
const residentIdle = "10m"

// logLimit is when a started server's log is begun anew, in bytes.
const logLimit = 1 << 20

// startResident starts a resident server for the requests to come, and does not
// wait for it. When many requests do so at once, one server finds the door free
// and the others leave. What it has to say goes to a file beside the root, because
// a web server waits until nobody holds its error log's pipe.
func startResident(executable, root string) error {
	program := filepath.Join(filepath.Dir(executable), "scripter-fcgi")
	if _, err := os.Stat(program); err != nil {
		if program, err = exec.LookPath("scripter-fcgi"); err != nil {
			return fmt.Errorf("there is no scripter-fcgi beside %s nor in PATH", executable)
		}
	}
	log, err := residentLog(strings.TrimSuffix(root, ".root") + ".resident.log")
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(program, "--root", root, "--listen", "door", "--idle-exit", residentIdle)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	cmd.Stderr = log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}

// residentLog opens the log of a resident server that is started.
func residentLog(file string) (*os.File, error) {
	flag := os.O_WRONLY | os.O_CREATE | os.O_APPEND
	if info, err := os.Stat(file); err == nil && info.Size() > logLimit {
		flag |= os.O_TRUNC
	}
	return os.OpenFile(file, flag, 0o640)
}
