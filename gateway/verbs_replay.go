package gateway

import (
	"bytes"
	"errors"
	"fmt"

	"scripter/objectdb"
	"scripter/script"
)

var debugVerbs = []script.Verb{
	{
		Name:    "webserver.debugCGI",
		Doc:     "Runs the last request that Debugging has kept again, on today's scripts, and returns its response. What it changes in the root is not kept.",
		Results: script.Returns("string", "the complete response, with errors in full"),
		Errors:  "no request is kept; inside of a request that is itself run again",
		Example: `local ok, message = pcall (function () return webserver.debugCGI () end)
return (message:match ("no such.*"))`,
		Gives: "no such request is kept: scratchpad.cgiparamsLog is empty",
		Func:  verbDebugCGI,
	},
}

// verbDebugCGI is debugCGI of the CGI Framework: there it ran the handler
// again on scratchpad.cgiparams, so that a script could be followed.
func verbDebugCGI(v *script.Call) error {
	c, err := hostOf(v)
	if err != nil {
		return err
	}
	if c.replay != nil {
		return errors.New("this request is run again itself")
	}
	number := 0
	if c.entry != nil && c.entry.Number > 0 {
		if number, err = numberBefore(c.Tx, c.entry.Number); err != nil {
			return err
		}
	}
	k, err := KeptRequest(c.Tx, number)
	if err != nil {
		return err
	}
	if err := k.Incomplete(); err != nil {
		return err
	}
	w := boundedWriter{limit: c.limits.size(maxResponse)}
	out, _ := c.g.Replay(c.Context(), k, &w, ReplayOptions{Developer: true, DocumentRoot: c.documentRoot()})
	if out.Broken {
		return fmt.Errorf("request %d: %w", k.Number, out.Err)
	}
	v.Return(w.String())
	return nil
}

// numberBefore gives the number of the last kept request before one.
func numberBefore(tx *objectdb.Tx, number int) (int, error) {
	numbers, err := keptNumbers(tx)
	if err != nil {
		return 0, err
	}
	before := 0
	for _, n := range numbers {
		if n < number {
			before = n
		}
	}
	if before == 0 {
		return 0, fmt.Errorf("%w before this one", ErrNotKept)
	}
	return before, nil
}

// boundedWriter holds a response up to a limit, in bytes.
type boundedWriter struct {
	bytes.Buffer
	limit bound
}

func (w *boundedWriter) Write(p []byte) (int, error) {
	if int64(w.Len()+len(p)) > w.limit.most {
		return 0, w.limit.error("the response is longer than %d bytes", w.limit.most)
	}
	return w.Buffer.Write(p)
}

// WriteString is Write: without it the buffer's own would be taken.
func (w *boundedWriter) WriteString(s string) (int, error) { return w.Write([]byte(s)) }
