package httpform

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"strings"
)

// A SpooledPart is a part of a multipart form that lies in a file. Data is the text of a field and "" for a
// file, whose bytes are those of the form from Offset on.
type SpooledPart struct {
	Part
	Offset, Size int64
}

// Limits bound a form that is spooled: its parts, the bytes of one file and those of all fields together.
type Limits struct{ Parts, File, Text int64 }

// Spool writes a multipart form to w as it arrives, and returns its parts, in their order. It holds nothing of
// a file in memory. It returns a [LimitError] as soon as a limit is exceeded.
func Spool(w io.Writer, form io.Reader, boundary string, limits Limits) ([]SpooledPart, error) {
	if err := checkBoundary(boundary); err != nil {
		return nil, err
	}
	lines := &lineReader{from: bufio.NewReaderSize(io.TeeReader(form, w), 64<<10)}
	list, err := spoolParts(multipart.NewReader(lines, boundary), lines, limits)
	if err != nil {
		if lines.err != nil && lines.err != io.EOF {
			return nil, lines.err // not that of a mistake in the form
		}
		return nil, err
	}
	_, err = io.Copy(io.Discard, lines.from) // what follows the last boundary
	return list, err
}

func spoolParts(parts *multipart.Reader, lines *lineReader, limits Limits) ([]SpooledPart, error) {
	var list []SpooledPart
	text := int64(0)
	for {
		p, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, unreadable(err)
		}
		if int64(len(list)) == limits.Parts {
			return nil, &LimitError{Most: limits.Parts, what: "parts"}
		}
		s := SpooledPart{Part: newPart(p), Offset: lines.given}
		if s.File {
			s.Size, err = io.Copy(io.Discard, io.LimitReader(p, limits.File+1))
			if s.Size > limits.File {
				return nil, &LimitError{Most: limits.File, File: s.Name, IsFile: true}
			}
		} else {
			var data strings.Builder
			s.Size, err = io.Copy(&data, io.LimitReader(p, limits.Text-text+1))
			s.Data = data.String()
			if text += s.Size; text > limits.Text {
				return nil, &LimitError{Most: limits.Text, what: "bytes in its fields", IsText: true}
			}
		}
		if err != nil {
			return nil, unreadable(err)
		}
		list = append(list, s)
	}
}

func unreadable(err error) error { return fmt.Errorf("the multipart form cannot be read: %w", err) }

// A lineReader passes on one line at each Read. So a multipart reader that has read the head of a part has
// not read beyond it, and given is where the part's bytes begin.
type lineReader struct {
	from  *bufio.Reader
	line  []byte // what is left of the current one
	given int64
	err   error // of from, after the current line
}

func (l *lineReader) Read(p []byte) (int, error) {
	if len(l.line) == 0 {
		if l.err != nil {
			return 0, l.err
		}
		l.line, l.err = l.from.ReadSlice('\n')
		if l.err == bufio.ErrBufferFull {
			l.err = nil // a line that is longer comes in pieces
		}
		if len(l.line) == 0 {
			return 0, l.err
		}
	}
	n := copy(p, l.line)
	l.line = l.line[n:]
	l.given += int64(n)
	return n, nil
}
