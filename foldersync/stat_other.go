//go:build !linux

package foldersync

import "io/fs"

// changeTime returns when a file was last written.
func changeTime(info fs.FileInfo) int64 { return info.ModTime().UnixNano() }
