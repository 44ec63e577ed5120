package corpus

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// A Transport is one way from a client to the gateway.
type Transport interface {
	// Name returns the name of the transport in messages and in Differences.
	Name() string
	// Start makes the transport answer for s until the test ends.
	Start(t *testing.T, s *Site) Client
}

// A Rooted transport has a root of its own, whose URL Root returns.
type Rooted interface {
	Transport
	Root(t *testing.T) string
}

// Run starts transport on a site of its own. It runs every case as a subtest, then the
// pairs of parity, and then more with the same transport. If SCRIPTER_CORPUS_COUNTS names
// a file, Run adds a line with the number of cases to it.
func Run(t *testing.T, transport Transport, more ...func(*testing.T, Client)) {
	t.Helper()
	cases, _, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	var site *Site
	var fresh map[string]string
	if r, ok := transport.(Rooted); ok {
		fresh = NewSite(t).freshAnswers(t) // a CGI process of its own cannot answer from a URL
		site = newSite(t, func(s *Site) { s.Root = r.Root(t) })
	} else {
		site = NewSite(t)
		fresh = site.freshAnswers(t)
	}
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
	if ran == len(cases) { // -run has not selected some of them
		for _, row := range d.unused() {
			t.Errorf("difference not met, remove it from the table: %s", row)
		}
	}
	parity(t, client, fresh)
	demo(t, client)
	for _, m := range more {
		m(t, client)
	}
	count(t, fmt.Sprintf("corpus: %s %d cases, %d failed", transport.Name(), ran, failed))
}

func runCase(t *testing.T, client Client, c Case, d caseDifferences) {
	t.Helper()
	var conn *Conn // nil: closed
	kept := map[string]string{}
	for i, step := range c.Steps {
		if conn != nil && !step.SameConn {
			conn.Close()
			conn = nil
		}
		if conn == nil {
			var err error
			if conn, err = client.Dial(); err != nil {
				t.Fatal(err)
			}
		}
		r := answer(t, client, conn, d, i+1, step, kept)
		if r != nil && r.KeepsAlive() {
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

// answer sends the request of one step, checks the answer and returns it, or nil if there
// is none. kept has what is taken from answers.
func answer(
	t *testing.T, client Client, conn *Conn, d caseDifferences, number int, step Step, kept map[string]string,
) *Response {
	t.Helper()
	fill := filler(client, step, kept)
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
				return r // the web server has answered by itself, with its own page
			}
			continue
		}
		t.Errorf("request %d: %s: got %q, %s\nanswer: %d %s %q\n%s",
			number, c.aspect, clip(got), wrong, r.Status, r.Reason, r.Fields, clip(r.Body))
	}
	for _, k := range step.Want.keeps {
		text, ok := k.take(r)
		if !ok {
			t.Errorf("request %d: the answer has nothing to keep as %s: %q\n%s", number, k.name, r.Fields, clip(r.Body))
		}
		kept[k.name] = text
	}
	return r
}

// filler returns a function that replaces the placeholders of a step.
func filler(client Client, step Step, kept map[string]string) func(string) string {
	_, port, _ := strings.Cut(client.Addr, ":")
	pairs := []string{"{host}", client.Addr, "{port}", port}
	for name, text := range kept {
		pairs = append(pairs, "{"+name+"}", text)
	}
	step.Body = strings.NewReplacer(pairs...).Replace(step.Body)
	names := strings.NewReplacer(append(pairs, "{length}", strconv.Itoa(len(repeat(step.Body))))...)
	return func(s string) string { return repeat(names.Replace(s)) }
}

var repeated = regexp.MustCompile(`(?s)\{([^{}]{1,200})\*([0-9]+)\}`)

// repeat replaces {x*3} by xxx.
func repeat(s string) string {
	return repeated.ReplaceAllStringFunc(s, func(r string) string {
		m := repeated.FindStringSubmatch(r)
		n, _ := strconv.Atoi(m[2]) // digits
		return strings.Repeat(m[1], n)
	})
}

// wire returns the request as bytes. If the header names the chunked coding, the body has
// chunks of 7 bytes.
func (s Step) wire(fill func(string) string) []byte {
	head := strings.ReplaceAll(fill(s.Head), "\n", "\r\n") + "\r\n\r\n"
	body := fill(s.Body)
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
