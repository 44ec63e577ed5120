package gateway

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"scripter/httpheader"
	"scripter/script"
)

// errStopped is in every error that ends a run even if its script catches errors.
var errStopped = errors.New("the run was stopped")

// stopped makes an error end the run.
type stopped struct{ err error }

func (e stopped) Error() string   { return e.err.Error() }
func (e stopped) Unwrap() []error { return []error{errStopped, e.err} }

// sendPartial sends a piece of the response at once (specification, 2.2: the amount of data
// returned per partial-send call is the chunk size). The first piece begins with a head, or
// webserver.httpheader () is put in front of it. The first piece commits what the script has
// written so far; from then on the request cannot be run again.
func (c *attempt) sendPartial(data string) error {
	if c.out.w == nil {
		return errors.New("there is no client to send to")
	}
	// The script is not at fault if the visitor is slow.
	c.Suspend()
	defer c.Resume()
	begin, before := time.Now(), c.out.sent
	c.waited = 0
	defer func() { c.Thread.Postpone(min(time.Since(begin), c.waited+granted(c.out.sent-before))) }()
	if err := c.sendWritten(); err != nil {
		return err
	}
	return c.sendPiece(data)
}

// slowest is how many bytes per second a visitor must take. The time that a slower visitor
// takes counts as time of the script, so that nobody can occupy a worker for hours.
const slowest = 32 << 10

// granted returns how long a visitor may take for n bytes.
func granted(n int64) time.Duration {
	return time.Duration(float64(n) / slowest * float64(time.Second))
}

// sendWritten sends what scripts have written with the verb write.
func (c *attempt) sendWritten() error {
	w := c.TakeOutput()
	if w == nil {
		return nil
	}
	defer w.Close()
	if err := c.sendPiece(w.Head()); err != nil {
		return err
	}
	rest, err := w.Rest()
	if err != nil || rest == nil {
		return err
	}
	return c.stopOnError(c.out.copy(rest))
}

// sendPiece sends a piece of the body, the first one after the head.
func (c *attempt) sendPiece(data string) error {
	if c.out.started {
		return c.stopOnError(c.out.write(data))
	}
	resp, err := c.textResponse(data)
	if err != nil {
		return err
	}
	if err := c.completeType(resp, nil, true); err != nil {
		return err
	}
	length, err := declaredLength(resp)
	if err != nil {
		return err
	}
	c.completeTargets(resp)
	if err := c.finish(resp); err != nil {
		return err
	}
	if err := c.stream(resp, length); err != nil {
		return err
	}
	if c.out.nginx {
		resp.Set("X-Accel-Buffering", "no")
	}
	begin := time.Now()
	err = c.Flush()
	if c.waited = time.Since(begin); err != nil {
		return c.stopOnError(err)
	}
	if err := c.out.start(resp); err != nil {
		return c.stopOnError(err)
	}
	return c.stopOnError(c.out.flush())
}

// endStream ends a response of which the script has sent pieces. It sends what the script has
// returned, unless one of the pieces was the last one.
func (c *attempt) endStream(v script.Value) error {
	if err := c.storeLate(); err != nil {
		return err
	}
	v, err := forScript(v)
	if err != nil {
		return err
	}
	if c.ended {
		if v != nil && v != "" && !c.isQuiet() {
			c.g.log.Warn("the script's return value was dropped: sendPartial had sent the last piece (more = false)",
				"path", c.request.LogPath(), "script", c.answerer())
		}
		return c.out.whole()
	}
	if err := c.checkReturned(v); err != nil {
		return err
	}
	text, err := c.Thread.Text(v)
	if err != nil {
		return err
	}
	if err := c.sendWritten(); err != nil {
		return err
	}
	if text != "" {
		if err := c.out.write(text); err != nil {
			return err
		}
	}
	return c.out.whole()
}

// stream completes the head of a streamed response, which may break off later. A
// cache notices that only by the Content-Length. So no cache may store a response
// without one, whatever the script says.
func (c *attempt) stream(resp *httpheader.Response, length int64) error {
	switch {
	case bodyless(resp.Status):
		setNoLength(resp)
		return nil
	case length < 0:
		if cacheable(resp) {
			c.request.trace("streamed without a Content-Length: no cache may store it")
			if !c.isQuiet() {
				c.g.log.Warn("no cache may store a streamed response without a Content-Length: its Cache-Control was replaced",
					"path", c.request.LogPath())
			}
		}
		noStore(resp)
		return nil
	case int64(len(resp.Body)) > length:
		return fmt.Errorf("the first piece has %d bytes, but the response's Content-Length is %d", len(resp.Body), length)
	}
	resp.Set("Content-Length", strconv.FormatInt(length, 10))
	c.out.length = length
	return nil
}

// declaredLength returns the Content-Length that the script has set, or -1.
func declaredLength(resp *httpheader.Response) (int64, error) {
	length := int64(-1)
	for _, f := range resp.Fields {
		if !strings.EqualFold(f.Name, "Content-Length") {
			continue
		}
		n, err := strconv.ParseUint(f.Value, 10, 63)
		if err != nil || f.Value[0] == '+' {
			return 0, fmt.Errorf("the response's Content-Length is %.40q, not a number of bytes", f.Value)
		}
		if length >= 0 {
			return 0, errors.New("the response has two Content-Length fields")
		}
		length = int64(n)
	}
	return length, nil
}

// stopOnError ends the run if there is an error: the client is gone, or the request has lost a
// race and is run again.
func (c *attempt) stopOnError(err error) error {
	if err != nil {
		c.Thread.Stop(stopped{err})
	}
	return err
}
