package gateway

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

// emptyCacheFolder removes the pages that nginx (proxy_cache, fastcgi_cache)
// or Apache (mod_cache_disk) stores below folder. folder lies below listed, even
// with its links resolved. Both servers notice that a file is gone. It leaves
// other files alone, follows no links and reaches nothing outside the folder.
func emptyCacheFolder(ctx context.Context, listed, folder string) error {
	above, err := os.OpenRoot(listed)
	if err != nil {
		return fmt.Errorf("empty the cache folder: %w", err)
	}
	defer above.Close()
	inside, err := filepath.Rel(listed, folder)
	if err != nil {
		return fmt.Errorf("empty the cache folder: %w", err)
	}
	root, err := above.OpenRoot(inside)
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
			return nil // the cache's own cleaner was faster
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
		return fmt.Errorf("empty the cache folder: %d files removed, %d not; the first: %w", removed, len(failures), failures[0])
	}
	return nil
}

// isCacheFile tells whether a file below a cache folder was made by a cache:
// by its place, which both derive from a digest of the URL, and by how it begins.
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
	// The body beside it is what the page's author wrote. It comes before its
	// header in the order of names, so the header is still there.
	return isModCacheHeader(root, strings.TrimSuffix(path, stem+suffix)+stem+".header")
}

// isNginxPath: MD5 in hex, in folders of one or two digits that repeat its
// end: c/29/b7f54b2df7773722d382f4809d65029c (levels=1:2).
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

// modCacheStem: 22 letters of a digest, the first of them spread over folders:
// Q/w/WFxhOjg1kZVJNMJVRPkA.header, with a .data beside it. A page with Vary
// has its forms below NAME.header.vary, again by a digest.
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

// isModCacheHeader: a header file begins with the number of its format, 5 for
// the list of a page's forms and 6 for a page (mod_cache_disk.h).
func isModCacheHeader(root *os.Root, path string) bool {
	return begins(root, path, func(head []byte) bool {
		if len(head) < 4 {
			return false
		}
		format := binary.NativeEndian.Uint32(head)
		return format == 5 || format == 6
	})
}

// begins looks at the beginning of a plain file.
func begins(root *os.Root, path string, looksRight func(head []byte) bool) bool {
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
	return looksRight(head[:n])
}
