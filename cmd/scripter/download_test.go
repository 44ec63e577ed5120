package main

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"scripter/objectfiles"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Specification: 2.4.1, 2.4.2
func TestImportByHTTP(t *testing.T) {
	root := newRoot(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "samples.tar.gz")
	exported(t, root, file)
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, file) })
	// A tar.gz that is said to be compressed on the way comes as it is.
	mux.HandleFunc("/encoded", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		http.ServeFile(w, r, file)
	})
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/samples.tar.gz", http.StatusFound)
	})
	mux.HandleFunc("/round", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/round", http.StatusFound)
	})
	for _, to := range []string{"https://127.0.0.1:1/x", "ftp://127.0.0.1:1/x", "file:///etc/passwd"} {
		mux.HandleFunc("/to-"+to[:3], func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		})
	}
	mux.HandleFunc("/missing", http.NotFound)
	mux.HandleFunc("/page", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "<html>please log in</html>") })
	mux.HandleFunc("/endless", func(w http.ResponseWriter, r *http.Request) {
		for {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("/cut", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1000")
		fmt.Fprint(w, "PK\x03\x04")
	})
	mux.HandleFunc("/silent", func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	server := httptest.NewServer(mux)
	defer server.Close()

	for _, path := range []string{"/samples.tar.gz", "/moved", "/encoded"} {
		code, out, errs := tooled(t, "--root", root, "import", server.URL+path)
		require.Zero(t, code, errs)
		assert.Contains(t, out, " into suites.webserverScripts.samples: 0 added, 0 changed, ")
	}
	for path, want := range map[string]string{
		"/round":   "the server redirects more than five times",
		"/to-htt":  "the server redirects to https://127.0.0.1:1/x, which is another scheme",
		"/to-ftp":  "which is another scheme",
		"/to-fil":  "which is another scheme",
		"/missing": "the server answered 404 Not Found",
		"/page":    "it is something else",
		"/endless": "the file is larger than an archive may be: more than 1048576 bytes",
		"/cut":     "unexpected EOF",
		"/silent":  "it took longer than 300ms",
	} {
		timeout := "1h"
		if path == "/silent" {
			timeout = "300ms"
		}
		code, out, errs := tooled(t, "--root", root, "import", "--max-size", "1", "--timeout", timeout, server.URL+path)
		assert.Equal(t, 1, code, path)
		assert.Empty(t, out, path)
		assert.Contains(t, errs, want, path)
	}
	code, _, errs := tooled(t, "--root", root, "import", strings.Replace(server.URL, "://", "://me:secret@", 1)+"/missing")
	assert.Equal(t, 1, code)
	assert.NotContains(t, errs, "secret")
	_, log, _ := tooled(t, "--root", root, "log", "-n", "1")
	assert.NotContains(t, log, "import", "nothing was replaced")
}

// An FTP server that means harm, or is broken, gets nowhere.
func TestHostileFTP(t *testing.T) {
	root := newRoot(t)
	for name, replies := range map[string]map[string]string{
		"closes":            {},
		"no number":         {"": "hello\r\n"},
		"endless greeting":  {"": strings.Repeat("220-x\r\n", 400_000)},
		"endless line":      {"": "220 " + strings.Repeat("x", 3<<20)},
		"wants a password":  {"": "220 x\r\n", "USER": "331 x\r\n", "PASS": "530 go away\r\n"},
		"strange PASV":      {"": "220 x\r\n", "USER": "230 x\r\n", "PASV": "227 )(\r\n"},
		"another's address": {"": "220 x\r\n", "USER": "230 x\r\n", "PASV": "227 x (10,0,0,1,0,1)\r\n"},
		"negative port":     {"": "220 x\r\n", "USER": "230 x\r\n", "EPSV": "229 x (|||-1|)\r\n"},
		"silent":            {"": ""},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			defer l.Close()
			go playFTP(l, replies)
			timeout := "1h"
			if name == "silent" {
				timeout = "300ms"
			}
			code, _, errs := tooled(t, "--root", root, "import", "--timeout", timeout, "ftp://"+l.Addr().String()+"/pub/x.zip")
			assert.Equal(t, 1, code)
			assert.Contains(t, errs, "scripter: fetch ftp://127.0.0.1:")
			assert.Less(t, len(errs), 1000)
		})
	}
}

func playFTP(l net.Listener, replies map[string]string) {
	conn, err := l.Accept()
	if err != nil {
		return
	}
	defer conn.Close()
	if greeting, ok := replies[""]; !ok {
		return
	} else if _, err := io.WriteString(conn, greeting); err != nil {
		return
	}
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		word, _, _ := strings.Cut(lines.Text(), " ")
		reply := replies[word]
		if reply == "" {
			reply = "500 what?\r\n"
		}
		if _, err := io.WriteString(conn, reply); err != nil {
			return
		}
	}
}

