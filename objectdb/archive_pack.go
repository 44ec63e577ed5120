package objectdb

import (
	"compress/flate"
	"compress/gzip"
	"io"
	"path"
)

// An archive is taken if what it costs is in proportion to its size (ImportLimits). The
// content of a root may be packed better than that: a large text of one letter, very many
// objects with the same value. Then the writer of the archive goes on with Huffman coding
// alone, which makes no more than eight bytes of one; and .json files that take much memory or
// time to read are not packed at all.

const (
	honestBytes = FreeBytes / 2 // unpacked bytes from which the ratio is looked at
	honestRatio = maxRatio - 5
	honestFiles = FreeFiles / 4
	honestShare = 2 * fileShare // packed bytes for a file
	packPiece   = 1 << 16       // bytes after which it is looked again
)

// jsonBytes counts the bytes of .json files.
type jsonBytes int64

// plain reports whether a file may be taken only from an archive that is as large.
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

// ratio is how much was packed, and into how much.
type ratio struct {
	unpacked int64
	packed   *int64
	spare    *flate.Writer // of the last file: a new one takes much memory
}

// tooGood reports whether what was packed so far would not be taken for honest.
func (r *ratio) tooGood() bool {
	return r.unpacked > honestBytes && r.unpacked > honestRatio**r.packed
}

// pieces writes p piece by piece, each with the writer that next gives for its length.
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

// honestDeflate packs one file of a zip file.
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

// honestGzip packs a tar file. A gzip file may consist of several (RFC 1952, 2.2): a new one
// begins where the way of packing changes.
type honestGzip struct {
	out   *counter
	packs map[int]*gzip.Writer // by their level
	level int
	ratio ratio
	files func() int
	slow  bool
	plain bool // what comes is not to be packed
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
