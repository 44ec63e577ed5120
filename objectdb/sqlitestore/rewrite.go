package sqlitestore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"scripter/objectdb"
)

// rewriteWAL repairs the WAL after a failed sync: it writes the present bytes of the WAL
// again and syncs them. The caller holds the writer's lock. frames is the number of frames
// that SQLite knows of. If the kernel has dropped pages from memory that it could not
// write, the checksums of their frames are wrong.
func (c *conn) rewriteWAL(frames int64) error {
	if c.wal == nil {
		return nil // SQLite has written and synced the root itself
	}
	f, err := os.OpenFile(c.c.GetFilename("main")+"-wal", os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("%w: %w", objectdb.ErrDisk, err)
	}
	defer f.Close()
	sound, err := soundFrames(f)
	if err != nil {
		return fmt.Errorf("%w: %w", objectdb.ErrDisk, err)
	}
	if sound < frames {
		return fmt.Errorf("%w: the disk has lost %d of %d pages that were committed lately; "+
			"end all programs that use it, and go back to a saved copy", objectdb.ErrDamaged, frames-sound, frames)
	}
	buf := make([]byte, 1<<20)
	for at := int64(0); ; {
		n, err := f.ReadAt(buf, at)
		if n > 0 {
			if _, err := f.WriteAt(buf[:n], at); err != nil {
				return fmt.Errorf("%w: %w", objectdb.ErrDisk, err)
			}
			at += int64(n)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("%w: %w", objectdb.ErrDisk, err)
		}
	}
	if err := syncData(f); err != nil {
		return fmt.Errorf("%w: %w", errUnsynced, err)
	}
	return nil
}

// The form of a WAL: https://www.sqlite.org/fileformat2.html#the_write_ahead_log.
const (
	walHeaderSize   = 32
	frameHeaderSize = 24
	walMagic        = 0x377f0682 // the lowest bit is the byte order of the checksums
)

// soundFrames returns how many frames at the beginning of a WAL have the salt of its
// header and the right checksum.
func soundFrames(r io.ReaderAt) (frames int64, err error) {
	var head [walHeaderSize]byte
	if _, err := r.ReadAt(head[:], 0); err != nil {
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return 0, err
	}
	magic := binary.BigEndian.Uint32(head[:])
	pageSize := binary.BigEndian.Uint32(head[8:])
	if magic&^1 != walMagic || pageSize < 512 || pageSize > 1<<16 || pageSize&(pageSize-1) != 0 {
		return 0, nil
	}
	sum := walSum{order: binary.LittleEndian}
	if magic&1 != 0 {
		sum.order = binary.BigEndian
	}
	sum.add(head[:24])
	if !sum.is(head[24:]) {
		return 0, nil
	}
	frame := make([]byte, frameHeaderSize+int(pageSize))
	for at := int64(walHeaderSize); ; at += int64(len(frame)) {
		if _, err := r.ReadAt(frame, at); err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return frames, err
		}
		if string(frame[8:16]) != string(head[16:24]) {
			return frames, nil
		}
		sum.add(frame[:8])
		sum.add(frame[frameHeaderSize:])
		if !sum.is(frame[16:]) {
			return frames, nil
		}
		frames++
	}
}

// walSum is the running checksum of a WAL.
type walSum struct {
	order  binary.ByteOrder
	s0, s1 uint32
}

// add adds b to the sum; the length of b is a multiple of eight.
func (s *walSum) add(b []byte) {
	for ; len(b) >= 8; b = b[8:] {
		s.s0 += s.order.Uint32(b) + s.s1
		s.s1 += s.order.Uint32(b[4:]) + s.s0
	}
}

// is reports whether b begins with the sum.
func (s *walSum) is(b []byte) bool {
	return binary.BigEndian.Uint32(b) == s.s0 && binary.BigEndian.Uint32(b[4:]) == s.s1
}
