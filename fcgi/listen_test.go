package fcgi_test

import (
	"context"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/fcgi"
)

func TestListenUnix(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s")
	mode := func() fs.FileMode {
		file, err := os.Stat(path)
		require.NoError(t, err)
		return file.Mode()
	}
	l, err := fcgi.Listen("unix:"+path, fcgi.ListenOptions{})
	require.NoError(t, err)
	assert.Equal(t, path, l.Addr().String())
	assert.Equal(t, fs.ModeSocket|0o660, mode())

	_, err = fcgi.Listen("unix:"+path, fcgi.ListenOptions{})
	assert.ErrorContains(t, err, "another process answers on this socket")

	require.NoError(t, l.Close())
	assert.NoFileExists(t, path)

	// A socket file that a killed process left.
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	require.NoError(t, err)
	stale.SetUnlinkOnClose(false)
	stale.Close()
	l, err = fcgi.Listen("unix:"+path, fcgi.ListenOptions{Mode: 0o600, Group: strconv.Itoa(os.Getgid())})
	require.NoError(t, err)
	assert.Equal(t, fs.ModeSocket|0o600, mode())

	// A successor's file is not removed.
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.WriteFile(path, []byte("mine"), 0o600))
	require.NoError(t, l.Close())
	assert.FileExists(t, path)

	_, err = fcgi.Listen("unix:"+path, fcgi.ListenOptions{})
	assert.ErrorContains(t, err, "is not a socket")
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "mine", string(b))

	_, err = fcgi.Listen("unix:"+filepath.Join(dir, "t"), fcgi.ListenOptions{Group: "no such group"})
	assert.ErrorContains(t, err, "no such group")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, left, 1, "temporary files are left")
}

func TestListenErrors(t *testing.T) {
	for spec, want := range map[string]string{
		"":                                  "want unix:PATH or HOST:PORT",
		"/run/s.sock":                       "want unix:PATH or HOST:PORT",
		"unix:":                             "the path is missing",
		"unix:/no/such/folder/s":            "no such file or directory",
		"unix:/" + strings.Repeat("x", 200): "longer than 100 bytes",
		"0.0.0.0:0":                         "not a loopback address",
		":0":                                "not a loopback address",
		"127.0.0.1:nonsense":                "nonsense",
	} {
		_, err := fcgi.Listen(spec, fcgi.ListenOptions{})
		if assert.Error(t, err, spec) {
			assert.ErrorContains(t, err, want)
			assert.ErrorContains(t, err, strings.TrimSpace("fcgi: listen "+spec))
		}
	}
}

// FCGI_WEB_SERVER_ADDRS (section 3.2).
func TestWebServerAddrs(t *testing.T) {
	for env, served := range map[string]bool{
		"": true, "127.0.0.1": true, "192.0.2.1, 127.0.0.1": true, "192.0.2.1": false, "::1": false,
	} {
		t.Run(env, func(t *testing.T) {
			t.Setenv("FCGI_WEB_SERVER_ADDRS", env)
			s := serveTCP(t, fcgi.Limits{}, hello)
			w := s.dial(t)
			w.Write(request(1, true, ""))
			if served {
				w.wantAnswer(1, helloAnswer)
			} else {
				w.wantClosed()
			}
		})
	}
	t.Run("any interface", func(t *testing.T) {
		t.Setenv("FCGI_WEB_SERVER_ADDRS", "127.0.0.1")
		l, err := fcgi.Listen("0.0.0.0:0", fcgi.ListenOptions{})
		require.NoError(t, err)
		l.Close()
	})
	t.Run("unix sockets are not concerned", func(t *testing.T) {
		t.Setenv("FCGI_WEB_SERVER_ADDRS", "192.0.2.1")
		w := serve(t, fcgi.Limits{}, hello).dial(t)
		w.send(request(1, true, ""))
		w.wantAnswer(1, helloAnswer)
	})
	t.Run("unreadable", func(t *testing.T) {
		t.Setenv("FCGI_WEB_SERVER_ADDRS", "127.0.0.1,localhost")
		s := &fcgi.Server{Handler: hello}
		assert.ErrorContains(t, s.Serve(newPipeListener()), `"localhost" is not an IP address`)
	})
	t.Run("field", func(t *testing.T) {
		t.Setenv("FCGI_WEB_SERVER_ADDRS", "127.0.0.1")
		l, err := fcgi.Listen("127.0.0.1:0", fcgi.ListenOptions{})
		require.NoError(t, err)
		s := &fcgi.Server{Handler: hello, WebServers: []netip.Addr{netip.MustParseAddr("192.0.2.1")}}
		go s.Serve(l)
		defer s.Close()
		c, err := fcgi.Dial(t.Context(), l.Addr().String())
		require.NoError(t, err)
		_, err = c.Do(t.Context(), nil, nil, io.Discard, io.Discard)
		assert.ErrorIs(t, err, fcgi.ErrClosed)
	})
}

