package objectfiles

import (
	"compress/flate"
	"compress/gzip"
	"io"
	"path"
)

// Import accepts an archive only if its content is in proportion to its size (ImportLimits).
// Some content compresses better than that: a large text of one letter, or very many objects
// with the same value. Then the writer of the archive goes on with Huffman coding alone, which
// compresses eight bytes to one at most. It does not compress .json files that take much memory
// or time to read.

const (
	honestBytes = FreeBytes / 2 // unpacked bytes from which the ratio is checked
	honestRatio = maxRatio - 5
	honestFiles = FreeFiles / 4
	honestShare = 2 * fileShare // packed bytes for a file
	packPiece   = 1 << 16       // bytes after which the ratio is checked again
)

// jsonBytes counts the bytes of .json files.
type jsonBytes int64

// plain reports whether a file must not be compressed, because import accepts it only from an
// archive that is as large.
func (j *jsonBytes) plain(name string, content []byte) bool {
	if path.Ext(name) != ".json" || name == manifestFile {
		return false
	}
	*j += jsonBytes(len(content))
	return len(content) > freeJSON || *j > freeJSON*jsonFiles/2
}

// counter counts what is written to w.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// ratio counts the bytes before and after compression.
type ratio struct {
	unpacked int64
	packed   *int64
	spare    *flate.Writer // the last file's: a new one takes much memory
}

// tooGood reports whether the bytes so far compress so well that import would refuse them.
func (r *ratio) tooGood() bool {
	return r.unpacked > honestBytes && r.unpacked > honestRatio**r.packed
}

// pieces writes p piece by piece, each with the writer that next returns for its length.
func pieces(p []byte, next func(n int) (io.Writer, error)) (int, error) {
	written := 0
	for len(p) > 0 {
		piece := p[:min(len(p), packPiece)]
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

// honestDeflate compresses one file of a zip file.
type honestDeflate struct {
	w     io.Writer
	pack  *flate.Writer
	ratio *ratio
	slow  bool
}

func newHonestDeflate(w io.Writer, r *ratio) (*honestDeflate, error) {
	if r.spare == nil {
		pack, err := flate.NewWriter(w, flate.DefaultCompression)
		return &honestDeflate{w: w, pack: pack, ratio: r}, err
	}
	pack := r.spare
	r.spare = nil
	pack.Reset(w)
	return &honestDeflate{w: w, pack: pack, ratio: r}, nil
}

func (d *honestDeflate) Write(p []byte) (int, error) {
	return pieces(p, func(n int) (_ io.Writer, err error) {
		if !d.slow && d.ratio.tooGood() {
			// A stream may go on with blocks of another writer after a flush (RFC 1951, 3.2).
			d.slow = true
			if err = d.pack.Flush(); err == nil {
				d.pack, err = flate.NewWriter(d.w, flate.HuffmanOnly)
			}
		}
		d.ratio.unpacked += int64(n)
		return d.pack, err
	})
}

func (d *honestDeflate) Close() error {
	if !d.slow {
		d.ratio.spare = d.pack
	}
	return d.pack.Close()
}

// honestGzip compresses a tar file. A gzip file may have several members (RFC 1952, 2.2): a
// new one begins where the compression changes.
type honestGzip struct {
	out   *counter
	packs map[int]*gzip.Writer // by their level
	level int
	ratio ratio
	files func() int
	slow  bool
	plain bool // the next bytes are not compressed
}

func newHonestGzip(w io.Writer, files func() int) *honestGzip {
	out := &counter{w: w}
	return &honestGzip{out: out, packs: map[int]*gzip.Writer{gzip.DefaultCompression: gzip.NewWriter(out)}, level: gzip.DefaultCompression, ratio: ratio{packed: &out.n}, files: files}
}

func (g *honestGzip) Write(p []byte) (int, error) {
	return pieces(p, func(n int) (io.Writer, error) {
		files := g.files()
		g.slow = g.slow || g.ratio.tooGood() || files > honestFiles && g.out.n < int64(files)*honestShare
		level := gzip.DefaultCompression
		if g.slow {
			level = gzip.HuffmanOnly
		}
		if g.plain {
			level = gzip.NoCompression
		}
		g.ratio.unpacked += int64(n)
		if level == g.level {
			return g.packs[level], nil
		}
		if err := g.Close(); err != nil {
			return nil, err
		}
		g.level = level
		if pack := g.packs[level]; pack != nil {
			pack.Reset(g.out)
			return pack, nil
		}
		pack, err := gzip.NewWriterLevel(g.out, level)
		g.packs[level] = pack
		return pack, err
	})
}

func (g *honestGzip) Close() error { return g.packs[g.level].Close() }
