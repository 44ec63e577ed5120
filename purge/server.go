package purge

import (
	"context"
	"fmt"
	"net/http"
)

// A PURGE request with this field and value is for all pages: see conf-examples/varnish.vcl.
const (
	flushField = "Scripter-Flush"
	flushAll   = "all"
)

// client uses no proxy and follows no redirect: requests go to the servers that are
// configured and to no others.
var client = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// purgeServer purges pages from a cache server, up to the first error.
func purgeServer(ctx context.Context, server string, pages []Page) error {
	for _, p := range pages {
		if err := purgePage(ctx, server, p); err != nil {
			return err
		}
	}
	return nil
}

func purgePage(ctx context.Context, server string, p Page) error {
	uri := p.URI
	if uri == "" {
		uri = "/"
	}
	req, err := http.NewRequestWithContext(ctx, "PURGE", server+uri, nil)
	if err != nil {
		return fmt.Errorf("purge %s: %w", uri, err)
	}
	req.Host = p.Host
	if p == (Page{}) {
		req.Header.Set(flushField, flushAll)
	}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("purge %s: %w", uri, err)
	}
	resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("purge %s: it answers %s; does it allow PURGE from here?", uri, resp.Status)
	}
	return nil
}
