package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"scripter/rootname"
	"scripter/site"
)

// relayOutcome says whether the relay handed the request over to a resident server.
type relayOutcome int

// residentIdle is how long a resident server that a request has started runs without another
// request.
const residentIdle = "10m"

// logLimit is the size in bytes at which the log of a started server is truncated.
const logLimit = 1 << 20

// startResident starts a resident server for later requests and does not wait for it. The
// server may use the same folders and hosts as this request. If many requests start one at
// the same time, one server gets the resident socket and the others end. Its log is a file
// beside the root, because a web server waits until all processes have closed the pipe of
// its error log.
func startResident(executable string, conf site.Conf) error {
	program := filepath.Join(filepath.Dir(executable), "scripter-fcgi")
	if _, err := os.Stat(program); err != nil {
		if program, err = exec.LookPath("scripter-fcgi"); err != nil {
			return fmt.Errorf("there is no scripter-fcgi beside %s nor in PATH", executable)
		}
	}
	local, err := rootname.LocalPath(conf.Root)
	if err != nil {
		return err
	}
	log, err := residentLog(strings.TrimSuffix(local, ".root") + ".resident.log")
	if err != nil {
		return err
	}
	defer log.Close()
	args := []string{"--root", conf.Root, "--listen", "door", "--idle-exit", residentIdle}
	cmd := exec.Command(program, append(args, conf.Reach.Flags()...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	if rootname.IsURL(conf.Root) {
		cmd.Env = append(cmd.Env, databaseVariables()...)
	}
	cmd.Stderr = log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}

// databaseVariables returns the variables that say how to connect to PostgreSQL (PGPASSWORD, PGPASSFILE …), and those
// that say where its files lie.
func databaseVariables() (list []string) {
	for _, v := range os.Environ() {
		if strings.HasPrefix(v, "PG") || strings.HasPrefix(v, "HOME=") || strings.HasPrefix(v, "XDG_STATE_HOME=") {
			list = append(list, v)
		}
	}
	return list
}

// residentLog opens the log of a resident server. It follows no link that another user
// has made in the folder of the root.
func residentLog(name string) (*os.File, error) {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o640)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil {
		if own, ok := info.Sys().(*syscall.Stat_t); !info.Mode().IsRegular() || ok && own.Nlink > 1 {
			err = fmt.Errorf("%s is not a regular file with one name", name)
		} else if info.Size() > logLimit {
			err = file.Truncate(0)
		}
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}
