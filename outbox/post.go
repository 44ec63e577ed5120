package outbox

import (
	"encoding/json"
	"net/url"
	"time"

	"scripter/objectdb"
)

// A Request is an HTTP request.
type Request struct {
	Method, URL string
	Header      map[string][]string
	Timeout     time.Duration // 0 = the agent's own
	Redirects   int
	Body        string `json:"-"`
}

// The cells of the content of a post.
const (
	requestCell = "request"
	bodyCell    = "body"
)

// Row returns the row and the content of a request that was checked.
func (r *Request) Row() (Row, map[string]objectdb.Value, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return Row{}, nil, err
	}
	u, err := url.Parse(r.URL)
	if err != nil {
		return Row{}, nil, err
	}
	// The path of a webhook is often a secret. The row is shown in lists and in the log.
	row := Row{Kind: Post, To: u.Scheme + "://" + u.Host, Subject: r.Method}
	return row, map[string]objectdb.Value{requestCell: objectdb.String(text), bodyCell: objectdb.String(r.Body)}, nil
}

// ReadRequest returns the request in the content of a row.
func ReadRequest(cells map[string]objectdb.Value) (*Request, error) {
	r := new(Request)
	if err := readJSON(cells, requestCell, r); err != nil {
		return nil, err
	}
	body, _ := cells[bodyCell].(objectdb.String)
	r.Body = string(body)
	return r, nil
}
