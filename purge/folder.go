package purge

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A folder is a folder in which a web server keeps a cache.
type folder struct {
	path   string
	listed string // the folder in scripter.conf that is path or contains it
}

// empty removes the pages that nginx (proxy_cache, fastcgi_cache) or Apache
// (mod_cache_disk) has in the folder; both notice that a file is gone. It leaves other
// files, follows no links inside the folder, and removes nothing outside the listed
// folder even if the path has links.
func (f folder) empty(ctx context.Context) error {
	root, err := f.open()
	if err != nil {
		return fmt.Errorf("empty the cache folder: %w", err)
	}
	defer root.Close()
	removed := 0
	var failures []error
	err = fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, fs.ErrNotExist):
			return nil // the web server has removed it
		case err != nil:
			failures = append(failures, err)
			return nil
		case !d.Type().IsRegular() || !isCacheFile(root, path):
			return nil
		}
		if err := root.Remove(path); err == nil {
			removed++
		} else if !errors.Is(err, fs.ErrNotExist) {
			failures = append(failures, err)
		}
		return nil
	})
	switch {
	case err != nil:
		return fmt.Errorf("empty the cache folder: stopped after %d files: %w", removed, err)
	case len(failures) > 0:
		return fmt.Errorf("empty the cache folder: %d files removed, %d not; the first: %w",
			removed, len(failures), failures[0])
	}
	return nil
}

// open opens the folder from within the listed one, which its links cannot leave.
func (f folder) open() (*os.Root, error) {
	above, err := os.OpenRoot(f.listed)
	if err != nil {
		return nil, err
	}
	defer above.Close()
	inside, err := filepath.Rel(f.listed, f.path)
	if err != nil {
		return nil, err
	}
	return above.OpenRoot(inside)
}

// isCacheFile reports whether a file belongs to a cache: its path is a digest of the URL, and
// it begins like a file of that cache.
func isCacheFile(root *os.Root, path string) bool {
	names := strings.Split(path, "/")
	if isNginxPath(names) {
		return begins(root, path, func(head []byte) bool { return bytes.Contains(head, []byte("\nKEY: ")) })
	}
	stem, suffix, ok := modCacheStem(names)
	switch {
	case !ok:
		return false
	case suffix == ".header":
		return isModCacheHeader(root, path)
	}
	// A body looks like any file. It belongs to the cache if the header beside it does. The
	// header still exists: WalkDir visits .data before .header.
	return isModCacheHeader(root, strings.TrimSuffix(path, stem+suffix)+stem+".header")
}

// isNginxPath reports whether a path is an MD5 sum in hex, in folders of one or two digits
// that repeat its end: c/29/b7f54b2df7773722d382f4809d65029c (levels=1:2).
func isNginxPath(names []string) bool {
	name, folders := names[len(names)-1], names[:len(names)-1]
	if len(name) != 32 || strings.Trim(name, "0123456789abcdef") != "" || len(folders) > 3 {
		return false
	}
	end := name
	for _, folder := range folders {
		if folder == "" || len(folder) > 2 || !strings.HasSuffix(end, folder) {
			return false
		}
		end = strings.TrimSuffix(end, folder)
	}
	return true
}

// modCacheStem returns the parts of a file name of mod_cache_disk. A path is a digest of
// 22 letters, the first of which are names of folders: Q/w/WFxhOjg1kZVJNMJVRPkA.header,
// with a .data file beside it. The variants of a page with Vary have paths of the same
// form below NAME.header.vary.
func modCacheStem(names []string) (stem, suffix string, ok bool) {
	name := names[len(names)-1]
	for _, suffix = range []string{".header", ".data"} {
		if stem, ok = strings.CutSuffix(name, suffix); ok {
			break
		}
	}
	if !ok {
		return "", "", false
	}
	digest := ""
	for _, folder := range names[:len(names)-1] {
		if above, vary := strings.CutSuffix(folder, ".header.vary"); vary {
			if !isModCacheDigest(digest + above) {
				return "", "", false
			}
			digest = ""
			continue
		}
		digest += folder
	}
	return stem, suffix, isModCacheDigest(digest + stem)
}

func isModCacheDigest(s string) bool {
	return len(s) == 22 && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@") == ""
}

// isModCacheHeader reports whether a file begins with the number of a format of
// mod_cache_disk.h: 5 for the list of a page's variants, 6 for a page.
func isModCacheHeader(root *os.Root, path string) bool {
	return begins(root, path, func(head []byte) bool {
		if len(head) < 4 {
			return false
		}
		format := binary.NativeEndian.Uint32(head)
		return format == 5 || format == 6
	})
}

// begins reports whether path is a regular file, and matches accepts its beginning.
func begins(root *os.Root, path string, matches func(head []byte) bool) bool {
	if info, err := root.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := root.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 4096)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.ErrUnexpectedEOF {
		return false
	}
	return matches(head[:n])
}
