package fcgi_test

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/fcgi"
	"scripter/internal/fcgitest"
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

	// The file of another listener is not removed.
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

// The socket appears with its final mode, and no other user can enter the temporary folder.
func TestListenIsNeverOpen(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o755|fs.ModeSetgid)) // new folders inherit setgid
	defer syscall.Umask(syscall.Umask(0))
	ctx, stop := context.WithCancel(t.Context())
	var watch sync.WaitGroup
	watch.Go(func() {
		for ctx.Err() == nil {
			entries, _ := os.ReadDir(dir)
			for _, e := range entries {
				switch info, err := os.Lstat(filepath.Join(dir, e.Name())); {
				case err != nil:
				case info.IsDir():
					assert.Equal(t, fs.FileMode(0o700), info.Mode().Perm(), e.Name())
				default:
					assert.Equal(t, fs.ModeSocket|0o600, info.Mode(), e.Name())
				}
			}
		}
	})
	for range 200 {
		l, err := fcgi.Listen("unix:"+filepath.Join(dir, "s"), fcgi.ListenOptions{Mode: 0o600})
		require.NoError(t, err)
		nc, err := net.Dial("unix", filepath.Join(dir, "s"))
		require.NoError(t, err)
		nc.Close()
		require.NoError(t, l.Close())
	}
	stop()
	watch.Wait()
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)
}

// A user who may write to the folder and replaces every new file in it with a link cannot
// make Listen change the owner or mode of another file.
func TestListenAmongOthers(t *testing.T) {
	dir := t.TempDir()
	for d := dir; d != filepath.Dir(d) && d != os.TempDir(); d = filepath.Dir(d) {
		require.NoError(t, os.Chmod(d, 0o755))
	}
	open := filepath.Join(dir, "open")
	require.NoError(t, os.Mkdir(open, 0o777))
	require.NoError(t, os.Chmod(open, 0o777))
	victim := filepath.Join(dir, "victim")
	require.NoError(t, os.WriteFile(victim, nil, 0o600))
	self := filepath.Join(dir, "other.test")
	text, err := os.ReadFile(os.Args[0])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(self, text, 0o755))
	other := exec.Command(self)
	other.Env = []string{"FCGI_TEST_CHILD=replaces", "FOLDER=" + open, "VICTIM=" + victim}
	if os.Geteuid() == 0 {
		other.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	require.NoError(t, other.Start())
	defer other.Wait()
	defer other.Process.Kill()
	made := 0
	for range 400 {
		l, err := fcgi.Listen("unix:"+filepath.Join(open, "s"), fcgi.ListenOptions{Mode: 0o666, Group: "65534"})
		if err == nil {
			made++
			l.Close()
		}
		info, err := os.Stat(victim)
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o600), info.Mode())
		require.Equal(t, uint32(os.Getegid()), info.Sys().(*syscall.Stat_t).Gid)
	}
	t.Logf("%d of 400 sockets could be made", made)
}

// replaceAll replaces every new file of a folder with a link to victim. It never ends.
func replaceAll(folder, victim string) {
	for n := 0; ; n++ {
		entries, _ := os.ReadDir(folder)
		for _, e := range entries {
			path := filepath.Join(folder, e.Name())
			if e.Type() == fs.ModeSymlink || strings.HasPrefix(e.Name(), "away") {
				os.RemoveAll(path)
				continue
			}
			os.Rename(path, filepath.Join(folder, fmt.Sprint("away", n)))
			if e.IsDir() && n%2 == 0 {
				os.Mkdir(path, 0o700)
				os.Symlink(victim, filepath.Join(path, "s"))
			} else {
				os.Symlink(victim, path)
			}
		}
	}
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

// FCGI_WEB_SERVER_ADDRS names the addresses that may connect (section 3.2).
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
	t.Run("unix sockets are exempt", func(t *testing.T) {
		t.Setenv("FCGI_WEB_SERVER_ADDRS", "192.0.2.1")
		w := serve(t, fcgi.Limits{}, hello).dial(t)
		w.send(request(1, true, ""))
		w.wantAnswer(1, helloAnswer)
	})
	t.Run("blanks", func(t *testing.T) {
		t.Setenv("FCGI_WEB_SERVER_ADDRS", " ")
		_, err := fcgi.Listen("0.0.0.0:0", fcgi.ListenOptions{})
		assert.ErrorContains(t, err, "not a loopback address")
		s := &fcgi.Server{Handler: hello}
		assert.ErrorContains(t, s.Serve(newPipeListener()), `" " is not an IP address`)
	})
	t.Run("unreadable", func(t *testing.T) {
		t.Setenv("FCGI_WEB_SERVER_ADDRS", "127.0.0.1,localhost")
		s := &fcgi.Server{Handler: hello}
		assert.ErrorContains(t, s.Serve(newPipeListener()), `"localhost" is not an IP address`)
	})
	t.Run("another address", func(t *testing.T) {
		t.Setenv("FCGI_WEB_SERVER_ADDRS", "192.0.2.1")
		l, err := fcgi.Listen("127.0.0.1:0", fcgi.ListenOptions{})
		require.NoError(t, err)
		s := &fcgi.Server{Handler: hello}
		go s.Serve(l)
		defer s.Close()
		c, err := fcgitest.Dial(t.Context(), l.Addr().String())
		require.NoError(t, err)
		_, err = c.Do(t.Context(), nil, nil, io.Discard, io.Discard)
		assert.ErrorIs(t, err, fcgitest.ErrClosed)
	})
}

// The test program starts itself as a FastCGI process that inherits its socket.
func TestMain(m *testing.M) {
	if os.Getenv("FCGI_TEST_CHILD") == "" {
		os.Exit(m.Run())
	}
	if os.Getenv("FCGI_TEST_CHILD") == "replaces" {
		replaceAll(os.Getenv("FOLDER"), os.Getenv("VICTIM"))
	}
	if os.Getenv("FCGI_TEST_CHILD") == "systemd" {
		os.Setenv("LISTEN_PID", strconv.Itoa(os.Getpid()))
	}
	l, _, err := fcgi.Inherited()
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
				assert.Equal(t, "child ", a.stdout) // LISTEN_FDS is removed
			})
		}
	}
}

// Standard input may be something else than a listening socket: that of mod_cgid is connected.
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
