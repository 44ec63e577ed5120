package gateway

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"scripter/autosave"
	"scripter/objectdb"
	"scripter/purge"
	"scripter/requestlog"
	"scripter/runner"
	"scripter/script"
	"scripter/site"
)

// siteVerbs are for the owner of a site: settings, the status of the process, caches in
// front of the web server, requests run again.
var siteVerbs = []script.Verb{
	{
		Name:    "webserver.getPref",
		Doc:     "A setting, else an object of user.webserver.prefs, else false.",
		Params:  []script.Param{script.Arg("name", "string", "in any case")},
		Results: script.Returns("any", ""),
		Example: `webserver.getPref ("chunkSize")`,
		Gives:   "24",
		Func:    verbGetPref,
	},
	{
		Name: "webserver.setDirtyRoot",
		Doc:  "Sets the dirty root flag, which tells the auto-save agent that there is something to save.",
		Example: `webserver.setDirtyRoot ()
return tostring (user.webserver.flDirtyRoot)`,
		Gives: "true",
		Func:  verbSetDirtyRoot,
	},
	{
		Name: "webserver.init",
		Doc: "Makes what is missing at user.webserver: settings with their defaults, and copies of " +
			"what lies at suites.webserver.data. Nothing that is there is touched.",
		Results: script.Returns("string[]", "the addresses of what was made"),
		Errors:  "an object at user.webserver where there should be a table",
		Example: `user.webserver.chunkSize = nil
return table.concat (webserver.init (), " ")`,
		Gives: "user.webserver.chunkSize",
		Func:  verbInit,
	},
	{
		Name: "webserver.statusReport",
		Doc: "What the web server is called, what this process has answered, and which switches are " +
			"on: lines of a name, a colon and a value.",
		Results: script.Returns("string", ""),
		Errors:  "outside a request",
		Example: `webserver.statusReport ():match ("^[^\n]*")`,
		Gives:   "Server: Test/1",
		Func:    verbStatusReport,
	},
	{
		Name: "webserver.flushCache",
		Doc: "Makes the caches in front of the web server forget one page, or all of them; done after " +
			"the request's changes are committed, before its response is sent.",
		Params: []script.Param{
			script.Opt("path", "string", `""`, `"/news.fcgi", of the host of this request, or "http://host/path"; `+
				`"" is everything. A cache that is a folder always forgets everything`),
		},
		Errors: "no cache is configured (cacheServers, cacheFolders), or one that scripter.conf does not " +
			"list; an invalid path; a call outside a request. If a cache does not answer, that is " +
			"only logged",
		Example: `local done, why = pcall (function () webserver.flushCache ("/news.fcgi") end)
return done and "flushed" or why:match ("no cache is configured")`,
		Gives: "no cache is configured",
		Func:  verbFlushCache,
	},
	{
		Name: "webserver.debugCGI",
		Doc: "Runs the last request that Debugging has recorded again, on today's scripts, and returns its " +
			"response. What it changes in the root is not kept.",
		Results: script.Returns("string", "the complete response, with errors in full"),
		Errors:  "no request is recorded; inside of a request that is itself run again",
		Example: `local ok, message = pcall (function () return webserver.debugCGI () end)
return (message:match ("no such.*"))`,
		Gives: "no such request is recorded: scratchpad.cgiparamsLog is empty",
		Func:  verbDebugCGI,
	},
}

func verbGetPref(v *script.Call) error {
	tx, name := v.Thread().Tx(), v.String(1)
	for _, set := range site.Settings {
		if objectdb.Fold(set.Name) == objectdb.Fold(name) {
			s, err := siteOf(v.Thread())
			if err != nil {
				return err
			}
			v.Return(s.Value(set))
			return nil
		}
	}
	n, err := tx.Find(objectdb.Address{"user", "webserver", "prefs", name})
	if err != nil && !objectdb.IsMissing(err) {
		return err
	}
	if err == nil && n.Kind() != objectdb.KindTable {
		value, err := tx.Value(n)
		if err != nil {
			return err
		}
		if t, ok := value.(objectdb.Text); ok {
			value = objectdb.String(t)
		}
		v.Return(value)
		return nil
	}
	v.Return(false)
	return nil
}

