//go:build !linux

package main

import (
	"syscall"
	"time"
)

func replaceDescriptor(from, to int) error { return syscall.Dup2(from, to) }

// monotonic is not known: there is no systemd.
func monotonic() time.Duration { return 0 }
