package torture

import (
	"bufio"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// call is a system call of a traced process. Begun and ended are lines of the
// trace, so they tell what was before what in all processes.
type call struct {
	begun, ended int
	name         string
	path, other  string // of the file; where a link or a new name leads
	off          int64  // of a write; -1: at the end
	size         int64  // that a file is cut to
	data         []byte
	made         bool // an open that may have made the file
	failed       bool // a sync that failed
}

// traced are the calls that change what is on the disk, and those that tell a
// visitor of it.
const traced = "openat,open,creat,pwrite64,write,writev,pwritev,ftruncate,fallocate,fsync,fdatasync," +
	"unlink,unlinkat,rename,renameat,renameat2,link,linkat,sendto,sendmsg"

// traceCommand returns a command that traces another one with all that it starts, and
// writes the calls to file: strings in full and as numbers, descriptors with their
// paths. inject is the fault that strace injects into calls (strace(1), inject=), or "".
func traceCommand(file, inject string, command ...string) []string {
	strace := []string{
		"strace", "-f", "--seccomp-bpf", "-qq", "-y", "-xx", "-s", "100000000",
		"-e", "trace=" + traced, "-e", "signal=none", "-o", file,
	}
	if inject != "" {
		strace = append(strace, "-e", "inject="+inject)
	}
	return append(strace, command...)
}

// What strace writes: a number, the call, and its result; or both apart, when
// others called something meanwhile.
const (
	traceUnfinished = " <unfinished ...>"
	traceResumed    = "<... "
)

// readTrace reads the calls that succeeded and the syncs that failed, in the order in which they began.
func readTrace(t *testing.T, file string) (calls []call) {
	t.Helper()
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	type part struct {
		line int
		text string
	}
	unfinished := map[string]part{}
	lines := bufio.NewReaderSize(f, 1<<20)
	for n := 1; ; n++ {
		text, err := lines.ReadString('\n')
		if err != nil {
			break
		}
		pid, rest, _ := strings.Cut(strings.TrimSuffix(text, "\n"), " ")
		rest = strings.TrimLeft(rest, " ")
		begun := n
		if first, ok := strings.CutSuffix(rest, traceUnfinished); ok {
			unfinished[pid] = part{n, strings.TrimSuffix(first, ",")}
			continue
		}
		if second, ok := strings.CutPrefix(rest, traceResumed); ok {
			_, second, _ = strings.Cut(second, ">")
			begun, rest = unfinished[pid].line, unfinished[pid].text+second
			delete(unfinished, pid)
		}
		if c, ok := readCall(rest); ok {
			c.begun, c.ended = begun, n
			calls = append(calls, c)
		}
	}
	// What was under way at the end may have happened.
	slices.SortStableFunc(calls, func(a, b call) int { return a.begun - b.begun })
	return calls
}

// readCall parses a call that has succeeded or a sync that has failed, and reports whether
// it is of interest.
func readCall(text string) (c call, ok bool) {
	if at := strings.LastIndex(text, "= -1 "); at >= 0 {
		text = text[:at] + "= -1" // without the text in parentheses
	}
	end := strings.LastIndex(text, ") ")
	if end < 0 {
		return c, false
	}
	result := strings.TrimLeft(text[end+1:], " =")
	name, args, _ := strings.Cut(text[:end], "(")
	c = call{name: name, off: -1, failed: strings.HasSuffix(name, "sync") && strings.HasPrefix(result, "-1")}
	if !c.failed && (result == "" || result[0] < '0' || result[0] > '9') {
		return c, false
	}
	texts := strings.Split(args, `"`) // each other one is in quotation marks
	var gone bool
	if c.path, gone = bracketed(texts[0]); gone {
		return c, false // what happens to a file without a name is lost with it
	}
	last, _ := strconv.ParseInt(args[strings.LastIndex(args, " ")+1:], 10, 64)
	switch name {
	case "openat", "open", "creat":
		c.path, _ = bracketed(result)
		c.made = name == "creat" || strings.Contains(texts[len(texts)-1], "O_CREAT")
		return c, c.made
	case "pwrite64", "pwritev", "write", "writev", "sendto", "sendmsg":
		for i := 1; i < len(texts); i += 2 {
			c.data = append(c.data, unhex(texts[i])...)
		}
		if n, err := strconv.Atoi(result); err == nil && n < len(c.data) {
			c.data = c.data[:n]
		}
		if strings.HasPrefix(name, "pwrite") {
			c.off = last
		}
	case "ftruncate":
		c.size = last
	case "unlink", "unlinkat", "rename", "renameat", "renameat2", "link", "linkat":
		dir := c.path
		c.path = beneath(dir, unhex(texts[1]))
		if len(texts) > 3 {
			c.other = beneath(dir, unhex(texts[3]))
		}
		return c, !strings.Contains(args, "AT_REMOVEDIR")
	}
	return c, true
}

// bracketed returns the path that strace tells of a descriptor, and whether the
// file has lost its name.
func bracketed(text string) (path string, gone bool) {
	_, text, _ = strings.Cut(text, "<")
	path, rest, _ := strings.Cut(text, ">")
	return unhex(path), strings.HasPrefix(rest, "(deleted)")
}

func beneath(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

func unhex(s string) string {
	b, err := hex.DecodeString(strings.ReplaceAll(s, `\x`, ""))
	if err != nil {
		return s // it was not written as numbers
	}
	return string(b)
}
