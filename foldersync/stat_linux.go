package foldersync

import (
	"io/fs"
	"syscall"
)

// changeTime returns when a file was last written, renamed or given other permissions (ctime). No
// program can set this time.
func changeTime(info fs.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ctim.Nano()
	}
	return info.ModTime().UnixNano()
}
