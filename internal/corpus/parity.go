package corpus

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// A parityPair is a script that tries to leave something behind, and one that looks
// for it. The script parity of the site runs both.
type parityPair struct{ name, leave, find string }

//go:embed testdata/parity.txt
var paritySource []byte

// parityPairs are sent to every transport. Each find must return there, after its
// leave, what it returns in a new CGI process.
var parityPairs = readParityPairs(paritySource)

func readParityPairs(text []byte) (pairs []parityPair) {
	files := txtar.Parse(text).Files
	for i := 0; i+1 < len(files); i += 2 {
		pairs = append(pairs, parityPair{files[i].Name, string(files[i].Data), string(files[i+1].Data)})
	}
	return pairs
}

//go:embed testdata/reachable.lua
var reachableSource string

// reachable lists everything that a script can reach. It is edited by hand: a name that
// is reachable by mistake may be a way out of the sandbox.
//
//go:embed testdata/reachable.txt
var reachable string

// parityTries is how many times each request of a pair is sent at once: a transport may
// have several processes.
const parityTries = 4

// parity sends the pairs to a transport. fresh has what each find returns in a new
// process.
func parity(t *testing.T, client Client, fresh map[string]string) {
	t.Run("parity", func(t *testing.T) {
		for _, p := range parityPairs {
			t.Run(p.name, func(t *testing.T) {
				client.runLua(t, p.leave)
				for _, got := range client.runLua(t, p.find) {
					if got != fresh[p.name] {
						t.Errorf("found %q, in a new process %q", clip(got), clip(fresh[p.name]))
					}
				}
			})
		}
		t.Run("reachable", func(t *testing.T) {
			for _, got := range client.runLua(t, reachableSource) {
				sameLines(t, reachable, got)
			}
		})
	})
}

// sameLines reports the lines that only one of two lists has.
func sameLines(t *testing.T, want, got string) {
	t.Helper()
	wanted, found := strings.Split(strings.TrimSpace(want), "\n"), strings.Split(strings.TrimSpace(got), "\n")
	for _, line := range found {
		if !slices.Contains(wanted, line) {
			t.Errorf("a script can reach %q, which testdata/reachable.txt does not list: "+
				"add it if this is intended", line)
		}
	}
	for _, line := range wanted {
		if !slices.Contains(found, line) {
			t.Errorf("a script cannot reach %q, which testdata/reachable.txt lists", line)
		}
	}
}

// runLua runs a Lua text several times at once. It returns the body of each answer, or
// the status of a failure.
func (c Client) runLua(t *testing.T, source string) [parityTries]string {
	t.Helper()
	head := fmt.Sprintf("POST /parity.fcgi HTTP/1.0\r\nHost: %s\r\nContent-Type: text/plain\r\n"+
		"Content-Length: %d\r\n\r\n", c.Addr, len(source))
	var got [parityTries]string
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			conn, err := c.Dial()
			if err != nil {
				got[i] = err.Error()
				return
			}
			defer conn.Close()
			r, err := conn.Do([]byte(head + source))
			if err != nil {
				got[i] = err.Error()
				return
			}
			got[i] = parityAnswer(r.Status, r.Body)
			if cookie, ok := r.Field("Set-Cookie"); ok {
				got[i] += " and the cookie " + cookie
			}
		})
	}
	wg.Wait()
	return got
}

func parityAnswer(status int, body string) string {
	if status == 200 {
		return body
	}
	return fmt.Sprintf("status %d", status)
}

// freshAnswers runs each find in a new CGI process, before any other request to the site.
func (s *Site) freshAnswers(t *testing.T) map[string]string {
	t.Helper()
	fresh := make(map[string]string, len(parityPairs))
	for _, p := range parityPairs {
		fresh[p.name] = s.freshAnswer(t, p.find)
		if strings.HasPrefix(fresh[p.name], "status ") {
			t.Fatalf("parity: %s: the second script fails without the first: %s", p.name, fresh[p.name])
		}
	}
	return fresh
}

func (s *Site) freshAnswer(t *testing.T, source string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), answerTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.Program("scripter-cgi"))
	cmd.Dir = s.Programs
	cmd.Env = []string{
		"SCRIPTER_ROOT=" + s.Root, "GATEWAY_INTERFACE=CGI/1.1", "SERVER_SOFTWARE=Apache/2.4 (model)",
		"SERVER_PROTOCOL=HTTP/1.0", "REQUEST_METHOD=POST", "SCRIPT_NAME=/parity.fcgi",
		"REQUEST_URI=/parity.fcgi", "DOCUMENT_ROOT=" + s.WWW, "CONTENT_TYPE=text/plain",
		fmt.Sprint("CONTENT_LENGTH=", len(source)),
	}
	if uid, gid, ok := ServerUser(t); ok {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
	var out, log bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(source), &out, &log
	if err := cmd.Run(); err != nil {
		t.Fatalf("scripter-cgi: %v\n%s", err, log.String())
	}
	head, body, ok := strings.Cut(out.String(), "\r\n\r\n")
	var status int
	if _, err := fmt.Sscanf(head, "Status: %d", &status); err != nil || !ok {
		t.Fatalf("scripter-cgi answered %q\n%s", clip(out.String()), log.String())
	}
	return parityAnswer(status, body)
}
