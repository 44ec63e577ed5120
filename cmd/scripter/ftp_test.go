package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/corpus"
)

// tooled runs the program as a command would and gives what it printed.
func tooled(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(context.Background(), args, strings.NewReader(""), &o, &e)
	return code, o.String(), e.String()
}

// newRoot makes a root with the supplied objects and gives its file and the
// arguments that name it.
func newRoot(t *testing.T) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "test.root")
	code, _, errs := tooled(t, "--root", file, "init")
	require.Zero(t, code, errs)
	return file
}

// exported makes an archive of the samples in a folder.
func exported(t *testing.T, root, file string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	code, _, errs := tooled(t, "--root", root, "export", "suites.webserverScripts.samples", file)
	require.Zero(t, code, errs)
	require.NoError(t, os.Chmod(file, 0o644)) // it is published
}

// startFTP starts vsftpd for the folder dir, with anonymous visitors only, and
// gives its address.
func startFTP(t *testing.T, dir string) string {
	t.Helper()
	program, err := exec.LookPath("vsftpd")
	if err != nil {
		program = "/usr/sbin/vsftpd"
	}
	if _, err := os.Stat(program); err != nil {
		if os.Getenv("SCRIPTER_REQUIRE_SERVERS") == "1" {
			t.Fatal("vsftpd is not installed; make test installs it")
		}
		t.Skip("vsftpd is not installed")
	}
	me, err := user.Current()
	require.NoError(t, err)
	empty := filepath.Join(t.TempDir(), "empty")
	require.NoError(t, os.Mkdir(empty, 0o555))
	port := corpus.FreePort(t)
	conf := filepath.Join(t.TempDir(), "vsftpd.conf")
	require.NoError(t, os.WriteFile(conf, fmt.Appendf(nil, `listen=YES
listen_address=127.0.0.1
listen_port=%s
background=NO
run_as_launching_user=YES
seccomp_sandbox=NO
anonymous_enable=YES
local_enable=NO
ftp_username=%s
anon_root=%s
secure_chroot_dir=%s
xferlog_enable=NO
`, port, me.Username, dir, empty), 0o600))
	server := corpus.StartProcess(t, false, nil, program, conf)
	addr := "127.0.0.1:" + port
	server.WaitFor(t, "tcp", addr)
	return addr
}

// Specification 2.4: an archive is fetched from {ftp_url}/pub/ by anonymous FTP.
//
// Specification: 2.4.1, 2.4.2
func TestImportByFTP(t *testing.T) {
	dir := t.TempDir()
	root := newRoot(t)
	exported(t, root, filepath.Join(dir, "pub", "samples.tar.gz"))
	exported(t, root, filepath.Join(dir, "pub", "with space.zip"))
	large := filepath.Join(dir, "pub", "large.zip")
	require.NoError(t, os.WriteFile(large, nil, 0o644))
	require.NoError(t, os.Truncate(large, 2<<20))
	require.NoError(t, os.Chmod(filepath.Dir(large), 0o755)) // whatever the umask is
	require.NoError(t, os.Chmod(large, 0o644))
	require.NoError(t, os.Chmod(dir, 0o555)) // vsftpd wants that nobody may write there
	t.Cleanup(func() { os.Chmod(dir, 0o755) })
	url := "ftp://" + startFTP(t, dir) + "/pub/"

	code, out, errs := tooled(t, "--root", root, "import", url+"samples.tar.gz")
	require.Zero(t, code, errs)
	assert.Regexp(t, `^imported ftp://.*/pub/samples.tar.gz into suites.webserverScripts.samples: `+
		`0 added, 0 changed, \d+ the same\n$`, out)

	code, out, errs = tooled(t, "--root", root, "import", url+"with%20space.zip", "copied.here", "--parents")
	require.Zero(t, code, errs)
	assert.Contains(t, out, " into copied.here: ")
	assert.Contains(t, out, " 0 changed, 0 the same\nscripter --root ")

	for file, want := range map[string]string{
		"none.zip":        "/pub/none.zip: ",
		"":                "fetch ftp://",
		"a%0D%0ADELE%20b": "fetch ftp://",
		"large.zip --max-size": "the file is larger than an archive may be: 2097152 bytes, at most 1048576 are allowed\n" +
			"scripter: hint: --max-size allows more",
		"large.zip":             "archive is refused",
		"large.zip --timeout 0": "--timeout is more",
	} {
		args := strings.Fields(url + file)
		if len(args) == 2 {
			args = append(args, "1")
		}
		code, _, errs := tooled(t, append([]string{"--root", root, "import"}, args...)...)
		assert.NotZero(t, code, file)
		assert.Contains(t, errs, want, file)
	}
}
