package main

import (
	"context"
	"log/slog"
	"os"
	"sync/atomic"
	"time"
)

// lastUse records when the last request came through the resident socket: as the
// modification time of its file, so that any number of processes can share it.
type lastUse struct {
	path  atomic.Value // string
	noted atomic.Int64 // when it was last recorded, ns
}

// move sets the path of the socket.
func (u *lastUse) move(path string) { u.path.Store(path) }

func (u *lastUse) file() string {
	path, _ := u.path.Load().(string)
	return path
}

// useInterval is the precision of the time.
const useInterval = time.Second

// note records that a request came.
func (u *lastUse) note() {
	now := time.Now()
	if last := u.noted.Load(); now.UnixNano()-last < int64(useInterval) || !u.noted.CompareAndSwap(last, now.UnixNano()) {
		return
	}
	os.Chtimes(u.file(), now, now) // if this fails, the server only ends too early
}

// exitWhenIdle calls exit when no request has come for the time idle.
func (u *lastUse) exitWhenIdle(ctx context.Context, idle time.Duration, exit func(), log *slog.Logger) {
	if u.untilIdle(ctx, idle) {
		log.Info("no request has come", "for", idle)
		exit()
	}
}

// untilIdle waits until no request has come for the time idle, or the socket is gone. It
// returns false if ctx ended first.
func (u *lastUse) untilIdle(ctx context.Context, idle time.Duration) bool {
	for {
		path := u.file()
		info, err := os.Lstat(path)
		if err != nil {
			if path != u.file() {
				continue
			}
			return true
		}
		left := idle + useInterval - time.Since(info.ModTime())
		if left <= 0 {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(min(left, time.Minute)):
		}
	}
}
