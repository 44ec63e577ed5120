package objectfiles

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strings"
	"time"
)

// zipOfTar rewrites a tar.gz file as a zip file without compression, so that one way of
// reading serves both. The zip file has no name, and is gone when it is closed.
func zipOfTar(r io.Reader, bounds bounds) (*os.File, error) {
	spool, err := os.CreateTemp("", "scripter-archive-*")
	if err != nil {
		return nil, err
	}
	err = os.Remove(spool.Name())
	if err == nil {
		err = rewriteTar(spool, r, bounds)
	}
	if err != nil {
		spool.Close()
		return nil, err
	}
	return spool, nil
}

func rewriteTar(w io.Writer, r io.Reader, limits bounds) error {
	unpacked, err := gzip.NewReader(r)
	if err != nil {
		return err
	}
	// Headers and padding count too, because they are unpacked when they are skipped.
	stream := &byteCheck{bounds: limits}
	if more := int64(limits.files)*1024 + maxTrailer; limits.bytes < math.MaxInt64-more {
		stream.bounds.bytes += more
	}
	counted := io.TeeReader(unpacked, stream)
	buffer := bufio.NewWriterSize(w, 1<<16)
	out := zip.NewWriter(buffer)
	if err := copyTar(out, tar.NewReader(counted), limits); err != nil {
		return err
	}
	// Only the end of the stream shows whether it is complete.
	n, err := io.Copy(io.Discard, io.LimitReader(counted, maxTrailer+1))
	if err == nil && n > maxTrailer {
		err = fmt.Errorf("%w: there is more after the last file", ErrArchive)
	}
	if err == nil {
		err = out.Close()
	}
	if err == nil {
		err = buffer.Flush()
	}
	return err
}

// copyTar copies the files and folders of a tar file. It checks their names and sizes, so that
// the zip file does not grow beyond the limits.
func copyTar(out *zip.Writer, in *tar.Reader, limits bounds) error {
	names := newArchiveNames(limits.files)
	unpacked := &byteCheck{bounds: limits}
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name, folder := h.Name, h.Typeflag == tar.TypeDir
		if folder {
			name = strings.TrimSuffix(name, "/")
		}
		if err := names.add(name, folder); err != nil {
			return err
		}
		if folder {
			name += "/"
		} else if h.Typeflag != tar.TypeReg {
			return fmt.Errorf("%w: %s is neither a file nor a folder, but %s", ErrArchive, name, modeWord(tarMode(h)))
		}
		w, err := out.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err != nil {
			return err
		}
		if _, err := io.Copy(io.MultiWriter(unpacked, w), in); err != nil {
			return err
		}
	}
}

// tarMode returns the mode of an entry. A hard link counts as a link.
func tarMode(h *tar.Header) fs.FileMode {
	if h.Typeflag == tar.TypeLink {
		return fs.ModeSymlink
	}
	return h.FileInfo().Mode()
}

// tarWriter writes the files of an archive to a tar.gz file.
type tarWriter struct {
	gzip *tarGzip
	w    *tar.Writer
	t    time.Time
	json jsonBytes
}

// newTarWriter returns a writer; files returns the number of files and folders so far.
func newTarWriter(w io.Writer, t time.Time, files func() int) *tarWriter {
	g := &tarGzip{files: files, level: gzip.DefaultCompression}
	g.ratio.w = w
	g.writers = map[int]*gzip.Writer{g.level: gzip.NewWriter(&g.ratio)}
	return &tarWriter{gzip: g, w: tar.NewWriter(g), t: t}
}

func (x *tarWriter) add(name string, content []byte) error {
	x.gzip.store = x.json.mustStore(name, content)
	err := x.w.WriteHeader(&tar.Header{
		Name: name, Mode: 0o600, Size: int64(len(content)), ModTime: x.t, Typeflag: tar.TypeReg,
	})
	if err == nil {
		_, err = x.w.Write(content)
	}
	return err
}

func (x *tarWriter) close() error {
	if err := x.w.Close(); err != nil {
		return err
	}
	return x.gzip.Close()
}

// tarGzip compresses a tar file. A gzip file may have several members (RFC 1952, 2.2): a
// new one begins where the compression changes.
type tarGzip struct {
	ratio   ratio
	files   func() int
	writers map[int]*gzip.Writer // by level
	level   int
	huffman bool // only Huffman coding
	store   bool // the next bytes are not compressed
}

func (g *tarGzip) Write(p []byte) (int, error) {
	return writePieces(p, func(n int) (io.Writer, error) {
		g.huffman = g.huffman || g.ratio.tooHigh() || g.ratio.tooManyFiles(g.files())
		level := gzip.DefaultCompression
		if g.huffman {
			level = gzip.HuffmanOnly
		}
		if g.store {
			level = gzip.NoCompression
		}
		g.ratio.unpacked += int64(n)
		return g.writer(level)
	})
}

// writer returns the writer of a member with this level.
func (g *tarGzip) writer(level int) (io.Writer, error) {
	if level == g.level {
		return g.writers[level], nil
	}
	if err := g.Close(); err != nil {
		return nil, err
	}
	g.level = level
	if w := g.writers[level]; w != nil {
		w.Reset(&g.ratio)
		return w, nil
	}
	w, err := gzip.NewWriterLevel(&g.ratio, level)
	g.writers[level] = w
	return w, err
}

func (g *tarGzip) Close() error { return g.writers[g.level].Close() }
