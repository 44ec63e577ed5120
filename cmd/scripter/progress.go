package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

// progress draws a bar for work that takes longer than a second, and only
// on a terminal. When the work is done, nothing of it is left to see.
type progress struct {
	w           io.Writer // nil: there is no terminal
	now         func() time.Time
	what        string
	done, total int64 // total 0: not known
	start, last time.Time
}

const (
	progressAfter = time.Second
	progressEvery = 100 * time.Millisecond
	progressWidth = 30
)

// progress begins a piece of work of total steps or bytes.
func (t *tool) progress(what string, total int64) *progress {
	p := &progress{now: time.Now, what: what, total: total}
	if isTerminal(t.err) {
		p.w = t.err
	}
	p.start = p.now()
	return p
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && f != nil && term.IsTerminal(int(f.Fd()))
}

// add counts n more steps as done.
func (p *progress) add(n int64) {
	p.done += n
	if p.w == nil {
		return
	}
	now := p.now()
	if now.Sub(p.start) < progressAfter || now.Sub(p.last) < progressEvery {
		return
	}
	p.last = now
	// The line is cut short for a narrow terminal; what stood there is erased.
	fmt.Fprintf(p.w, "\r\x1b[K%s", p.line())
}

// Write counts bytes, for io.TeeReader.
func (p *progress) Write(b []byte) (int, error) {
	p.add(int64(len(b)))
	return len(b), nil
}

func (p *progress) line() string {
	if p.total <= 0 {
		return fmt.Sprintf("%s %d", p.what, p.done)
	}
	share := min(float64(p.done)/float64(p.total), 1)
	full := int(share * progressWidth)
	return fmt.Sprintf("%s [%s%s] %3.0f %%",
		p.what, strings.Repeat("#", full), strings.Repeat(".", progressWidth-full), share*100)
}

// end removes the bar.
func (p *progress) end() {
	if p.w != nil && !p.last.IsZero() {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
	p.w = nil
}
