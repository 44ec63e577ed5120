// Package http has the verbs that ask other hosts.
package http

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"scripter/fetch"
	"scripter/script"
	"scripter/verbs/form"
	"scripter/verbs/json"
)

// Verbs are the verbs of the group.
var Verbs = slices.Concat(fetchVerbs, laterVerbs)

var fetchVerbs = []script.Verb{
	{
		Name: "http.fetch",
		Doc: "Asks another host, one that scripter.conf lists (fetch, fetch-private), and gives its answer. If there " +
			"is none, it gives nil and the reason. A status such as 404 is an answer. If the request is run again, " +
			"because another one was faster, it gets the same answer without asking again.",
		Params: []script.Param{
			script.Arg("url", "string", "http:// or https://, with neither user nor password"),
			script.Opt("options", "table", "", "method (GET, or POST if there is a body); headers and query, tables of "+
				"texts; body, form or json; timeout, in seconds; redirects, how many are followed (5)"),
		},
		Results: []script.Param{
			{Name: "answer", Type: "fetched|nil", Doc: "a table: status; headers by their names in lower case; body; " +
				"url, the last one after redirects; json (), the decoded body, as params.json has it"},
			{Name: "why", Type: "string|nil", Doc: "why there is no answer"},
		},
		Errors: "a host that scripter.conf does not list, or that has a private address; an unknown option; a name or a " +
			"value that no header can have; more than maxFetches calls; an answer that is larger than maxFetchSize",
		Example: `local ok, why = pcall (function () http.fetch ("https://api.example.com/rates") end)
return (why:match ("scripter.conf lists.*there"))`,
		Gives: `scripter.conf lists: add the line "fetch: api.example.com" there`,
		Func:  verbFetch,
	},
}

// A Host is what makes the requests of a thread: its Host must be one.
type Host interface {
	// Fetch makes a request. The error is a *Unanswered if the other host is the reason.
	Fetch(t *script.Thread, r fetch.Request) (*fetch.Response, error)
}

// Unanswered is the error for a request that has got no answer. The script gets its text.
type Unanswered struct{ Why string }

func (u *Unanswered) Error() string { return u.Why }

func verbFetch(v *script.Call) error {
	host, ok := v.Thread().Host().(Host)
	if !ok {
		return errors.New("nothing can be fetched here")
	}
	r, err := ReadRequest(v, 1, 2)
	if err != nil {
		return err
	}
	answer, err := host.Fetch(v.Thread(), r)
	if u, ok := err.(*Unanswered); ok {
		v.Return(nil, u.Why)
		return nil
	}
	if err != nil {
		return err
	}
	v.Return(answerTable(v, answer))
	return nil
}

// answerTable returns the table of an answer.
func answerTable(v *script.Call, answer *fetch.Response) *script.Table {
	headers := script.NewTable()
	for _, name := range slices.Sorted(maps.Keys(answer.Header)) {
		for _, value := range answer.Header[name] {
			form.Add(headers, strings.ToLower(name), value)
		}
	}
	v.Charge(len(answer.Body) >> 6)
	t := script.NewTable()
	t.Set("status", float64(answer.Status))
	t.Set("headers", headers)
	t.Set("body", answer.Body)
	t.Set("url", answer.URL)
	decode := script.Verb{Name: "json", Func: func(v *script.Call) error {
		value, err := json.Decode(answer.Body, v.Charge)
		if err != nil {
			return fmt.Errorf("the answer of %s with status %d: %w", answer.URL, answer.Status, err)
		}
		v.Return(value)
		return nil
	}}
	t.Set("json", decode.Function())
	return t
}
