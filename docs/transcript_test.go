package docs_test

import (
	"bufio"
	"bytes"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/postgrestest"
)

// patience is how long a command may take, and a server until it listens: "go
// run" compiles it first, and the machine may be busy.
const patience = 5 * time.Minute

// manual is where the built-in server listens in the manual; the tests let
// it choose a free port.
const manual = "127.0.0.1:8080"

// command is one command of a transcript, and what it prints.
type command struct {
	line int // in the page, from 1
	text string
	want []string
}

// transcript gives the commands of a page: the lines after "$ " in indented
// blocks and in blocks of the language console. A line after "> " goes on
// with the command. All other lines of a block are what the command prints.
func transcript(page string) []command {
	var list []command
	indent, open := "", false // open: in a block that has begun with a command
	for i, line := range strings.Split(page, "\n") {
		switch {
		case strings.HasPrefix(line, "```"):
			open, indent = line == "```console", ""
			continue
		case !open && strings.HasPrefix(line, "    $ "):
			open, indent = true, "    "
		case open && indent != "" && line != "" && !strings.HasPrefix(line, indent):
			open = false
		}
		if !open {
			continue
		}
		line = strings.TrimPrefix(line, indent)
		last := len(list) - 1
		switch {
		case strings.HasPrefix(line, "$ "):
			list = append(list, command{line: i + 1, text: line[2:]})
		case last < 0:
		case strings.HasPrefix(line, "> ") && len(list[last].want) == 0:
			list[last].text += "\n" + line[2:]
		default:
			list[last].want = append(list[last].want, strings.TrimRight(line, " "))
		}
	}
	for i := range list {
		list[i].want = trimEmpty(list[i].want)
	}
	return list
}

func trimEmpty(lines []string) []string {
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// pattern matches what a command may print: "..." alone on a line stands for
// any number of lines, within a line for any text of it.
func pattern(want []string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`\A`)
	for _, line := range want {
		if line == "..." {
			b.WriteString(`(?:.*\n)*?`)
			continue
		}
		parts := strings.Split(line, "...")
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		b.WriteString(strings.Join(parts, ".*") + `\n`)
	}
	b.WriteString(`\z`)
	return regexp.MustCompile(b.String())
}

