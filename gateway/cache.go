package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"scripter/script"
	"scripter/site"
)

// Flushing happens while the visitor waits, so its time is bounded.
const (
	purgeTime      = 2 * time.Second // of all servers together
	emptyTime      = 5 * time.Second // of all folders together
	maxFlushes     = 100             // of one request; more are one of everything
	flushAllField  = "Scripter-Flush"
	flushAllAnswer = "all"
)

var cacheVerbs = []script.Verb{
	{
		Name: "webserver.flushCache",
		Doc: "Makes the caches in front of the web server forget one page, or all of them; done after " +
			"the request's changes are committed, before its response is sent.",
		Params: []script.Param{
			script.Opt("path", "string", `""`, `"/news.fcgi", of the host of this request, or "http://host/path"; "" is everything. A cache that is a folder always forgets everything`),
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

func verbFlushCache(v *script.Call) error {
	c, err := hostOf(v)
	if err != nil {
		return err
	}
	return c.flushCache(v.OptString(1, ""))
}

// flush is one page to be forgotten; the empty one is everything.
type flush struct{ host, path string }

// flushes are what one run asked for.
type flushes struct {
	pages            []flush
	servers, folders []string // as configured when it was asked for
}

// flushCache notes what the caches are to forget after the commit.
func (c *attempt) flushCache(target string) error {
	servers, folders := c.Site().Strings(site.CacheServers), c.Site().Strings(site.CacheFolders)
	if len(servers)+len(folders) == 0 {
		return errors.New("no cache is configured: user.webserver.cacheServers lists Varnish servers, user.webserver.cacheFolders the cache folders of nginx and mod_cache")
	}
	for _, server := range servers {
		if err := c.g.reach.Load().Check(site.CacheServers.Name, site.KeyCache, server); err != nil {
			return err
		}
	}
	for _, folder := range folders {
		if err := c.g.reach.Load().Check(site.CacheFolders.Name, site.KeyCacheFolder, folder); err != nil {
			return err
		}
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			return fmt.Errorf("flush the cache folder %s (user.webserver.cacheFolders): it is no folder on this machine", folder)
		}
	}
	f, err := flushOf(target, c.request)
	if err != nil {
		return err
	}
	c.flushes.servers, c.flushes.folders = servers, folders
	switch pages := c.flushes.pages; {
	case slices.Contains(pages, f), slices.Contains(pages, flush{}):
	case f == (flush{}), len(pages) >= maxFlushes:
		c.flushes.pages = []flush{{}}
	default:
		c.flushes.pages = append(pages, f)
	}
	return nil
}

// flushOf reads the argument of flushCache.
func flushOf(target string, r *Request) (flush, error) {
	if target == "" {
		return flush{}, nil
	}
	u, err := url.ParseRequestURI(target)
	switch {
	case err != nil:
		return flush{}, fmt.Errorf("flush %s: it is no path such as /news.fcgi", quote(target))
	case u.Scheme == "" && u.Host == "" && strings.HasPrefix(u.Path, "/"):
		host := r.Params["HTTP_HOST"]
		if host == "" {
			host = r.Params["SERVER_NAME"]
		}
		return flush{host, u.RequestURI()}, nil
	case (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil:
		return flush{u.Host, u.RequestURI()}, nil
	}
	return flush{}, fmt.Errorf("flush %s: it is neither a path such as /news.fcgi nor an http address", quote(target))
}

// flushCaches does what was noted. The request is committed by then, so a
// cache that fails is told to the log.
func (c *attempt) flushCaches(ctx context.Context) {
	if c.flushes.pages == nil || c.isDry() {
		return
	}
	ctx = context.WithoutCancel(ctx) // the page has changed, whether its writer waits or not
	failed := func(cache string, err error) {
		if c.isQuiet() {
			return
		}
		c.g.log.Error("cache not flushed", "cache", cache, "path", c.request.LogPath(), "err", err)
	}
	var wait sync.WaitGroup
	purging, cancel := context.WithTimeout(ctx, purgeTime)
	defer cancel()
	for _, server := range c.flushes.servers {
		wait.Go(func() {
			for _, f := range c.flushes.pages {
				if err := purge(purging, site.ServerURL(server), f); err != nil {
					failed(server, err)
					return
				}
			}
		})
	}
	emptying, cancel := context.WithTimeout(ctx, emptyTime)
	defer cancel()
	for _, folder := range c.flushes.folders {
		listed, err := c.g.reach.Load().CacheFolderAbove(folder)
		if err == nil {
			err = emptyCacheFolder(emptying, listed, folder)
		}
		if err != nil {
			failed(folder, err)
		}
	}
	wait.Wait()
}

// purger sends the requests. It knows no proxy and follows no redirect: they
// go to the servers that are configured and to no others.
var purger = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// purge tells one cache server to forget one page, or everything, in the
// words that conf-examples/varnish.vcl understands.
func purge(ctx context.Context, server string, f flush) error {
	path := f.path
	if path == "" {
		path = "/"
	}
	req, err := http.NewRequestWithContext(ctx, "PURGE", server+path, nil)
	if err != nil {
		return fmt.Errorf("purge %s: %w", path, err)
	}
	req.Host = f.host
	if f == (flush{}) {
		req.Header.Set(flushAllField, flushAllAnswer)
	}
	resp, err := purger.Do(req)
	if err != nil {
		return fmt.Errorf("purge %s: %w", path, err)
	}
	resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("purge %s: it answers %s; does it allow PURGE from here?", path, resp.Status)
	}
	return nil
}
