//go:build !linux

package postgrestest

import "syscall"

func setDeathSignal(*syscall.SysProcAttr) {}
