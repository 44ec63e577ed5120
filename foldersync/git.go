package foldersync

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// repository is the git repository that a folder is in. It is only read.
type repository struct {
	dir    string // the folder of this working tree: HEAD, index and index.lock
	common string // the folder of all working trees: refs
}

// findRepository returns the repository of a folder, or nil.
func findRepository(folder string) *repository {
	for dir := folder; ; dir = filepath.Dir(dir) {
		name := filepath.Join(dir, ".git")
		info, err := os.Stat(name)
		switch {
		case err == nil && info.IsDir():
			return newRepository(name)
		case err == nil: // a linked working tree, or a submodule
			to, ok := strings.CutPrefix(firstLine(name), "gitdir: ")
			if !ok {
				return nil
			}
			if !filepath.IsAbs(to) {
				to = filepath.Join(dir, to)
			}
			return newRepository(to)
		case filepath.Dir(dir) == dir:
			return nil
		}
	}
}

func newRepository(dir string) *repository {
	r := &repository{dir, dir}
	if common := firstLine(filepath.Join(dir, "commondir")); common != "" {
		if !filepath.IsAbs(common) {
			common = filepath.Join(dir, common)
		}
		r.common = common
	}
	return r
}

// firstLine returns the first line of a small file, or "".
func firstLine(name string) string {
	content, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(content), "\n")
	return strings.TrimSpace(line)
}

var commitHash = regexp.MustCompile(`^[0-9a-f]{40,64}$`)

// head returns the commit and the branch that are checked out, such as "1a2b3c4 main", as far as
// they can be found.
func (r *repository) head() string {
	if r == nil {
		return ""
	}
	head := firstLine(filepath.Join(r.dir, "HEAD"))
	ref, onBranch := strings.CutPrefix(head, "ref: ")
	if !onBranch {
		return shortHash(head)
	}
	hash := firstLine(filepath.Join(r.common, filepath.FromSlash(ref)))
	if hash == "" {
		hash = r.packed(ref)
	}
	return strings.TrimSpace(shortHash(hash) + " " + strings.TrimPrefix(ref, "refs/heads/"))
}

func shortHash(hash string) string {
	if !commitHash.MatchString(hash) {
		return ""
	}
	return hash[:7]
}

// packed returns the hash of a ref from git's file packed-refs.
func (r *repository) packed(ref string) string {
	content, err := os.ReadFile(filepath.Join(r.common, "packed-refs"))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(content)) {
		if hash, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == ref {
			return hash
		}
	}
	return ""
}

// state returns a text that differs after git has written the working tree.
func (r *repository) state() string {
	if r == nil {
		return ""
	}
	text := firstLine(filepath.Join(r.dir, "HEAD"))
	if info, err := os.Stat(filepath.Join(r.dir, "index")); err == nil {
		text += fmt.Sprint(info.ModTime().UnixNano(), info.Size())
	}
	return text
}

// lockTime is how long wait waits for git. It is limited because a killed git leaves its lock.
const lockTime = time.Minute

// wait waits while git writes the working tree.
func (r *repository) wait(ctx context.Context) error {
	if r == nil {
		return nil
	}
	lock := filepath.Join(r.dir, "index.lock")
	for end := time.Now().Add(lockTime); ; {
		_, err := os.Lstat(lock)
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err == nil && time.Now().After(end) {
			err = ErrGitLocked
		}
		if err != nil {
			return fmt.Errorf("%s: %w", lock, err)
		}
		if err := sleep(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
}

// sleep waits for a time, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
