package rocks

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// files are the files of a folder or an archive that matter for rocks, by their paths with slashes.
type files map[string]string

// What may be read of a folder or an archive.
const (
	maxBytes = 32 << 20
	maxFiles = 10_000
	maxDepth = 3 // archives in archives
)

var (
	errBytes = fmt.Errorf("there is more than %d MB of Lua", maxBytes>>20)
	errFiles = fmt.Errorf("there are more than %d files of Lua", maxFiles)
)

// A collector reads files and counts them.
type collector struct {
	files files
	bytes int64
}

// read returns the files of a folder, an archive or one file of Lua.
func read(name string) (files, error) {
	c := &collector{files: files{}}
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		err = c.folder(name)
	case !info.Mode().IsRegular():
		err = errors.New("it is neither a file nor a folder")
	case info.Size() > maxBytes:
		err = errBytes
	default:
		var data []byte
		if data, err = os.ReadFile(name); err == nil {
			err = c.add(path.Base(strings.ReplaceAll(name, "\\", "/")), bytes.NewReader(data), 0)
			if err == nil && len(c.files) == 0 {
				err = errors.New("it is no zip, tar.gz, .rock or .lua file")
			}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return c.files, nil
}

// folder reads a folder. It follows no link out of it.
func (c *collector) folder(name string) error {
	root, err := os.OpenRoot(name)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != "." && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir // .git and its like
		case d.IsDir() || !matters(p) && !isArchive(p):
			return nil
		}
		f, err := root.Open(p) // a link within the folder is followed
		if err != nil {
			if d.Type()&fs.ModeSymlink != 0 {
				return nil
			}
			return err
		}
		defer f.Close()
		if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
			return err
		}
		if isArchive(p) { // of a folder, only what lies in it counts
			return nil
		}
		return c.add(p, f, maxDepth)
	})
}

// matters reports whether a file holds Lua that a rock may be made of.
func matters(name string) bool {
	base := path.Base(name)
	return strings.HasSuffix(base, ".lua") || strings.HasSuffix(base, ".rockspec") || base == "rock_manifest"
}

func isArchive(name string) bool {
	for _, suffix := range []string{".zip", ".tar.gz", ".tgz", ".rock"} {
		if strings.HasSuffix(strings.ToLower(name), suffix) {
			return true
		}
	}
	return false
}

// add reads a file if it matters, and what is in an archive.
func (c *collector) add(name string, r io.Reader, depth int) error {
	if !matters(name) && (!isArchive(name) || depth >= maxDepth) {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(r, maxBytes-c.bytes+1))
	if err != nil {
		return err
	}
	if c.bytes += int64(len(data)); c.bytes > maxBytes {
		return errBytes
	}
	switch {
	case matters(name):
		if len(c.files) >= maxFiles {
			return errFiles
		}
		c.files[name] = string(data)
		return nil
	case bytes.HasPrefix(data, []byte("PK")):
		return c.zip(name, data, depth)
	case bytes.HasPrefix(data, []byte{0x1f, 0x8b}):
		return c.tar(name, data, depth)
	}
	return nil
}

func (c *collector) zip(name string, data []byte, depth int) error {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return err
	}
	for _, f := range z.File {
		if f.FileInfo().IsDir() {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		err = c.add(inside(name, f.Name, depth), r, depth+1)
		r.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *collector) tar(name string, data []byte, depth int) error {
	g, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return err
	}
	// What does not matter is unpacked, too, and counts.
	left := &io.LimitedReader{R: g, N: 8 * maxBytes}
	t := tar.NewReader(left)
	for {
		h, err := t.Next()
		if left.N <= 0 {
			return errBytes
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		if err := c.add(inside(name, h.Name, depth), t, depth+1); err != nil {
			return err
		}
	}
}

// inside returns the path of a file in an archive: below the name of the archive, if that lies in another one.
func inside(archive, name string, depth int) string {
	name = strings.TrimPrefix(path.Clean("/"+strings.ReplaceAll(name, "\\", "/")), "/")
	if depth == 0 {
		return name
	}
	return archive + "/" + name
}
