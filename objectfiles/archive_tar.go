package objectfiles

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
)

// zipOfTar rewrites a tar.gz as a zip file, not packed, so that one way of reading
// serves both. The file has no name any more when it is given: it is gone
// when it is closed.
func zipOfTar(r io.Reader, packed int64, limits ImportLimits) (*os.File, error) {
	spool, err := os.CreateTemp("", "scripter-archive-*")
	if err != nil {
		return nil, err
	}
	err = os.Remove(spool.Name())
	if err == nil {
		err = rewriteTar(spool, r, packed, limits)
	}
	if err != nil {
		spool.Close()
		return nil, err
	}
	return spool, nil
}

func rewriteTar(w io.Writer, r io.Reader, packed int64, limits ImportLimits) error {
	unpacked, err := gzip.NewReader(r)
	if err != nil {
		return err
	}
	// Headers and padding count too: what is skipped is unpacked all the same.
	stream := limits.budget(packed)
	if more := int64(limits.files(packed))*1024 + maxTrailer; stream.left < math.MaxInt64-more {
		stream.left += more
	}
	counted := io.TeeReader(unpacked, stream)
	buffer := bufio.NewWriterSize(w, 1<<16)
	out := zip.NewWriter(buffer)
	if err := copyTar(out, tar.NewReader(counted), limits.budget(packed), newLayout(limits.files(packed))); err != nil {
		return err
	}
	// Only the end of the stream tells whether it is whole.
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

func copyTar(out *zip.Writer, in *tar.Reader, budget *budget, names *layout) error {
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		folder := h.Typeflag == tar.TypeDir
		name := h.Name
		if folder {
			name = strings.TrimSuffix(name, "/")
		}
		if err := names.add(name, folder); err != nil {
			return err
		}
		if folder {
			if _, err := out.CreateHeader(&zip.FileHeader{Name: name + "/"}); err != nil {
				return err
			}
			continue
		}
		if h.Typeflag != tar.TypeReg {
			return fmt.Errorf("%w: %s is neither a file nor a folder, but %s", ErrArchive, name, typeWord(h.Typeflag))
		}
		w, err := out.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err != nil {
			return err
		}
		if _, err := io.Copy(io.MultiWriter(budget, w), in); err != nil {
			return err
		}
	}
}

func typeWord(flag byte) string {
	switch flag {
	case tar.TypeLink, tar.TypeSymlink:
		return "a link"
	case tar.TypeChar, tar.TypeBlock:
		return "a device"
	case tar.TypeFifo:
		return "a pipe"
	}
	return "something special"
}
