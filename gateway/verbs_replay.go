package gateway

import (
	"bytes"
	"errors"
	"fmt"

	"scripter/requestlog"
	"scripter/runner"
	"scripter/script"
	"scripter/site"
)

var replayVerbs = []script.Verb{
	{
		Name: "webserver.debugCGI",
		Doc: "Runs the last request that Debugging has kept again, on today's scripts, and returns its " +
			"response. What it changes in the root is not kept.",
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
	recorded, err := lastRecorded(c)
	if err != nil {
		return err
	}
	if err := recorded.Incomplete(); err != nil {
		return err
	}
	w := boundedWriter{limit: c.Size(site.MaxResponse)}
	out, _ := c.g.Replay(c.Context(), recorded, &w, ReplayOptions{Developer: true, DocumentRoot: c.documentRoot()})
	if out.Broken {
		return fmt.Errorf("request %d: %w", recorded.Number, out.Err)
	}
	v.Return(w.String())
	return nil
}

// lastRecorded returns the last recorded request that is not the one that runs.
func lastRecorded(c *attempt) (*requestlog.Request, error) {
	if c.entry != nil && c.entry.Number > 0 {
		return requestlog.FindBefore(c.Tx, c.entry.Number)
	}
	return requestlog.Find(c.Tx, 0)
}

// boundedWriter holds a response up to a limit, in bytes.
type boundedWriter struct {
	bytes.Buffer
	limit runner.Bound
}

func (w *boundedWriter) Write(p []byte) (int, error) {
	if int64(w.Len()+len(p)) > w.limit.Most {
		return 0, w.limit.Error("the response is longer than %d bytes", w.limit.Most)
	}
	return w.Buffer.Write(p)
}

// WriteString is Write: without it the buffer's own would be taken.
func (w *boundedWriter) WriteString(s string) (int, error) { return w.Write([]byte(s)) }
