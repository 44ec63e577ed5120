package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/fcgitest"
)

// post sends a body of so many megabytes, which says how long it is or not, and
// returns the answer.
func (d *daemon) post(path string, megabytes float64, declared bool) string {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), patience)
	defer cancel()
	c, err := fcgitest.Dial(ctx, "unix:"+d.sock)
	require.NoError(d.t, err)
	defer c.Close()
	body := strings.Repeat("b", int(megabytes*(1<<20)))
	vars := map[string]string{"REQUEST_METHOD": "POST", "SCRIPT_NAME": path, "REQUEST_URI": path,
		"CONTENT_TYPE": "text/plain", "HTTP_TRANSFER_ENCODING": "chunked"}
	if declared {
		vars["CONTENT_LENGTH"] = strconv.Itoa(len(body))
		delete(vars, "HTTP_TRANSFER_ENCODING")
	}
	var out bytes.Buffer
	_, err = c.Do(ctx, vars, strings.NewReader(body), &out, io.Discard)
	require.NoError(d.t, err)
	return out.String()
}

// TestLargeBodies checks that the master refuses a body above the largest limit of any script, that
// the limit of the script refuses a smaller one, and that a raised limit applies without a restart.
func TestLargeBodies(t *testing.T) {
	root := makeRoot(t)
	scripts(t, root, map[string]string{"size": `return "got " .. # (...).postArgs`,
		"upload": `return "got " .. # (...).postArgs`})
	setting(t, root, "maxBody", 1)
	setting(t, root, `limits.["suites.webserverScripts.upload"].maxBody`, 2)
	exe, err := os.Executable()
	require.NoError(t, err)
	sock := filepath.Join(t.TempDir(), "status.sock")
	p := startProgram(t, exe, root, "--status", "unix:"+sock)
	for _, declared := range []bool{true, false} {
		assert.Contains(t, p.post("/size.fcgi", 1, declared), "got 1048576")
		assert.Contains(t, p.post("/size.fcgi", 1.5, declared), "Status: 413")
		assert.Contains(t, p.post("/upload.fcgi", 1.5, declared), "got 1572864")
		for _, path := range []string{"/size.fcgi", "/upload.fcgi"} {
			answer := p.post(path, 2.5, declared)
			assert.Contains(t, answer, "Status: 413")
			assert.Contains(t, answer, "The request is too large.")
		}
	}
	refused := func() bool { return strings.Count(p.log.String(), "the body of a request is too large") == 4 }
	require.Eventually(t, refused, patience, 10*time.Millisecond, p.log)
	setting(t, root, "maxBody", 3)
	for _, declared := range []bool{true, false} {
		require.Eventually(t, func() bool { return strings.Contains(p.post("/size.fcgi", 2.5, declared), "got 2621440") },
			patience, 10*time.Millisecond)
	}
	var r report
	require.Eventually(t, func() bool {
		_, text, _ := look(t, sock, "/-/status?format=json", "")
		r = report{}
		return json.Unmarshal([]byte(text), &r) == nil && r.Limits["maxBody"] >= 6
	}, patience, 50*time.Millisecond)
	assert.Empty(t, r.Kills, "no worker was ended for it")
}
