//go:build !linux

package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
)

// Worker processes share connections as only Linux can.
const defaultWorkers = 0

func servePool(context.Context, options, []net.Listener, *slog.Logger) error {
	return errors.New("worker processes need Linux: start with --workers 0")
}

func runWorker(args []string) (code int, is bool) { return 0, false }