// The test program runs itself as a FastCGI process that was given its socket.
func TestMain(m *testing.M) {
	if os.Getenv("FCGI_TEST_CHILD") == "" {
		os.Exit(m.Run())
	}
	if os.Getenv("FCGI_TEST_CHILD") == "systemd" {
		os.Setenv("LISTEN_PID", strconv.Itoa(os.Getpid()))
	}
	l, err := fcgi.Inherited()
	if err != nil {
		io.WriteString(os.Stdout, err.Error())
		os.Exit(0)
	}
	s := &fcgi.Server{Handler: func(ctx context.Context, r *fcgi.Request) {
		io.WriteString(r.Stdout, "child "+os.Getenv("LISTEN_FDS"))
	}}
	s.Serve(l)
}

func TestInherited(t *testing.T) {
	for _, way := range []string{"descriptor 0", "systemd"} {
		for _, network := range []string{"unix", "tcp"} {
			t.Run(way+"/"+network, func(t *testing.T) {
				spec := "127.0.0.1:0"
				if network == "unix" {
					spec = filepath.Join(t.TempDir(), "s")
				}
				l, err := net.Listen(network, spec)
				require.NoError(t, err)
				defer l.Close()
				f, err := l.(interface{ File() (*os.File, error) }).File()
				require.NoError(t, err)
				defer f.Close()

				child := exec.Command(os.Args[0])
				child.Env = []string{"FCGI_TEST_CHILD=" + way}
				child.Stderr = os.Stderr
				if way == "systemd" {
					child.Env = append(child.Env, "LISTEN_FDS=1")
					child.ExtraFiles = []*os.File{f}
				} else {
					child.Stdin = f
				}
				require.NoError(t, child.Start())
				defer func() {
					child.Process.Kill()
					child.Wait()
				}()
				nc, err := net.Dial(network, l.Addr().String())
				require.NoError(t, err)
				defer nc.Close()
				nc.SetDeadline(time.Now().Add(patience))
				nc.Write(request(1, true, ""))
				a, err := newFrames(nc).answer(1)
				require.NoError(t, err)
				assert.Equal(t, "child ", a.stdout) // LISTEN_FDS is not handed on
			})
		}
	}
}

// Standard input that is no listening socket, above all mod_cgid's connected one.
func TestNothingInherited(t *testing.T) {
	a, b := socketPair(t)
	file, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer file.Close()
	for name, tc := range map[string]struct {
		stdin *os.File
		env   string
		want  string
	}{
		"connected socket":      {a, "X=", "no listening socket"},
		"its other end":         {b, "X=", "no listening socket"},
		"file":                  {file, "X=", "no listening socket"},
		"two sockets":           {file, "LISTEN_FDS=2", "one socket is wanted"},
		"sockets of nobody":     {file, "LISTEN_FDS=0", "no listening socket"},
		"nonsense":              {file, "LISTEN_FDS=many", "not a number"},
		"descriptor 3 is empty": {file, "LISTEN_FDS=1", "no listening socket"},
	} {
		t.Run(name, func(t *testing.T) {
			child := exec.Command(os.Args[0])
			child.Env = []string{"FCGI_TEST_CHILD=systemd", "GORACE=atexit_sleep_ms=0", tc.env}
			child.Stdin = tc.stdin
			out, err := child.Output()
			require.NoError(t, err)
			assert.Contains(t, string(out), tc.want)
		})
	}
}

func socketPair(t *testing.T) (a, b *os.File) {
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "pair"))
	require.NoError(t, err)
	defer l.Close()
	files := make([]*os.File, 2)
	client, err := net.Dial("unix", l.Addr().String())
	require.NoError(t, err)
	server, err := l.Accept()
	require.NoError(t, err)
	for i, nc := range []net.Conn{client, server} {
		files[i], err = nc.(*net.UnixConn).File()
		require.NoError(t, err)
		nc.Close()
		t.Cleanup(func() { files[i].Close() })
	}
	return files[0], files[1]
}
