package requestlog

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// maxVariables bounds the variables of a recorded request, in bytes.
const maxVariables = 64 << 10

// A Request is a recorded request and its outcome.
type Request struct {
	Number       int
	Time         time.Time
	Generation   int64             // of the root that its scripts saw; 0 if an older version has recorded it
	Variables    map[string]string // CGI variables, secrets masked
	Body         string
	BodySize     int64 // as it arrived, in bytes
	HandlerNames []string
	Developer    bool // errors were shown in full
	ConnectionID uint64
	Seed         int64 // of math.random

	// Masked lists the items that were masked, Cut those too long to be recorded: names
	// of variables, "field NAME" for a form field, "body".
	Masked, Cut []string
	// Secrets is true if nothing was masked (flDebugSecrets).
	Secrets bool

	Answer   *Answer // nil if it is not recorded: the run has not ended, or was killed
	Duration time.Duration
	Incident string
	Error    string // of a failure, in full
	Fetches  []Fetch
	Reads    *Reads // nil: not known, as of a request that an older version has recorded
}

// New returns a request to be recorded, with a seed for its run. The caller has masked
// the secrets in the variables and the body with m, unless m is nil.
func New(variables map[string]string, body string, m *Mask) *Request {
	r := &Request{Body: body, Secrets: m == nil, Seed: newSeed()}
	if m != nil {
		r.Masked = slices.Sorted(slices.Values(m.names))
	}
	r.Variables, r.Cut = boundVariables(variables)
	if len(r.Body) > maxBody {
		r.Body = r.Body[:maxBody]
		r.Cut = append(r.Cut, bodyItem)
	}
	return r
}

// CutBody records that the body is not whole.
func (r *Request) CutBody() {
	if !slices.Contains(r.Cut, bodyItem) {
		r.Cut = append(r.Cut, bodyItem)
	}
}

// newSeed returns a seed for math.random that a double represents exactly.
func newSeed() int64 {
	var b [8]byte
	rand.Read(b[:])
	return int64(binary.LittleEndian.Uint64(b[:])>>12) + 1
}

// boundVariables leaves out the variables that exceed maxVariables in total: fields of
// the client before all others, long ones before short ones.
func boundVariables(all map[string]string) (within map[string]string, cut []string) {
	names := slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		fieldA, fieldB := strings.HasPrefix(a, "HTTP_"), strings.HasPrefix(b, "HTTP_")
		switch {
		case fieldA != fieldB && fieldB:
			return -1
		case fieldA != fieldB:
			return 1
		}
		return cmp.Or(len(all[a])-len(all[b]), strings.Compare(a, b))
	})
	within, left := make(map[string]string, len(all)), maxVariables
	for _, name := range names {
		size := len(name) + len(all[name]) + 8
		if left -= size; left < 0 {
			cut = append(cut, name)
			continue
		}
		within[name] = all[name]
	}
	slices.Sort(cut)
	return within, cut
}

// Line returns the first line of the request: method and URL.
func (r *Request) Line() string {
	url := r.Variables["REQUEST_URI"]
	if url == "" {
		url = r.Variables["SCRIPT_NAME"] + r.Variables["PATH_INFO"]
		if q := r.Variables["QUERY_STRING"]; q != "" {
			url += "?" + q
		}
	}
	return r.Variables["REQUEST_METHOD"] + " " + url
}

// SetOutcome sets the outcome of the request: its recorded response, which was sent with
// status, the incident and text of a failure, and the time of its end.
func (r *Request) SetOutcome(rec *Recorder, status int, incident, failure string, end time.Time) {
	r.Answer, r.Duration = rec.Answer(status), end.Sub(rec.Begun)
	r.Incident, r.Error = incident, cutText(rec.Mask.Text(failure), maxError)
}

// cutText cuts a text to n bytes at most, between characters.
func cutText(s string, n int) string {
	n = max(n, 0)
	if len(s) <= n {
		return s
	}
	for i := 0; i < utf8.UTFMax && n > 0 && !utf8.RuneStart(s[n]); i++ {
		n--
	}
	return s[:n]
}
