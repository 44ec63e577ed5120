//go:build !linux

package objectdb

// watch does nothing where a process cannot list what it has open: every
// transaction asks SQLite.
func (c *conn) watch() {}

func (x *walIndex) close() {}
