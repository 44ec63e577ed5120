package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/fcgitest"
	"scripter/internal/testlog"
)

// TestAllow checks that only the allowed addresses can connect to a TCP socket, with and without
// workers, and that the program does not start if none are named.
func TestAllow(t *testing.T) {
	for _, workers := range []string{"0", "2"} {
		for _, c := range []struct {
			name  string
			env   []string
			args  []string
			taken bool
		}{
			{"flag", nil, []string{"--allow", "127.0.0.1"}, true},
			{"one of several", nil, []string{"--allow", "192.0.2.1, 127.0.0.1"}, true},
			{"repeated", nil, []string{"--allow", "192.0.2.1", "--allow", "127.0.0.1"}, true},
			{"variable", []string{"FCGI_WEB_SERVER_ADDRS=127.0.0.1"}, nil, true},
			{"both", []string{"FCGI_WEB_SERVER_ADDRS=127.0.0.1"}, []string{"--allow", "192.0.2.1"}, true},
			{"another", nil, []string{"--allow", "192.0.2.1"}, false},
			{"another by variable", []string{"FCGI_WEB_SERVER_ADDRS=192.0.2.1"}, nil, false},
		} {
			t.Run(c.name+", workers "+workers, func(t *testing.T) {
				free, err := net.Listen("tcp", "127.0.0.1:0")
				require.NoError(t, err)
				addr := free.Addr().String()
				require.NoError(t, free.Close())
				p := startProcess(t, c.env, append([]string{"--root", makeRoot(t), "--listen", addr, "--workers", workers,
					"--door", "off"}, c.args...)...)
				require.Eventually(t, func() bool { return strings.Contains(p.log.String(), "msg=listening") }, patience,
					5*time.Millisecond, p.log)
				assert.Contains(t, p.log.String(), "every user of the allowed machines can pretend to be the web server here")
				client, err := fcgitest.Dial(t.Context(), addr)
				require.NoError(t, err)
				defer client.Close()
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				var out bytes.Buffer
				_, err = client.Do(ctx, map[string]string{"REQUEST_METHOD": "GET", "SCRIPT_NAME": "/x.fcgi",
					"REQUEST_URI": "/x.fcgi"}, strings.NewReader(""), &out, io.Discard)
				assert.Equal(t, c.taken, err == nil && strings.Contains(out.String(), "404"), "%v %s", err, out.String())
				p.signal(syscall.SIGTERM)
				assert.Zero(t, p.end(), p.log)
			})
		}
	}
	t.Run("nobody", func(t *testing.T) {
		for _, systemd := range []bool{false, true} {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			defer l.Close()
			f, err := l.(*net.TCPListener).File()
			require.NoError(t, err)
			defer f.Close()
			p := startOn(t, f, systemd, "--root", makeRoot(t))
			assert.Equal(t, 1, p.end())
			assert.Contains(t, p.log.String(), "no allowed addresses are named", "a socket that it was started with")
		}
		log := &testlog.Buffer{}
		assert.Equal(t, 1, run(t.Context(), []string{"--root", makeRoot(t), "--listen", "127.0.0.1:0"}, nil, io.Discard, log))
		assert.Contains(t, log.String(), "scripter-fcgi: listen 127.0.0.1:0: no allowed addresses are named: "+
			"whoever connects can pretend to be the web server")
		t.Setenv("FCGI_WEB_SERVER_ADDRS", " ")
		assert.Equal(t, 1, run(t.Context(), []string{"--root", makeRoot(t), "--listen", "127.0.0.1:0"}, nil, io.Discard,
			log), "blanks name nobody")
		os.Unsetenv("FCGI_WEB_SERVER_ADDRS")
		assert.Contains(t, log.String(), "hint: --allow 127.0.0.1 allows every user of this machine")
		assert.Equal(t, 1, run(t.Context(), []string{"--root", makeRoot(t), "--listen", "127.0.0.1:0", "--allow",
			"127.0.0.1", "--responder", "std"}, nil, io.Discard, log))
		assert.Contains(t, log.String(), "--responder std does not check addresses")
		assert.Equal(t, 2, run(t.Context(), []string{"--allow", "localhost"}, nil, io.Discard, log))
		assert.Contains(t, log.String(), `"localhost" is not an IP address`)
	})
}
