package objectfiles

import (
	"io"
	"path"
)

// Import accepts an archive only if its content is in proportion to its size (ImportLimits).
// Some content compresses better than that: a large text of one letter, or very many objects
// with the same value. Then the writer of the archive continues with Huffman coding alone, which
// compresses eight bytes to one at most. It does not compress .json files that take much memory
// or time to read.

// When a writer compresses less: before an archive reaches the limits.
const (
	ratioBytes    = FreeBytes / 2 // unpacked bytes from which the ratio is checked
	writtenRatio  = maxRatio - 5  // unpacked bytes for one packed byte
	ratioFiles    = FreeFiles / 4 // files and folders from which their number is checked
	writtenFile   = 2 * bytesPerFile
	pieceSize     = 1 << 16 // bytes after which the ratio is checked again
	storedFrom    = freeJSON
	storedAllFrom = freeJSON * jsonFiles / 2
)

// jsonBytes is the number of bytes of the .json files so far.
type jsonBytes int64

// mustStore reports whether a file must be stored without compression, because import
// accepts it only from an archive of that size.
func (j *jsonBytes) mustStore(name string, content []byte) bool {
	if path.Ext(name) != ".json" || name == manifestFile {
		return false
	}
	*j += jsonBytes(len(content))
	return len(content) > storedFrom || *j > storedAllFrom
}

// ratio counts the bytes of an archive before and after compression. It writes the latter.
type ratio struct {
	w        io.Writer
	unpacked int64
	packed   int64
}

func (r *ratio) Write(p []byte) (int, error) {
	n, err := r.w.Write(p)
	r.packed += int64(n)
	return n, err
}

// tooHigh reports whether the content so far compresses better than import accepts.
func (r *ratio) tooHigh() bool {
	return r.unpacked > ratioBytes && r.unpacked > writtenRatio*r.packed
}

// tooManyFiles reports whether so many files are more than import accepts from an archive of
// the present size.
func (r *ratio) tooManyFiles(files int) bool {
	return files > ratioFiles && r.packed < int64(files)*writtenFile
}

// writePieces writes p piece by piece, each to the writer that next returns for its length.
func writePieces(p []byte, next func(n int) (io.Writer, error)) (int, error) {
	written := 0
	for len(p) > 0 {
		piece := p[:min(len(p), pieceSize)]
		w, err := next(len(piece))
		if err != nil {
			return written, err
		}
		n, err := w.Write(piece)
		written += n
		if err != nil {
			return written, err
		}
		p = p[n:]
	}
	return written, nil
}
