package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"

	"scripter/gateway"
)

// supervisor is systemd, or another program that passes a socket for sd_notify(3). It does
// nothing if it is nil or has no socket.
type supervisor struct {
	addr  string        // a path, or "@name" for an abstract socket
	every time.Duration // how often watchdog reports; 0: never
	log   *slog.Logger
}

// supervisorOf reads the variables of sd_notify(3) and sd_watchdog_enabled(3).
func supervisorOf(env []string, log *slog.Logger) *supervisor {
	vars, _ := gateway.Variables(env)
	s := &supervisor{addr: vars["NOTIFY_SOCKET"], log: log}
	if pid := vars["WATCHDOG_PID"]; s.addr != "" && (pid == "" || pid == strconv.Itoa(os.Getpid())) {
		if n, err := strconv.ParseInt(vars["WATCHDOG_USEC"], 10, 64); err == nil && n > 0 {
			s.every = time.Duration(n) * time.Microsecond / 2 // as sd_watchdog_enabled(3) advises
		}
	}
	return s
}

// forgetSupervisor removes the variables: they are not for workers.
func forgetSupervisor() {
	for _, name := range []string{"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"} {
		os.Unsetenv(name)
	}
}

// tell sends a state: lines NAME=value.
func (s *supervisor) tell(state string) {
	if s == nil || s.addr == "" {
		return
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: s.addr, Net: "unixgram"})
	if err == nil {
		_, err = c.Write([]byte(state))
		c.Close()
	}
	if err != nil {
		s.log.Warn("the supervisor does not hear", "socket", s.addr, "err", err)
	}
}

// store leaves a descriptor to the next process that systemd starts.
func (s *supervisor) store(fd int) error {
	if s == nil || s.addr == "" {
		return errors.New("there is no supervisor: NOTIFY_SOCKET is not set")
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: s.addr, Net: "unixgram"})
	if err != nil {
		return err
	}
	defer c.Close()
	raw, err := c.SyscallConn() // WriteMsgUnix refuses connected datagram sockets
	if err != nil {
		return err
	}
	waited := raw.Write(func(to uintptr) bool {
		err = syscall.Sendmsg(int(to), []byte("FDSTORE=1\nFDNAME=connection"), syscall.UnixRights(fd), nil, 0)
		return err != syscall.EAGAIN
	})
	return errors.Join(waited, err)
}

// ready reports that requests are answered.
func (s *supervisor) ready(what string) { s.tell("READY=1\nSTATUS=" + what) }

// reloading reports that settings are read again, until ready.
func (s *supervisor) reloading() {
	state := "RELOADING=1"
	if now := monotonic(); now > 0 { // required by Type=notify-reload
		state += fmt.Sprintf("\nMONOTONIC_USEC=%d", now.Microseconds())
	}
	s.tell(state)
}

// stopping reports that requests under way are finished.
func (s *supervisor) stopping() { s.tell("STOPPING=1\nSTATUS=requests under way are finished") }

// watchdog reports until ctx ends that the program lives, each time that alive has returned:
// if the program is stuck, it is silent, and systemd restarts it.
func (s *supervisor) watchdog(ctx context.Context, alive func()) {
	if s == nil || s.every <= 0 {
		return
	}
	ticks := time.NewTicker(s.every)
	defer ticks.Stop()
	for {
		alive()
		s.tell("WATCHDOG=1")
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
	}
}
