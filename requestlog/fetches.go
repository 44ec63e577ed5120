package requestlog

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// A Fetch is what a recorded request has asked another host (http.fetch), and the answer.
type Fetch struct {
	Method string `json:"method"`
	URL    string `json:"url"` // secrets of the query masked
	// Failure is why there was no answer; "" = there was one.
	Failure string              `json:"failure,omitempty"`
	Status  int                 `json:"status,omitempty"`
	Header  map[string][]string `json:"headers,omitempty"`
	Body    string              `json:"body,omitempty"`
	Size    int                 `json:"size"`          // of the body, in bytes
	End     string              `json:"end,omitempty"` // the last URL, if there were redirects
	// Lost says why Body is not the whole body: it was masked, too long, or is no UTF-8. "" = it is.
	Lost    string        `json:"lost,omitempty"`
	Elapsed time.Duration `json:"nanoseconds"`
}

// String returns the fetch as one line for people.
func (f Fetch) String() string {
	said := fmt.Sprintf("status %d, %d bytes", f.Status, f.Size)
	if f.Lost != "" {
		said += ", not recorded: " + f.Lost
	}
	if f.Failure != "" {
		said = "no answer: " + f.Failure
	}
	return fmt.Sprintf("%s %s: %s, %d ms", f.Method, f.URL, said, f.Elapsed.Milliseconds())
}

// The bounds of what is recorded of fetches: their number, and the bytes of a body and of all bodies.
const (
	maxFetches     = 50
	maxFetchBody   = 64 << 10
	maxFetchBodies = 256 << 10
)

// AddFetch records a fetch of the request, with its secrets masked, unless m is nil.
func (r *Request) AddFetch(f Fetch, m *Mask) {
	if len(r.Fetches) == maxFetches {
		return
	}
	f.Size = len(f.Body)
	if m != nil {
		f.URL, f.End = maskURL(f.URL, m), maskURL(f.End, m)
		f.Failure = m.Text(f.Failure)
		header := map[string][]string{}
		for name, values := range f.Header {
			if strings.EqualFold(name, "Set-Cookie") || IsSecretName(name) {
				values = []string{Masked}
			}
			header[name] = values
		}
		f.Header = header
		kind := http.Header(f.Header).Get("Content-Type")
		if body := m.Body(kind, f.Body); body != f.Body {
			f.Body, f.Lost = "", "it was masked"
		}
	}
	bodies := 0
	for _, earlier := range r.Fetches {
		bodies += len(earlier.Body)
	}
	switch {
	case len(f.Body) > maxFetchBody, bodies+len(f.Body) > maxFetchBodies:
		f.Body, f.Lost = "", "it is too long to be recorded"
	case !utf8.ValidString(f.Body):
		f.Body, f.Lost = "", "it is no text"
	}
	r.Fetches = append(r.Fetches, f)
}

// maskURL masks the secrets in the query of a URL, and leaves out its fragment.
func maskURL(text string, m *Mask) string {
	text, _, _ = strings.Cut(text, "#")
	address, query, ok := strings.Cut(text, "?")
	if !ok {
		return text
	}
	return address + "?" + m.form(query)
}

// A FetchLog gives the recorded answers to the requests of a replay, in their order.
type FetchLog struct {
	left []Fetch
	mask *Mask
}

// FetchLog returns the recorded fetches of a request.
func (r *Request) FetchLog() *FetchLog {
	l := &FetchLog{left: slices.Clone(r.Fetches)}
	if !r.Secrets {
		l.mask = new(Mask)
	}
	return l
}

// Next returns the next fetch with a method and a URL, and reports whether there is one.
func (l *FetchLog) Next(method, url string) (Fetch, bool) {
	if l.mask != nil {
		url = maskURL(url, l.mask)
	}
	i := slices.IndexFunc(l.left, func(f Fetch) bool { return f.Method == method && f.URL == url })
	if i < 0 {
		return Fetch{}, false
	}
	f := l.left[i]
	l.left = slices.Delete(l.left, i, i+1)
	return f, true
}

// fetchRows returns the object that records the fetches.
func (r *Request) fetchRows() []row {
	if len(r.Fetches) == 0 {
		return nil
	}
	texts := make([]string, len(r.Fetches))
	for i, f := range r.Fetches {
		text, err := json.Marshal(f)
		if err != nil {
			continue // it has only texts and numbers
		}
		texts[i] = string(text)
	}
	return []row{{"fetches", listOfTexts(texts)}}
}

// parseFetches returns the fetches in texts. A script may have written others.
func parseFetches(texts []string) []Fetch {
	var list []Fetch
	for _, text := range texts[:min(len(texts), maxFetches)] {
		var f Fetch
		if json.Unmarshal([]byte(text), &f) == nil {
			list = append(list, f)
		}
	}
	return list
}

// fetchesWithoutSecrets returns the fetches of a request that was recorded with its secrets, without them.
func (r *Request) fetchesWithoutSecrets(m *Mask) []Fetch {
	masked := &Request{}
	for _, f := range r.Fetches {
		size := f.Size
		masked.AddFetch(f, m)
		masked.Fetches[len(masked.Fetches)-1].Size = size
	}
	return masked.Fetches
}
