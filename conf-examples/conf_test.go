// Package conf_test starts each web server with the example that a user copies,
// with nothing but ports and folders put in, and puts the corpus through it.
package conf_test

import (
	"bytes"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/browsertest"
	"scripter/internal/corpus"
	"scripter/internal/postgrestest"
	"scripter/internal/servertest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	browsertest.Close()
	corpus.RemovePrograms()
	os.Exit(code)
}

// TestServers runs the corpus through all nine set-ups, and again through those
// with CGI where a resident server takes the requests. The lines for routes are not
// commented out: they must change nothing else. Where a server is not installed its
// set-up is skipped, or fails when SCRIPTER_REQUIRE_SERVERS is 1, as in make test.
//
// Specification: 1.1, 4.3.1, 4.3.4, 4.3.8, 9.1
func TestServers(t *testing.T) {
	for _, s := range servertest.SetUps {
		t.Run(s.Name(), func(t *testing.T) {
			for _, program := range s.Programs {
				servertest.Need(t, program)
			}
			s.Routes = true
			corpus.Run(t, s, streams)
		})
	}
}

// TestServersInPostgreSQL runs the corpus through a set-up with FastCGI and through one with CGI, with the root in
// PostgreSQL.
func TestServersInPostgreSQL(t *testing.T) {
	server := postgrestest.New(t, postgrestest.Fast...)
	t.Cleanup(server.Remove)
	for _, s := range servertest.SetUps {
		if s.Name() != "nginx-fastcgi" && s.Name() != "apache-cgi-relay" {
			continue
		}
		t.Run(s.Name(), func(t *testing.T) {
			for _, program := range s.Programs {
				servertest.Need(t, program)
			}
			s.Routes = true
			corpus.Run(t, inPostgreSQL{s, server}, streams)
		})
	}
}

// inPostgreSQL is a set-up whose root lies in a schema with its name.
type inPostgreSQL struct {
	servertest.SetUp
	server *postgrestest.Server
}

func (s inPostgreSQL) Root(t *testing.T) string {
	folder, err := os.MkdirTemp("", "pg-") // the path of a socket is short
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(folder) })
	corpus.GiveToServer(t, folder)
	return s.server.URL("schema=" + s.Name() + "&host_folder=" + folder)
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
