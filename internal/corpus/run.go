package corpus

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Transport is one way from a client to the gateway.
type Transport interface {
	// Name tells the transport from all others, in messages and in Differences.
	Name() string
	// Start makes the transport answer for s until the test ends.
	Start(t *testing.T, s *Site) Client
}

// Run starts transport on a site of its own and puts every case through it, each
// as a subtest; then the hostile pairs of parity, and more, which sees the
// started transport too. It counts the cases in the file named by
// SCRIPTER_CORPUS_COUNTS, where that is set: one line for each transport.
func Run(t *testing.T, transport Transport, more ...func(*testing.T, Client)) {
	t.Helper()
	cases, _, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	site := NewSite(t)
	fresh := site.freshAnswers(t)
	client := transport.Start(t, site)
	d := differencesOf(transport.Name(), Differences)
	ran, failed := 0, 0
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			ran++
			runCase(t, client, c, d.of(c.Name))
			if t.Failed() {
				failed++
			}
		})
	}
	if ran == len(cases) { // not when -run picked some
		for _, row := range d.unused() {
			t.Errorf("difference not met, remove it from the table: %s", row)
		}
	}
	parity(t, client, fresh)
	for _, m := range more {
		m(t, client)
	}
	count(t, fmt.Sprintf("corpus: %s %d cases, %d failed", transport.Name(), ran, failed))
}

func runCase(t *testing.T, client Client, c Case, d caseDifferences) {
	t.Helper()
	var conn *Conn // open where the server keeps it
	for i, step := range c.Steps {
		if conn != nil && !step.Kept {
			conn.Close()
			conn = nil
		}
		if conn == nil {
			var err error
			if conn, err = client.Dial(); err != nil {
				t.Fatal(err)
			}
		}
		r := answer(t, client, conn, d, i+1, step)
		if r != nil && r.Kept() {
			continue
		}
		if err := conn.End(); r != nil && err != nil {
			t.Errorf("request %d: %v", i+1, err)
		}
		conn = nil
	}
	if conn != nil {
		conn.Close()
	}
}

// answer sends the request of one step and looks at what comes back, which it
// returns; nil when nothing came.
func answer(t *testing.T, client Client, conn *Conn, d caseDifferences, number int, step Step) *Response {
	t.Helper()
	fill := filler(client, step)
	r, err := conn.Do(step.wire(fill))
	if err != nil {
		if !d.allows("answer", err.Error()) {
			t.Errorf("request %d: no answer: %v", number, err)
		}
		return nil
	}
	for _, c := range step.Want.checks {
		got, wrong := c.look(r, fill)
		if wrong == "" {
			continue
		}
		if d.allows(c.aspect, got) {
			if c.aspect == "status" {
				return r // the web server answered by itself: the rest is its own page
			}
			continue
		}
		t.Errorf("request %d: %s: got %q, %s\nanswer: %d %s %q\n%s",
			number, c.aspect, clip(got), wrong, r.Status, r.Reason, r.Fields, clip(r.Body))
	}
	return r
}

// filler returns the function that puts values into a step's placeholders.
func filler(client Client, step Step) func(string) string {
	_, port, _ := strings.Cut(client.Addr, ":")
	names := strings.NewReplacer(
		"{host}", client.Addr,
		"{port}", port,
		"{length}", strconv.Itoa(len(repeat(step.Body))),
	)
	return func(s string) string { return repeat(names.Replace(s)) }
}

var repeated = regexp.MustCompile(`(?s)\{([^{}]{1,200})\*([0-9]+)\}`)

// repeat writes {x*3} out as xxx.
func repeat(s string) string {
	return repeated.ReplaceAllStringFunc(s, func(r string) string {
		m := repeated.FindStringSubmatch(r)
		n, _ := strconv.Atoi(m[2]) // digits
		return strings.Repeat(m[1], n)
	})
}

// wire returns the request as bytes. A body is sent in chunks of 7 bytes when
// the head says that it is chunked.
func (s Step) wire(fill func(string) string) []byte {
	head := strings.ReplaceAll(fill(s.Head), "\n", "\r\n") + "\r\n\r\n"
	body := repeat(s.Body)
	if !strings.Contains(strings.ToLower(head), "\r\ntransfer-encoding: chunked\r\n") {
		return []byte(head + body)
	}
	b := []byte(head)
	for body != "" {
		n := min(7, len(body))
		b = fmt.Appendf(b, "%x\r\n%s\r\n", n, body[:n])
		body = body[n:]
	}
	return append(b, "0\r\n\r\n"...)
}

func count(t *testing.T, line string) {
	t.Helper()
	t.Log(line)
	path := os.Getenv("SCRIPTER_CORPUS_COUNTS")
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := fmt.Fprintln(f, line); err != nil {
		t.Fatal(err)
	}
}
