package gateway

import (
	"cmp"
	"context"

	"scripter/purge"
	"scripter/script"
)

var cacheVerbs = []script.Verb{
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
}

// verbFlushCache adds a page to what is purged after the commit.
func verbFlushCache(v *script.Call) error {
	c, err := hostOf(v)
	if err != nil {
		return err
	}
	caches, err := purge.Find(c.Site(), *c.g.reach.Load())
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
