package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"scripter/objectdb"
	"scripter/script"
)

// Caches in front of the web server (specification, 1.4 and 4.3): what a
// script lets them keep, it can take back.
var (
	cacheServers = &Setting{Name: "cacheServers", Default: objectdb.List{}, Title: "Cache servers",
		Meaning: "the Varnish servers to which webserver.flushCache sends PURGE, such as http://127.0.0.1:6082; " +
			"each must be listed in scripter.conf",
		Check: checkCacheServers}
	cacheFolders = &Setting{Name: "cacheFolders", Default: objectdb.List{}, Title: "Cache folders",
		Meaning: "the folders of nginx's or mod_cache's caches on this machine from which webserver.flushCache " +
			"removes the cache files; each must be listed in scripter.conf",
		Check: checkCacheFolders}
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
		Name:   "webserver.flushCache",
		Doc:    "Makes the caches in front of the web server forget one page, or all of them; done after the request's changes are committed, before its response is sent.",
		Params: []script.Param{script.Opt("path", "string", `""`, `"/news.fcgi", of the host of this request, or "http://host/path"; "" is everything. A cache that is a folder always forgets everything`)},
		Errors: "no cache is configured (cacheServers, cacheFolders), or one that scripter.conf does not list; an invalid path; a call outside a request. If a cache does not answer, that is only logged",
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
	servers, folders := c.settings.list(cacheServers), c.settings.list(cacheFolders)
	if len(servers)+len(folders) == 0 {
		return errors.New("no cache is configured: user.webserver.cacheServers lists Varnish servers, user.webserver.cacheFolders the cache folders of nginx and mod_cache")
	}
	for _, server := range servers {
		if err := c.g.reach.Load().listed(cacheServers.Name, keyCache, server); err != nil {
			return err
		}
	}
	for _, folder := range folders {
		if err := c.g.reach.Load().listed(cacheFolders.Name, keyCacheFolder, folder); err != nil {
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
				if err := purge(purging, serverURL(server), f); err != nil {
					failed(server, err)
					return
				}
			}
		})
	}
	emptying, cancel := context.WithTimeout(ctx, emptyTime)
	defer cancel()
	for _, folder := range c.flushes.folders {
		listed, err := c.g.reach.Load().cacheFolderAbove(folder)
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

// serverURL makes "host:port" an http address and leaves out a slash at the end.
func serverURL(server string) string {
	if !strings.Contains(server, "://") {
		server = "http://" + server
	}
	return strings.TrimSuffix(server, "/")
}

func checkCacheServers(v objectdb.Value) error {
	return eachText(v, func(server string) error {
		_, err := cacheAddress(server)
		return err
	})
}

func checkCacheFolders(v objectdb.Value) error {
	return eachText(v, func(folder string) error {
		if clean := filepath.Clean(folder); !filepath.IsAbs(folder) || clean == filepath.Dir(clean) {
			return fmt.Errorf("%.100q is no whole path of a cache's folder, such as /var/cache/nginx/scripter", folder)
		}
		return nil
	})
}

// eachText checks the elements of a list, which must be texts.
func eachText(v objectdb.Value, check func(string) error) error {
	for i, e := range v.(objectdb.List) {
		s, ok := e.(objectdb.String)
		if !ok {
			return fmt.Errorf("element %d is a %s, not a string", i+1, e.Kind())
		}
		if err := check(string(s)); err != nil {
			return err
		}
	}
	return nil
}

// list reads a setting that is a list of texts.
func (s settings) list(set *Setting) []string {
	var texts []string
	for _, e := range s.value(set).(objectdb.List) {
		texts = append(texts, string(e.(objectdb.String)))
	}
	return texts
}
