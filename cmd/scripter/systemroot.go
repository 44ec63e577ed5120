package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"scripter/rootname"
	"scripter/site"
)

// makesRoot marks commands that make a root in the current folder if none is named.
const makesRoot = "makes a root"

// useSystemRoot takes the root that /etc/scripter/scripter.conf names, if no other one is named and none lies in
// the current folder. The superuser then works as the owner of that root: files that belong to the superuser would
// be in the way of the daemon.
func (t *tool) useSystemRoot(c *cobra.Command) error {
	if t.root != "" || os.Getenv("SCRIPTER_ROOT") != "" || c.Annotations[makesRoot] != "" {
		return nil
	}
	if _, err := os.Lstat(t.rootName()); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	root, err := site.SystemRoot()
	if err != nil || root == "" {
		return err
	}
	if err := os.Setenv("SCRIPTER_ROOT", root); err != nil || rootname.IsURL(root) || os.Geteuid() != 0 {
		return err
	}
	info, err := os.Stat(root)
	if errors.Is(err, fs.ErrNotExist) {
		info, err = os.Stat(filepath.Dir(root))
	}
	if err != nil {
		return nil // the command says that there is no root
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || owner.Uid == 0 {
		return nil
	}
	err = errors.Join(syscall.Setgroups([]int{int(owner.Gid)}), syscall.Setgid(int(owner.Gid)), syscall.Setuid(int(owner.Uid)))
	if err != nil {
		return fmt.Errorf("work as the owner of %s: %w", root, err)
	}
	t.servant = userName(int(owner.Uid))
	return nil
}
