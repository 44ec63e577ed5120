//go:build !linux

package foldersync

import "os"

// exchange renames the file part to name. This system cannot exchange names.
func exchange(root *os.Root, part, name string) error { return root.Rename(part, name) }