func verbSetDirtyRoot(v *script.Call) error {
	return autosave.SetDirtyRoot(v.Thread().Tx())
}

func verbInit(v *script.Call) error {
	tx := v.Thread().Tx()
	made := script.NewTable()
	for _, s := range site.Settings {
		_, err := tx.Stat(s.Address())
		if errors.Is(err, objectdb.ErrNotFound) {
			err = tx.Put(s.Address(), s.Default)
			made.Append(s.Address().String())
		}
		if err != nil {
			return err
		}
	}
	if err := addMissing(tx, suppliedData, objectdb.Address{"user", "webserver"}, made); err != nil {
		return err
	}
	v.Return(made)
	return nil
}

// suppliedData is the table of the objects that a root has at user.webserver in the beginning.
var suppliedData = objectdb.Address{"suites", "webserver", "data"}

// addMissing copies the objects of from that to does not have, and adds their addresses to
// made.
func addMissing(tx *objectdb.Tx, from, to objectdb.Address, made *script.Table) error {
	list, err := tx.List(from)
	if err != nil {
		return err
	}
	for _, o := range list {
		source, target := from.Child(o.Name), to.Child(o.Name)
		there, err := tx.Stat(target)
		switch {
		case errors.Is(err, objectdb.ErrNotFound):
			err = tx.Copy(source, target)
			made.Append(target.String())
		case err == nil && o.Kind == objectdb.KindTable && there.Kind == objectdb.KindTable:
			err = addMissing(tx, source, target, made)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func verbStatusReport(v *script.Call) error {
	c, err := hostOf(v)
	if err != nil {
		return err
	}
	server := c.request.Params["SERVER_SOFTWARE"]
	if server == "" {
		server = c.server()
	}
	var b strings.Builder
	line := func(name string, value any) { fmt.Fprintf(&b, "%s: %v\n", name, value) }
	line("Server", server)
	line("Root", c.g.db.Path())
	line("Process since", c.g.started.UTC().Format(time.DateTime))
	answered, failed := c.g.metrics.Requests()
	line("Requests answered", answered)
	line("Requests failed", failed)
	line("Requests running", c.g.metrics.Running.Load())
	for _, s := range []*site.Setting{
		site.FlRefuseConnections, site.FlSuspendLogging, site.FlVerboseMessages, site.FlDebug, site.FlScriptTrap,
	} {
		line(s.Title, c.Site().Flag(s))
	}
	v.Return(b.String())
	return nil
}

// verbFlushCache adds a page to what is purged after the commit.
func verbFlushCache(v *script.Call) error {
	c, err := hostOf(v)
	if err != nil {
		return err
	}
	caches, err := purge.Find(c.Site(), c.g.Reach())
	if err != nil {
		return err
	}
	host := cmp.Or(c.request.Params["HTTP_HOST"], c.request.Params["SERVER_NAME"])
	page, err := purge.ParsePage(v.OptString(1, ""), host)
	if err != nil {
		return err
	}
	c.purges.Add(page, caches)
	return nil
}

// purgeCaches purges what the scripts have asked for. The request is committed by then:
// the purge goes on if the client leaves, and a cache that fails is only logged.
func (c *attempt) purgeCaches(ctx context.Context) {
	if c.isDry() {
		return
	}
	c.purges.Purge(context.WithoutCancel(ctx), func(cache string, err error) {
		if !c.isQuiet() {
			c.g.log.Error("cache not flushed", "cache", cache, "path", c.request.LogPath(), "err", err)
		}
	})
}

// verbDebugCGI is debugCGI of the CGI Framework, which ran the handler again on
// scratchpad.cgiparams, so that a script could be debugged.
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
	o := ReplayOptions{Developer: true, DocumentRoot: c.documentRoot(), inner: true}
	if c.test != nil {
		o.test = c.Run
	}
	out, _ := c.g.Replay(c.Context(), recorded, &w, o)
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

// boundedWriter holds a response, up to a limit of bytes.
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

// WriteString is Write. Without it io.WriteString would call the method of the buffer.
func (w *boundedWriter) WriteString(s string) (int, error) { return w.Write([]byte(s)) }
