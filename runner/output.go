package runner

import (
	"fmt"
	"io"
	"os"
	"strings"
)

const (
	outputMemory = 256 << 10 // how much of an output stays in memory, in bytes
	outputBegin  = 4 << 10   // the first buffer, in bytes: most outputs are shorter
)

// Output is the text that scripts write during a run: the beginning in memory, the
// rest in a temporary file that has no name and disappears with the process. A nil
// Output is empty.
type Output struct {
	head    strings.Builder
	file    *os.File
	size    int64
	most    int64 // bytes
	tooLong func() error
}

// StartOutput gives the run an empty Output for up to most bytes. A Write that exceeds
// them returns the error that tooLong returns.
func (r *Run) StartOutput(most int64, tooLong func() error) *Output {
	r.output = &Output{most: most, tooLong: tooLong}
	return r.output
}

// Output returns what scripts have written, nil if StartOutput was not called.
func (r *Run) Output() *Output { return r.output }

// TakeOutput returns what scripts have written and removes it from the run. The caller
// closes it.
func (r *Run) TakeOutput() *Output {
	o := r.output
	r.output = nil
	return o
}

// Write adds a text.
func (o *Output) Write(text string) error {
	if o.size+int64(len(text)) > o.most {
		return o.tooLong()
	}
	o.size += int64(len(text))
	if o.file == nil {
		n := min(outputMemory-o.head.Len(), len(text))
		if o.head.Cap() == 0 {
			o.head.Grow(max(n, outputBegin))
		}
		o.head.WriteString(text[:n])
		if text = text[n:]; text == "" {
			return nil
		}
		f, err := TempFile("scripter-response-")
		if err != nil {
			return fmt.Errorf("hold the response: %w", err)
		}
		o.file = f
	}
	if _, err := o.file.WriteString(text); err != nil {
		return fmt.Errorf("hold the response: %w", err)
	}
	return nil
}

// Head returns the beginning of the text, which is in memory.
func (o *Output) Head() string { return o.head.String() }

// InMemory reports whether Head is all of the text.
func (o *Output) InMemory() bool { return o == nil || o.file == nil }

// Rest returns a reader of what follows Head, from its beginning; nil if nothing does.
func (o *Output) Rest() (io.Reader, error) {
	if o.InMemory() {
		return nil, nil
	}
	_, err := o.file.Seek(0, io.SeekStart)
	return o.file, err
}

// RestSize returns how many bytes follow Head.
func (o *Output) RestSize() int64 {
	if o == nil {
		return 0
	}
	return o.size - int64(o.head.Len())
}

// RestText returns what follows Head.
func (o *Output) RestText() (string, error) {
	rest, err := o.Rest()
	if err != nil || rest == nil {
		return "", err
	}
	text, err := io.ReadAll(rest)
	if err != nil {
		return "", fmt.Errorf("read the held response: %w", err)
	}
	return string(text), nil
}

// Text returns all of the text.
func (o *Output) Text() (string, error) {
	if o == nil {
		return "", nil
	}
	rest, err := o.RestText()
	return o.Head() + rest, err
}

// Close removes the temporary file.
func (o *Output) Close() error {
	if o.InMemory() {
		return nil
	}
	return o.file.Close()
}
