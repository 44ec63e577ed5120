package gateway

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"scripter/fetch"
	"scripter/requestlog"
	"scripter/script"
	"scripter/verbs/form"
	verbhttp "scripter/verbs/http"
	"scripter/verbs/json"
)

// This file has what http.fetch gets instead of an answer of another host: in a replay what was recorded, in a test what
// the test says.

// recordOf returns what is recorded of a request, with its secrets.
func recordOf(r *fetch.Request, answer *fetch.Response, err error, took time.Duration) requestlog.Fetch {
	f := requestlog.Fetch{Method: r.Method, URL: r.URL, Elapsed: took}
	if err != nil {
		f.Failure = err.Error()
		return f
	}
	f.Status, f.Header, f.Body = answer.Status, answer.Header, answer.Body
	if answer.URL != r.URL {
		f.End = answer.URL
	}
	return f
}

// recordedAnswer returns the recorded answer to a request.
func recordedAnswer(log *requestlog.FetchLog, r *fetch.Request) (*fetch.Response, error) {
	what := r.Method + " " + fetchHost(r.URL)
	f, ok := log.Next(r.Method, r.URL)
	switch {
	case !ok:
		return nil, fmt.Errorf("the recorded request has not fetched this (%s), and a replay asks no other host", what)
	case f.Failure != "":
		return nil, &verbhttp.Unanswered{Why: f.Failure}
	case f.Lost != "":
		return nil, fmt.Errorf("the recorded answer to %s has no body: %s; a replay asks no other host", what, f.Lost)
	}
	answer := &fetch.Response{Status: f.Status, Header: http.Header(f.Header), Body: f.Body, URL: f.End}
	if answer.URL == "" {
		answer.URL = r.URL
	}
	return answer, nil
}

var fetchVerb = script.Verb{
	Name: "expect.fetch",
	Doc: "From now on, http.fetch gets this answer for the URL, in the test and in its requests; nobody is asked. " +
		"A further call for the same URL adds the next answer; the last one stays. A URL that ends in * stands for all " +
		"that begin so.",
	Params: []script.Param{
		script.Arg("url", "string", `"https://…", or "POST https://…" for one method`),
		script.Arg("answer", "table|string", "a table: status (200), headers, body or json; a string is the reason why "+
			"there is no answer"),
	},
	Results: script.Returns("table[]", "a list that gets a table for each request that is made: method, url, headers, body"),
	Errors:  "an answer with other fields",
	Example: `local asked = expect.fetch ("https://api.example.com/rates*", {json = {EUR = 1.1}})
local rate = http.fetch ("https://api.example.com/rates?base=USD").json ().EUR
return #asked .. " " .. asked [1].method .. " " .. rate`,
	Gives: "1 GET 1.1",
	Func:  expectFetch,
}

// fetchAnswers are the answers that a test has given.
type fetchAnswers struct {
	list []*fetchAnswer
}

// fetchAnswer are the answers to one URL.
type fetchAnswer struct {
	method, url string // method "" = all; url may end in *
	answers     []func() (*fetch.Response, error)
	asked       *script.Table
}

func expectFetch(v *script.Call) error {
	c, err := hostOf(v)
	if err != nil {
		return err
	}
	if c.answers == nil {
		return errors.New("this verb works only in a test")
	}
	method, url, ok := strings.Cut(v.String(1), " ")
	if !ok {
		method, url = "", method
	}
	if !strings.HasPrefix(url, "http://") && !strings.HasPrefix(url, "https://") {
		v.Bad(1, "a URL, or a method and a URL")
	}
	give, err := testAnswer(v, url)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(c.answers.list, func(a *fetchAnswer) bool { return a.method == method && a.url == url })
	if i < 0 {
		i = len(c.answers.list)
		c.answers.list = append(c.answers.list, &fetchAnswer{method: method, url: url, asked: script.NewList()})
	}
	a := c.answers.list[i]
	a.answers = append(a.answers, give)
	v.Return(a.asked)
	return nil
}

// testAnswer reads the second argument.
func testAnswer(v *script.Call, url string) (func() (*fetch.Response, error), error) {
	if v.IsString(2) {
		why := v.String(2)
		return func() (*fetch.Response, error) { return nil, &verbhttp.Unanswered{Why: why} }, nil
	}
	answer := fetch.Response{Status: 200, Header: http.Header{}}
	var failed error
	t := v.Table(2)
	t.Each(func(k, value script.Value) bool {
		switch k {
		case "status":
			n, ok := value.(float64)
			if answer.Status = int(n); !ok || n < 100 || n > 599 {
				failed = errors.New("status is a number from 100 to 599")
			}
		case "headers":
			headers, ok := value.(*script.Table)
			if !ok {
				failed = errors.New("headers is a table")
				break
			}
			failed = form.EachField(v.Thread(), headers, answer.Header.Add)
		case "body":
			answer.Body, failed = v.Thread().Text(value)
		case "json":
			var text []byte
			text, failed = json.Encode(v.Thread(), value)
			answer.Body = string(text)
			answer.Header.Set("Content-Type", "application/json")
		default:
			failed = fmt.Errorf("an answer has no field %v; its fields are status, headers, body and json", k)
		}
		return failed == nil
	})
	return func() (*fetch.Response, error) {
		again := answer
		return &again, nil
	}, failed
}

// next returns the answer to a request.
func (all *fetchAnswers) next(r *fetch.Request) (*fetch.Response, error) {
	if err := fetch.CheckForm(r); err != nil {
		return nil, err
	}
	for _, a := range all.list {
		begin, isGroup := strings.CutSuffix(a.url, "*")
		if a.method != "" && a.method != r.Method || a.url != r.URL && !(isGroup && strings.HasPrefix(r.URL, begin)) {
			continue
		}
		a.note(r)
		answer, err := a.answers[0]()
		if len(a.answers) > 1 {
			a.answers = a.answers[1:]
		}
		if answer != nil {
			answer.URL = r.URL
		}
		return answer, err
	}
	return nil, fmt.Errorf("a test asks no other host; say what it answers: expect.fetch (%s, {body = …})", quote(r.URL))
}

// note adds a request to the list that the test has.
func (a *fetchAnswer) note(r *fetch.Request) {
	headers := script.NewTable()
	for name, values := range r.Header {
		for _, value := range values {
			form.Add(headers, strings.ToLower(name), value)
		}
	}
	t := script.NewTable()
	t.Set("method", r.Method)
	t.Set("url", r.URL)
	t.Set("headers", headers)
	t.Set("body", r.Body)
	a.asked.Append(t)
}
