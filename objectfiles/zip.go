package objectfiles

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"io"
	"slices"
	"time"
)

// leastEntry is the smallest size of a file or folder in a zip file: two headers, each with a
// name that begins with "objects/" (APPNOTE.TXT 4.3.7, 4.3.12).
const leastEntry = 30 + 46 + 2*len(objectsFolder+"/")

// openZip opens a zip file of the given size, if it has at most so many entries.
func openZip(r io.ReaderAt, size int64, entries int) (*zip.Reader, error) {
	// A file of this size has no more entries, unless they overlap.
	entries = min(entries, int(size/int64(leastEntry)))
	limited := &entryLimiter{r: r, left: entries + strayEntryMarks}
	z, err := zip.NewReader(limited, size)
	limited.opened = true
	if limited.left < 0 {
		err = errManyFiles(entries)
	}
	return z, err
}

// entryLimiter reads a zip file for zip.NewReader, which would read the whole directory into
// memory, however long it is. It returns an error after so many entries.
type entryLimiter struct {
	r      io.ReaderAt
	left   int
	end    int64  // where the last read ended
	tail   []byte // its last bytes
	opened bool   // the directory has been read
}

const (
	entryMark = "PK\x01\x02" // how an entry of the directory begins (APPNOTE.TXT 4.3.12)

	// strayEntryMarks is how often these bytes may occur by chance where zip.NewReader
	// searches for the directory.
	strayEntryMarks = 2048
)

func (l *entryLimiter) ReadAt(p []byte, at int64) (int, error) {
	n, err := l.r.ReadAt(p, at)
	if l.opened {
		return n, err
	}
	if at != l.end {
		l.tail = nil
	}
	seen := append(l.tail, p[:n]...)
	l.left -= bytes.Count(seen, []byte(entryMark))
	l.tail = slices.Clone(seen[max(0, len(seen)-len(entryMark)+1):])
	l.end = at + int64(n)
	if l.left < 0 {
		return 0, ErrTooLarge
	}
	return n, err
}

// zipWriter writes the files of an archive to a zip file.
type zipWriter struct {
	w     *zip.Writer
	t     time.Time
	ratio ratio
	json  jsonBytes
	spare *flate.Writer // of a file that is complete: a new one takes much memory
}

func newZipWriter(w io.Writer, t time.Time) *zipWriter {
	z := &zipWriter{t: t}
	z.ratio.w = w
	z.w = zip.NewWriter(&z.ratio)
	z.w.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return newZipFlate(z, w) })
	return z
}

func (z *zipWriter) add(name string, content []byte) error {
	h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: z.t}
	if z.json.mustStore(name, content) {
		h.Method = zip.Store
	}
	h.SetMode(0o600)
	w, err := z.w.CreateHeader(h)
	if err == nil {
		_, err = w.Write(content)
	}
	return err
}

func (z *zipWriter) close() error { return z.w.Close() }

// zipFlate compresses one file of a zip file.
type zipFlate struct {
	zip     *zipWriter
	w       io.Writer
	flate   *flate.Writer
	huffman bool // only Huffman coding
}

func newZipFlate(z *zipWriter, w io.Writer) (_ *zipFlate, err error) {
	f := &zipFlate{zip: z, w: w, flate: z.spare}
	if f.flate == nil {
		f.flate, err = flate.NewWriter(w, flate.DefaultCompression)
		return f, err
	}
	z.spare = nil
	f.flate.Reset(w)
	return f, nil
}

func (f *zipFlate) Write(p []byte) (int, error) {
	return writePieces(p, func(n int) (_ io.Writer, err error) {
		if !f.huffman && f.zip.ratio.tooHigh() {
			// A stream may continue with blocks of another writer after a flush (RFC 1951, 3.2).
			f.huffman = true
			if err = f.flate.Flush(); err == nil {
				f.flate, err = flate.NewWriter(f.w, flate.HuffmanOnly)
			}
		}
		f.zip.ratio.unpacked += int64(n)
		return f.flate, err
	})
}

func (f *zipFlate) Close() error {
	if !f.huffman {
		f.zip.spare = f.flate
	}
	return f.flate.Close()
}
