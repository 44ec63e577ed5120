package objectfiles

import (
	"fmt"
	"path"

	"scripter/objectdb"
)

// ImportLimits bound the memory and the time of an import, and the growth of the root. Any
// archive or folder may have FreeBytes and FreeFiles; a larger one may have more in
// proportion to its size on the disk. What this program exports is within the limits,
// however much it is: see compress.go.
type ImportLimits struct {
	Bytes int64 // bytes of all files, unpacked; 0: FreeBytes, or 25 times the size on the disk
	Files int   // files and folders; 0: FreeFiles, or one for each 64 bytes on the disk
	// Strict allows no more for a larger archive: it is for archives from strangers.
	Strict bool
}

// What any archive or folder may have, whatever its size on the disk.
const (
	FreeBytes = 32 << 20
	FreeFiles = 75_000
)

// The limits of an archive or a folder. Those of a value are in objectdb.
const (
	maxRatio     = 25      // unpacked bytes for one byte on the disk, beyond FreeBytes
	bytesPerFile = 64      // bytes on the disk for one file or folder, beyond FreeFiles
	freeJSON     = 2 << 20 // bytes of one .json file: it takes up to 40 times its size in memory
	jsonShare    = 16      // one .json file may have this fraction of ImportLimits.Bytes
	jsonFiles    = 8       // all .json files may have this many times that: they take time

	maxArchiveName  = 4096    // bytes of a file's path in an archive
	maxArchiveDepth = 200     // folders in folders in an archive
	maxTrailer      = 1 << 20 // bytes after the last file of a tar.gz
	leastInode      = 256     // bytes on the disk that a file or folder counts at least
)

// bounds are the limits of one archive or folder.
type bounds struct {
	bytes   int64  // of all files, unpacked
	why     string // what to say when there are more
	files   int    // files and folders
	oneJSON int64  // bytes of one .json file
	allJSON int64  // bytes of all .json files
}

// bounds returns the limits of an archive or folder of the given size on the disk.
func (l ImportLimits) bounds(size int64) bounds {
	if l.Strict {
		size = 0
	}
	b := bounds{bytes: l.Bytes, files: l.Files}
	if b.bytes <= 0 {
		b.bytes = max(FreeBytes, size*maxRatio)
	}
	if b.files <= 0 {
		b.files = int(max(FreeFiles, size/bytesPerFile))
	}
	b.why = fmt.Sprintf("it unpacks to more than %d bytes", b.bytes)
	if l.Bytes <= 0 && !l.Strict {
		b.why += fmt.Sprintf(" (%d, or %d times its size)", FreeBytes, maxRatio)
	}
	free := max(freeJSON, l.Bytes/jsonShare)
	b.oneJSON = max(free, size)
	b.allJSON = free*jsonFiles + size
	return b
}

// errManyFiles returns the error for an archive or folder with too many files and folders.
func errManyFiles(most int) error {
	return fmt.Errorf("%w: it holds more than %d files and folders", ErrTooLarge, most)
}

// errLargeFile returns the error for a file that is larger than a value can be.
func errLargeFile(size int64) error {
	return fmt.Errorf("%w: the file has %d bytes; a value has at most %d", ErrTooLarge, size, objectdb.MaxValue)
}

// sizeCheck checks the size of one file after the other.
type sizeCheck struct {
	bounds bounds
	json   int64 // bytes of the .json files so far
}

// add returns an error if a file is too large.
func (s *sizeCheck) add(name string, size int64) error {
	if size > objectdb.MaxValue {
		return errLargeFile(size)
	}
	if path.Ext(name) != ".json" {
		return nil
	}
	s.json += size
	switch {
	case size > s.bounds.oneJSON:
		return fmt.Errorf("%w: a .json file has %d bytes; at most %d are allowed here", ErrTooLarge, size, s.bounds.oneJSON)
	case s.json > s.bounds.allJSON:
		return fmt.Errorf("%w: the .json files together have more than %d bytes", ErrTooLarge, s.bounds.allJSON)
	}
	return nil
}

// byteCheck counts the unpacked bytes of an archive that are written to it.
type byteCheck struct {
	bounds bounds
	bytes  int64
}

// Write returns an error if there are too many bytes.
func (c *byteCheck) Write(p []byte) (int, error) {
	if c.bytes += int64(len(p)); c.bytes > c.bounds.bytes {
		return 0, fmt.Errorf("%w: %s", ErrTooLarge, c.bounds.why)
	}
	return len(p), nil
}
