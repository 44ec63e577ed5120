package gateway

import (
	"context"
	"errors"
	"sync"
	"time"

	"scripter/fetch"
	"scripter/probe"
	"scripter/site"
)

// How long all hosts and databases may take that Outside tries, and how many it tries.
const (
	tryTime = 3 * time.Second
	maxTry  = 50
)

// Outside tries to reach the hosts and databases that are listed for the root, all at the same time.
func (g *Gateway) Outside(ctx context.Context) []probe.Outside {
	ctx, cancel := context.WithTimeout(ctx, tryTime)
	defer cancel()
	reach := g.Reach()
	var list []probe.Outside
	var tries []func() error
	add := func(line string, try func() error) {
		list, tries = append(list, probe.Outside{Line: line}), append(tries, try)
	}
	client := g.Fetcher()
	for _, rule := range reach.Fetch {
		add(site.KeyFetch+": "+rule, func() error { return client.Reach(ctx, rule) })
	}
	for _, rule := range reach.FetchPrivate {
		add(site.KeyFetchPrivate+": "+rule, func() error { return client.Reach(ctx, rule) })
	}
	for _, d := range reach.Databases {
		add(site.KeyDatabase+": "+d.String(), func() error { return g.databases.Ping(ctx, d) })
	}
	var all sync.WaitGroup
	for i, try := range tries {
		if i >= maxTry {
			list[i].Untried = true
			continue
		}
		all.Go(func() {
			switch err := try(); {
			case errors.Is(err, fetch.ErrGroup):
				list[i].Untried = true
			case ctx.Err() != nil && err != nil:
				list[i].Failure = "no answer within " + tryTime.String()
			case err != nil:
				list[i].Failure = err.Error()
			}
		})
	}
	all.Wait()
	return list
}
