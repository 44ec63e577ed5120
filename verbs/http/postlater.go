package http

import (
	"errors"
	"net/http"

	"scripter/fetch"
	"scripter/outbox"
	"scripter/script"
)

// laterVerbs are the verbs that ask other hosts after the commit.
var laterVerbs = []script.Verb{
	{
		Name: "http.post_later",
		Doc: "Writes an HTTP request into the outbox, from where it is made once the request's changes are committed, " +
			"and made again until the other host takes it. A request that fails posts nothing.",
		Params: []script.Param{
			script.Arg("url", "string", "of a host that scripter.conf lists (fetch, fetch-private)"),
			script.Opt("options", "table", "", "those of http.fetch; the method is POST without them"),
		},
		Results: script.Returns("string", "the key of the post, which is also in its field Idempotency-Key"),
		Errors: "a host that scripter.conf does not list, an unknown option, a field that no request can have, a body " +
			"larger than maxMail, a full outbox",
		Example: `local ok, why = pcall (function ()
  return http.post_later ("https://hooks.example.com/x", {json = {n = 1}})
end)
return ok and "it waits" or why:match ("scripter.conf lists: add the line.*there")`,
		Gives: `scripter.conf lists: add the line "fetch: hooks.example.com" there`,
		Func:  postLater,
	},
}

func postLater(c *script.Call) error {
	r, err := ReadRequest(c, 1, 2)
	if err != nil {
		return err
	}
	if t := c.OptTable(2); t == nil || t.Get("method") == nil {
		r.Method = http.MethodPost
	}
	host, ok := c.Thread().Host().(outbox.Host)
	if !ok {
		return errors.New("this verb works only while a request is answered")
	}
	client := fetch.New(fetch.Options{Reach: host.Reach()})
	if _, err := client.Check(r.URL); err != nil {
		return err
	}
	if err := r.Check(); err != nil {
		return err
	}
	later := outbox.Request{Method: r.Method, URL: r.URL, Header: r.Header, Timeout: r.Timeout,
		Redirects: r.Redirects, Body: r.Body}
	row, cells, err := later.Row()
	if err != nil {
		return err
	}
	key, err := host.Batch().Add(c.Thread().Tx(), host.Site(), c.Thread().Now(), row, cells)
	c.Return(key)
	return err
}
