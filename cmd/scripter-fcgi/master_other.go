//go:build !linux

package main

import (
	"errors"
	"log/slog"

	"scripter/gateway"
)

// Worker processes share connections in a way that only Linux offers.
const (
	defaultWorkers = 0
	maxWorkers     = 64
)

// master is not available on this system.
type master struct{ single }

func startMaster(options, gateway.Bounds, *sockets, func(fd int) error, *slog.Logger) (*master, error) {
	return nil, errors.New("worker processes need Linux: start with --workers 0")
}

func runWorker(args []string) (code int, is bool) { return 0, false }
