// Package conf_test starts each web server with the example that a user copies,
// with nothing but ports and folders put in, and puts the corpus through it.
package conf_test

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/corpus"
)

func TestMain(m *testing.M) {
	code := m.Run()
	corpus.RemovePrograms()
	os.Exit(code)
}

// TestServers runs the corpus through all nine set-ups, and again through those
// with CGI where a resident server takes the requests. Where a server is not
// installed its set-up is skipped, or fails when SCRIPTER_REQUIRE_SERVERS is 1,
// as in make test.
//
// Specification: 1.1, 4.3.1, 4.3.4, 4.3.8, 9.1
func TestServers(t *testing.T) {
	for _, s := range setUps {
		t.Run(s.name, func(t *testing.T) {
			for _, program := range s.programs {
				need(t, program)
			}
			corpus.Run(t, s, streams)
		})
	}
}

// streams checks that what a script sends on purpose reaches the client while
// the script still runs: no buffer on the way holds it back.
func streams(t *testing.T, client corpus.Client) {
	t.Run("streams", func(t *testing.T) {
		var apart time.Duration
		for tries := 0; apart <= 200*time.Millisecond && tries < 5; tries++ { // who reads may be held up too
			apart = timeBetweenPieces(t, client)
		}
		assert.Greater(t, apart, 200*time.Millisecond, "the first piece was held back for the last")
	})
}

// timeBetweenPieces asks a script that sends "first", works for 400 ms and sends
// "last", and returns the time between their arrivals.
func timeBetweenPieces(t *testing.T, client corpus.Client) time.Duration {
	conn, err := net.Dial("tcp", client.Addr)
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	_, err = conn.Write([]byte("GET /chunks-slow.fcgi HTTP/1.1\r\nHost: " + client.Addr + "\r\nConnection: close\r\n\r\n"))
	require.NoError(t, err)
	var got []byte
	var first, last time.Time
	buffer := make([]byte, 4096)
	for {
		n, err := conn.Read(buffer)
		got = append(got, buffer[:n]...)
		if first.IsZero() && bytes.Contains(got, []byte("first")) {
			first = time.Now()
		}
		if last.IsZero() && bytes.Contains(got, []byte("last")) {
			last = time.Now()
		}
		if err != nil {
			break
		}
	}
	require.False(t, first.IsZero() || last.IsZero(), "both pieces arrive:\n%s", got)
	return last.Sub(first)
}

func need(t *testing.T, program string) {
	t.Helper()
	if _, err := find(program); err == nil {
		return
	}
	if os.Getenv("SCRIPTER_REQUIRE_SERVERS") == "1" {
		t.Fatalf("%s is not installed; make test installs it", program)
	}
	t.Skipf("%s is not installed", program)
}

// find looks for a program in the folders where Debian has servers too, which
// are not in everybody's PATH.
func find(program string) (string, error) {
	path, err := exec.LookPath(program)
	if err == nil {
		return path, nil
	}
	for _, dir := range []string{"/usr/sbin", "/usr/local/sbin", "/sbin"} {
		if path, err := exec.LookPath(filepath.Join(dir, program)); err == nil {
			return path, nil
		}
	}
	return "", err
}
