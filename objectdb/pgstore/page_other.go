//go:build !linux

package pgstore

import (
	"errors"
	"time"
)

var started = time.Now()

func clock() int64 { return int64(time.Since(started)) }

// openPage does nothing on systems where processes cannot share a clock: each process polls. See page_linux.go.
func openPage(string) (*page, error) { return nil, errors.ErrUnsupported }