// tidy makes what was printed comparable: without carriage returns, blanks
// at line ends and empty lines at the end.
func tidy(printed string) string {
	lines := strings.Split(strings.ReplaceAll(printed, "\r", ""), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	if lines = trimEmpty(lines); len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// session runs the commands of one page in a folder of its own.
type session struct {
	dir    string
	home   string
	status int    // of the command before, for "echo $?"
	addr   string // where the server listens
	root   string // the URL that stands for manualRoot
}

// manualRoot is the URL of a root in the manual.
const manualRoot = "postgres://scripter@db.example.com/site"

// run runs a command in a shell and gives what it printed, on both ways.
func (s *session) run(t *testing.T, text string) string {
	t.Helper()
	if s.addr != "" {
		text = strings.ReplaceAll(text, manual, s.addr)
	}
	if s.root != "" {
		text = strings.ReplaceAll(text, manualRoot, s.root)
	}
	c := s.shell("(exit " + string(rune('0'+s.status)) + ")\n" + text)
	var printed bytes.Buffer
	c.Stdout, c.Stderr = &printed, &printed
	require.NoError(t, c.Start())
	stuck := time.AfterFunc(patience, func() { syscall.Kill(-c.Process.Pid, syscall.SIGKILL) })
	err := c.Wait()
	stuck.Stop()
	out := printed.String()
	if s.root != "" {
		out = strings.ReplaceAll(out, s.root, manualRoot)
	}
	if _, failed := err.(*exec.ExitError); err != nil && !failed {
		require.NoError(t, err)
	}
	s.status = c.ProcessState.ExitCode()
	if s.addr == "" {
		return out
	}
	return strings.ReplaceAll(out, s.addr, manual)
}

func newSession(t *testing.T) *session {
	t.Helper()
	s := &session{dir: t.TempDir(), home: t.TempDir()}
	// At a terminal curl shows no progress; here it must be told.
	require.NoError(t, os.WriteFile(filepath.Join(s.home, ".curlrc"), []byte("silent\nshow-error\n"), 0o600))
	return s
}

func (s *session) shell(text string) *exec.Cmd {
	c := exec.Command("sh", "-c", text)
	c.Dir = s.dir
	// What is ended is ended with all that it has started.
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.WaitDelay = 10 * time.Second
	c.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + s.home, "TMPDIR=" + s.home,
		"LC_ALL=C", "TZ=UTC"}
	return c
}

var servesAt = regexp.MustCompile(`at http://([^/]+)/`)

// serve starts a server, which is ended with the test, and gives what it
// prints until it is ready.
func (s *session) serve(t *testing.T, c *exec.Cmd) string {
	t.Helper()
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	var log bytes.Buffer
	c.Stderr = &log
	// "go run" starts the program and waits for it: as Ctrl-C does, the
	// signals go to both, and to nobody else.
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.WaitDelay = 10 * time.Second
	require.NoError(t, c.Start())
	signal := func(sig syscall.Signal) { syscall.Kill(-c.Process.Pid, sig) }
	t.Cleanup(func() {
		signal(syscall.SIGINT)
		stuck := time.AfterFunc(20*time.Second, func() { signal(syscall.SIGKILL) })
		defer stuck.Stop()
		c.Wait()
	})
	slow := time.AfterFunc(patience, func() { signal(syscall.SIGKILL) })
	defer slow.Stop()
	printed := ""
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		printed += lines.Text() + "\n"
		if strings.HasPrefix(lines.Text(), "Stop with") {
			break
		}
	}
	go io.Copy(io.Discard, out)
	m := servesAt.FindStringSubmatch(printed)
	require.NotNil(t, m, "the server printed %q and %q", printed, log.String())
	s.addr = m[1]
	return strings.ReplaceAll(printed, s.addr, manual)
}

// TestTranscripts runs every command that the manual shows.
func TestTranscripts(t *testing.T) {
	_, err := exec.LookPath("curl")
	require.NoError(t, err, "the manual's commands use curl")
	for _, page := range pages(t) {
		name := strings.TrimPrefix(page, filepath.Join("..", "docs")+string(filepath.Separator))
		if name == "hosts.md" || !filepath.IsLocal(name) || len(transcript(read(t, page))) == 0 {
			continue // TestTranscriptOfHosts and TestReadme
		}
		t.Run(name, func(t *testing.T) {
			commands := transcript(read(t, page))
			s := newSession(t)
			here, err := os.Getwd()
			require.NoError(t, err)
			require.NoError(t, os.Symlink(here, filepath.Join(s.dir, "docs")))
			if commands[0].text != "scripter init" {
				// The other pages go on where "scripter init" ended.
				s.run(t, "scripter init")
			}
			for _, c := range commands {
				s.check(t, page, c)
			}
		})
	}
}

// TestTranscriptOfHosts runs the commands of the page about roots in PostgreSQL.
func TestTranscriptOfHosts(t *testing.T) {
	server := postgrestest.New(t, postgrestest.Fast...)
	t.Cleanup(server.Remove)
	s := newSession(t)
	s.root = server.URL("host_folder=" + url.QueryEscape(s.dir))
	s.run(t, "scripter init")
	for _, c := range transcript(read(t, "hosts.md")) {
		s.check(t, "hosts.md", c)
	}
}

// TestDifferences checks that hosts.md names a test for each difference between a file and PostgreSQL.
func TestDifferences(t *testing.T) {
	tests, _, _ := listTests(t)
	_, table, found := strings.Cut(read(t, "hosts.md"), "## What differs\n")
	require.True(t, found)
	rows := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|") // "", what, file, PostgreSQL, tests, ""
		if len(cells) != 6 || strings.HasPrefix(cells[1], "---") || strings.TrimSpace(cells[4]) == "shown by" {
			continue
		}
		rows++
		named := namedTest.FindAllStringSubmatch(cells[4], -1)
		assert.NotEmpty(t, named, line)
		for _, m := range named {
			assert.True(t, slices.Contains(tests, m[1]), "hosts.md names %s, which does not exist", m[1])
		}
	}
	assert.NotZero(t, rows)
}

