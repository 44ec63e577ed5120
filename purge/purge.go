// Package purge removes pages from the caches in front of a web server. It sends PURGE
// requests to cache servers such as Varnish, and removes all pages from the folders in which
// nginx or Apache keeps a cache.
//
// A [List] collects the pages that a request wants to purge, until its changes are committed.
package purge

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"scripter/site"
)

// The visitor waits while caches are purged.
const (
	serversTime = 2 * time.Second // for all servers together
	foldersTime = 5 * time.Second // for all folders together
	maxPages    = 100             // in a List; more stand for all pages
)

// A Page is a page of a host. The zero Page stands for all pages.
type Page struct {
	Host string
	URI  string // path and query
}

// ParsePage returns the page that target names: "/news.fcgi" of host,
// "http://other/news.fcgi", or "" for all pages.
func ParsePage(target, host string) (Page, error) {
	if target == "" {
		return Page{}, nil
	}
	u, err := url.ParseRequestURI(target)
	switch {
	case err != nil:
		return Page{}, fmt.Errorf("flush %.200q: it is not a path such as /news.fcgi", target)
	case u.Scheme == "" && u.Host == "" && strings.HasPrefix(u.Path, "/"):
		return Page{host, u.RequestURI()}, nil
	case (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil:
		return Page{u.Host, u.RequestURI()}, nil
	}
	return Page{}, fmt.Errorf("flush %.200q: it is neither a path such as /news.fcgi nor an http address", target)
}

// Caches are the caches of a site.
type Caches struct {
	servers []string
	folders []folder
}

// Find returns the caches that the settings of a site name. It returns an error if they
// name none, or one that reach does not list, or a folder that does not exist.
func Find(s *site.Snapshot, reach site.Reach) (Caches, error) {
	c := Caches{servers: s.Strings(site.CacheServers)}
	folders := s.Strings(site.CacheFolders)
	if len(c.servers)+len(folders) == 0 {
		return c, errors.New("no cache is configured: user.webserver.cacheServers lists Varnish servers, " +
			"user.webserver.cacheFolders the cache folders of nginx and mod_cache")
	}
	for _, server := range c.servers {
		if err := reach.Check(site.CacheServers.Name, site.KeyCache, server); err != nil {
			return c, err
		}
	}
	for _, path := range folders {
		listed, err := reach.CacheFolderAbove(path)
		if err != nil {
			return c, err
		}
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			return c, fmt.Errorf("flush the cache folder %s (user.webserver.cacheFolders): "+
				"it is not a folder on this machine", path)
		}
		c.folders = append(c.folders, folder{path, listed})
	}
	return c, nil
}

// A List holds pages to purge. The zero List is empty.
type List struct {
	pages  []Page
	caches Caches
}

// Add adds a page. The whole list is purged from the caches that were given last.
func (l *List) Add(p Page, from Caches) {
	l.caches = from
	switch {
	case slices.Contains(l.pages, p), slices.Contains(l.pages, Page{}):
	case p == (Page{}), len(l.pages) >= maxPages:
		l.pages = []Page{{}}
	default:
		l.pages = append(l.pages, p)
	}
}

// Purge purges the pages from all caches, from the servers in parallel. For each cache that
// fails it calls failed, from any goroutine.
func (l *List) Purge(ctx context.Context, failed func(cache string, err error)) {
	if l.pages == nil {
		return
	}
	var wait sync.WaitGroup
	serversCtx, cancel := context.WithTimeout(ctx, serversTime)
	defer cancel()
	for _, server := range l.caches.servers {
		wait.Go(func() {
			if err := purgeServer(serversCtx, site.ServerURL(server), l.pages); err != nil {
				failed(server, err)
			}
		})
	}
	foldersCtx, cancel := context.WithTimeout(ctx, foldersTime)
	defer cancel()
	for _, f := range l.caches.folders {
		if err := f.empty(foldersCtx); err != nil {
			failed(f.path, err)
		}
	}
	wait.Wait()
}