// A whole import of the largest archives that are taken, and of what is refused, stays
// below 256 MB and 30 s of the processor (the program itself, with its root).
func TestMemoryOfImports(t *testing.T) {
	exe, err := os.Executable()
	require.NoError(t, err)
	bin := filepath.Join(t.TempDir(), "scripter") // testscript chooses by this name
	require.NoError(t, os.Symlink(exe, bin))
	root := newRoot(t)
	nested := "[" + strings.Repeat(strings.Repeat("[", 190)+strings.Repeat("]", 190)+",", 5400) + "0]"
	many := map[string]string{"objects/nested.json": nested}
	for i := range objectfiles.FreeFiles - 100 {
		many[fmt.Sprintf("objects/a%d.txt", i)] = fmt.Sprint(i)
	}
	for name, files := range map[string]map[string]string{
		"many":  many,
		"large": {"objects/large.txt": strings.Repeat("\x01", objectfiles.FreeBytes-1<<20)},
		"bomb":  {"objects/a.bin": strings.Repeat("\x00", 200<<20)},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "x.zip")
			writeZip(t, file, files)
			const least, limit = 5 << 10, 256 << 10 // kB
			most := 0
			// A collector that gets no processor, or we that do not look, are no fault.
			for tries := 0; tries < 3 && (most <= least || most >= limit); tries++ {
				ctx, cancel := context.WithTimeout(t.Context(), 10*patience)
				defer cancel()
				cmd := exec.CommandContext(ctx, bin, "--root", root, "import", file, "t")
				var out bytes.Buffer
				cmd.Stdout, cmd.Stderr = &out, &out
				require.NoError(t, cmd.Start())
				ended := make(chan error, 1)
				go func() { ended <- cmd.Wait() }()
				most, err = highWater(cmd.Process.Pid, ended)
				if name == "bomb" {
					require.Error(t, err)
					assert.Contains(t, out.String(), "too large")
				} else {
					require.NoError(t, err, out.String())
				}
				assert.Less(t, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime(), 30*time.Second)
			}
			assert.Less(t, most, limit)
			assert.Greater(t, most, least, "it was measured")
		})
	}
}

// highWater gives the most memory, in kB, that a process had, looking at it until
// it ends. The kernel's own account of a child begins with the memory of its parent.
func highWater(pid int, ended chan error) (most int, err error) {
	for {
		select {
		case err := <-ended:
			return most, err
		case <-time.After(5 * time.Millisecond):
		}
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			continue // it ends just now
		}
		_, line, _ := strings.Cut(string(status), "VmHWM:")
		var now int
		if _, err := fmt.Sscan(line, &now); err == nil {
			most = max(most, now)
		}
	}
}

func writeZip(t *testing.T, file string, files map[string]string) {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	m := objectfiles.Manifest{Form: objectfiles.ArchiveForm}
	for name, body := range files {
		f, err := w.Create(name)
		require.NoError(t, err)
		_, err = io.WriteString(f, body)
		require.NoError(t, err)
		sum := sha256.Sum256([]byte(body))
		m.Files = append(m.Files, objectfiles.ManifestFile{Name: name, Size: int64(len(body)),
			SHA256: hex.EncodeToString(sum[:])})
	}
	f, err := w.Create("manifest.json")
	require.NoError(t, err)
	require.NoError(t, json.NewEncoder(f).Encode(m))
	require.NoError(t, w.Close())
	require.NoError(t, os.WriteFile(file, b.Bytes(), 0o600))
}

func TestTopComment(t *testing.T) {
	for source, want := range map[string]string{
		"-- a\n-- b\nreturn 1\n-- c": "-- a\n-- b",
		"\n\n-- a":                   "-- a",
		"-- a\r-- b\rreturn":         "-- a\n-- b",
		"-- a\r\n\r\n-- b":           "-- a",
		"--[[ a\nb ]] return":        "--[[ a\nb ]]",
		"--[==[ a ]] b ]==] return":  "--[==[ a ]] b ]==]",
		"--[[ open":                  "",
		"--[ a":                      "--[ a",
		"return 1 -- a":              "",
		"":                           "",
	} {
		assert.Equal(t, want, topComment(source), "%q", source)
	}
}

func TestPrintable(t *testing.T) {
	assert.Equal(t, `a\x1b[2Jb`+"\nä", printable("a\x1b[2Jb\nä"))
	assert.Equal(t, `\u202egnp.exe\r`, printable("\u202egnp.exe\r"))
}
