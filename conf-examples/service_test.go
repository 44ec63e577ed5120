package conf_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/corpus"
	"scripter/internal/fcgitest"
	"scripter/internal/servertest"
)

// TestService checks that systemd accepts the unit and rates its exposure as low, and
// that the unit allows every system call that the program makes.
func TestService(t *testing.T) {
	servertest.Need(t, "systemd-analyze")
	servertest.Need(t, "strace")
	site := corpus.NewSite(t)
	text, err := os.ReadFile("scripter.service")
	require.NoError(t, err)
	unit := filepath.Join(t.TempDir(), "scripter.service")
	require.NoError(t, os.WriteFile(unit, bytes.ReplaceAll(text, []byte("/usr/local/bin/scripter-fcgi"),
		[]byte(site.Program("scripter-fcgi"))), 0o644))
	analyze := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("systemd-analyze", args...).CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	assert.Empty(t, analyze("verify", unit))
	// The threshold is ten times what docs/operations.md says.
	assert.Contains(t, analyze("security", "--offline=yes", "--no-pager", "--threshold=10", unit),
		"Overall exposure level for scripter.service: 0.5")

	sets := syscallSets(analyze("syscall-filter", "--no-pager"))
	allowed := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^SystemCallFilter=(~?)(.*)$`).FindAllStringSubmatch(string(text), -1) {
		for set := range strings.FieldsSeq(m[2]) {
			for _, name := range sets.all(set) {
				allowed[name] = m[1] == ""
			}
		}
	}
	for _, name := range sets.all("@default") {
		allowed[name] = true
	}
	require.Greater(t, len(allowed), 100)

	socket, trace := filepath.Join(t.TempDir(), "s"), filepath.Join(t.TempDir(), "trace")
	_, gid, asRoot := corpus.ServerUser(t)
	args := []string{"-f", "-qq", "-o", trace, site.Program("scripter-fcgi"), "--root", site.Root, "--listen",
		"unix:" + socket, "--status", "unix:" + socket + "s"}
	if asRoot {
		require.NotZero(t, gid)
		args = append(args, "--group", "www-data")
	}
	corpus.StartProcess(t, false, nil, "strace", args...).WaitFor(t, "unix", socket)
	for _, path := range []string{"/ready.fcgi", "/page-plain.mcro", "/none.fcgi"} {
		client, err := fcgitest.Dial(t.Context(), "unix:"+socket)
		require.NoError(t, err)
		_, err = client.Do(t.Context(), map[string]string{"REQUEST_METHOD": "GET", "SCRIPT_NAME": path, "REQUEST_URI": path,
			"DOCUMENT_ROOT": site.WWW}, strings.NewReader(""), io.Discard, io.Discard)
		require.NoError(t, err)
		require.NoError(t, client.Close())
	}
	calls, err := os.ReadFile(trace)
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\d+ +([a-z_0-9]+)\((.*)$`).FindAllStringSubmatch(string(calls), -1) {
		name, with := m[1], m[2]
		assert.True(t, allowed[name] || seen[name], "the unit does not allow %s (%s", name, with)
		seen[name] = true
		if name == "socket" || name == "socketpair" {
			assert.True(t, strings.HasPrefix(with, "AF_UNIX"), "%s(%s", name, with) // RestrictAddressFamilies
		}
		if name == "mmap" || name == "mprotect" { // MemoryDenyWriteExecute
			assert.False(t, strings.Contains(with, "PROT_WRITE") && strings.Contains(with, "PROT_EXEC"), with)
		}
	}
	assert.Greater(t, len(seen), 30)
}

// syscallSet maps systemd's groups of system calls to their members: names and groups.
type syscallSet map[string][]string

func syscallSets(listing string) syscallSet {
	sets, current := syscallSet{}, ""
	for line := range strings.Lines(listing) {
		name := strings.TrimSpace(line)
		switch {
		case name == "" || strings.HasPrefix(name, "#"):
		case strings.HasPrefix(line, "@"):
			current = name
		default:
			sets[current] = append(sets[current], name)
		}
	}
	return sets
}

func (s syscallSet) all(set string) []string {
	var names []string
	for _, name := range s[set] {
		if strings.HasPrefix(name, "@") {
			names = append(names, s.all(name)...)
		} else {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
