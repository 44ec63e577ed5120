package gateway

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// spoolMemory is how much of a held text stays in memory, in bytes.
const spoolMemory = 256 << 10

// spoolBegin is what a spool takes at once, in bytes: most texts are shorter.
const spoolBegin = 4 << 10

// spool holds what a script writes until the commit: the beginning in
// memory, the rest in a temporary file that has no name and is gone with it.
type spool struct {
	head  strings.Builder
	file  *os.File
	size  int64
	limit bound // bytes
}

// write adds a text.
func (s *spool) write(text string) error {
	if s.size+int64(len(text)) > s.limit.most {
		return fmt.Errorf("%w; webserver.sendPartial has no such limit", s.limit.error("the response is longer than %d bytes", s.limit.most))
	}
	s.size += int64(len(text))
	if s.file == nil {
		n := min(spoolMemory-s.head.Len(), len(text))
		if s.head.Cap() == 0 {
			s.head.Grow(max(n, spoolBegin))
		}
		s.head.WriteString(text[:n])
		if text = text[n:]; text == "" {
			return nil
		}
		f, err := os.CreateTemp("", "scripter-response-")
		if err != nil {
			return fmt.Errorf("hold the response: %w", err)
		}
		s.file = f
		if err := os.Remove(f.Name()); err != nil {
			return fmt.Errorf("hold the response: %w", err)
		}
	}
	if _, err := s.file.WriteString(text); err != nil {
		return fmt.Errorf("hold the response: %w", err)
	}
	return nil
}

// rest gives what did not stay in memory; nil when all did.
func (s *spool) rest() (io.Reader, error) {
	if s.file == nil {
		return nil, nil
	}
	_, err := s.file.Seek(0, io.SeekStart)
	return s.file, err
}

func (s *spool) close() error {
	if s == nil || s.file == nil {
		return nil
	}
	return s.file.Close()
}

var errWritten = errors.New("a response table has its own body: write and a table cannot go together")