func (s *session) check(t *testing.T, page string, c command) {
	t.Helper()
	printed := ""
	if text, server := strings.CutSuffix(c.text, " &"); server {
		printed = s.serve(t, s.shell("exec "+text+" --addr 127.0.0.1:0"))
	} else {
		printed = s.run(t, c.text)
	}
	printed = tidy(printed)
	assert.Regexp(t, pattern(c.want), printed, "%s, line %d: $ %s\nwant:\n%s\n\ngot:\n%s",
		page, c.line, c.text, strings.Join(c.want, "\n"), printed)
}

// TestReadme does what the README says first: start the server from the
// source, and then, in another terminal, its commands. Only folders and the
// port are others than there.
func TestReadme(t *testing.T) {
	_, err := exec.LookPath("curl")
	require.NoError(t, err, "the README's commands use curl")
	page := read(t, "../README.md")
	const start, build = "go run ./cmd/scripter serve", "go build -o bin/ ./cmd/..."
	require.Contains(t, page, "    "+start+" ")
	require.Contains(t, page, "    $ "+build+"\n")

	s := newSession(t)
	goRun := exec.Command("go", append(strings.Fields(start)[1:], "--addr", "127.0.0.1:0",
		"--root", filepath.Join(s.dir, "scripter.root"), "--site", filepath.Join(s.dir, "site"))...)
	goRun.Dir = ".."
	printed := s.serve(t, goRun)
	assert.Contains(t, printed, "with the supplied objects")
	assert.Contains(t, printed, "with a sample site")
	assert.Contains(t, printed, "/scripter/login?link=")
	// Without the flags the folder is that of the clone: what is made there must not lie there already.
	require.Contains(t, page, "a small site in `./www`")
	for _, made := range []string{"scripter.root", "www/default.mcro"} {
		out, err := exec.Command("git", "-C", "..", "check-ignore", made).CombinedOutput()
		assert.NoError(t, err, "%s is a file of the repository: %s", made, out)
	}
	assert.Contains(t, s.run(t, "curl -s http://"+manual+"/"), `href="/samples.tellParams.fcgi`)

	for _, c := range transcript(page) {
		if c.text == build {
			b := exec.Command("go", "build", "-o", filepath.Join(s.dir, "bin")+"/", "./cmd/...")
			b.Dir = ".."
			out, err := b.CombinedOutput()
			require.NoError(t, err)
			assert.Empty(t, string(out))
			continue
		}
		s.check(t, "README.md", c)
	}
}

// The runner itself: what it takes for a command, and what "..." matches.
func TestTranscriptRunner(t *testing.T) {
	list := transcript("text\n\n    $ one\n    out\n\n    more\n    $ two <<E\n    > in\n    > E\n\ntext $ no\n\n```console\n$ three\n```\n\n    no command\n")
	assert.Equal(t, []command{
		{3, "one", []string{"out", "", "more"}},
		{7, "two <<E\nin\nE", []string{}},
		{14, "three", nil},
	}, list)

	cases := []struct {
		want    []string
		printed string
		matches bool
	}{
		{nil, "", true},
		{nil, "x\n", false},
		{[]string{"a ... c"}, "a b c\n", true},
		{[]string{"a ... c"}, "a b\nc\n", false},
		{[]string{"a", "...", "d"}, "a\nb\nc\nd\n", true},
		{[]string{"a", "...", "d"}, "a\nd\n", true},
		{[]string{"a", "...", "d"}, "a\nb\n", false},
		{[]string{"a.b"}, "axb\n", false},
	}
	for _, c := range cases {
		assert.Equal(t, c.matches, pattern(c.want).MatchString(c.printed), "%q, %q", c.want, c.printed)
	}
}
