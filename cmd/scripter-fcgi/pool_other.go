//go:build !linux

package main

import (
	"context"
	"errors"
	"log/slog"

	"scripter/gateway"
)

// Worker processes share connections as only Linux can.
const (
	defaultWorkers = 0
	maxWorkers     = 64
)

func servePool(context.Context, options, gateway.Bounds, *sockets, *upkeep, *slog.Logger) error {
	return errors.New("worker processes need Linux: start with --workers 0")
}

func runWorker(args []string) (code int, is bool) { return 0, false }
