//go:build !linux

package foldersync

import "os"

// exchange puts the file part in the place of the file name.
func exchange(root *os.Root, part, name string) error { return root.Rename(part, name) }
