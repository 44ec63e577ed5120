package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// replaceDescriptor makes the descriptor to another name of from.
func replaceDescriptor(from, to int) error { return unix.Dup3(from, to, 0) }

// monotonic returns the time of CLOCK_MONOTONIC. With it, systemd distinguishes an answer
// to its last signal from an earlier one.
func monotonic() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
