package foldersync

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestIgnore(t *testing.T) {
	for _, c := range []struct {
		lines, path string
		folder      bool
		want        decision
	}{
		{"*.txt", "a/b.txt", false, ignored},
		{"/b.txt", "a/b.txt", false, notMentioned},
		{"x/", "x", false, notMentioned},
		{"x/", "x", true, ignored},
		{"*\n!keep.lua", "keep.lua", false, included},
		{"a/**/z", "a/z", false, ignored},
		{"a/**/z", "a/b/c/z", false, ignored},
		{"**/z", "z", false, ignored},
		{"a/**", "a", true, notMentioned},
		{"[!a-c]x", "dx", false, ignored},
		{"[!a-c]x", "bx", false, notMentioned},
		{`\#x`, "#x", false, ignored},
		{"# comment", "# comment", false, notMentioned},
		{"trailing  ", "trailing", false, ignored},
		{`space\ `, "space ", false, ignored},
		{"crlf\r\n", "crlf", false, ignored},
		{"", "scratchpad", true, ignored},
		{"", "sub/scratchpad", true, notMentioned},
		{"", "user/webserver/debugToken.str", false, ignored},
		{"!debugToken.str", "user/webserver/debugToken.str", false, included},
	} {
		assert.Equal(t, c.want, newIgnoreRules("", c.lines).decide(c.path, c.folder), "%q %q", c.lines, c.path)
	}
	assert.True(t, newIgnoreRules("user/webserver", "").ignores("users", true), "below the address of the folder")
	assert.False(t, newIgnoreRules("user", "").ignores("users", true))
}

// TestIgnoreAsGit compares the rules with git, for random patterns and paths. (Git takes "a**/b" as
// "a", then "**/b", although its manual says otherwise: here it is "a*/b".)
func TestIgnoreAsGit(t *testing.T) {
	p := &pair{t: t, dir: t.TempDir()}
	p.git("init", "-q")
	parts := []string{"a", "b", "ab", "x.txt", "*", "**", "?", "[ab]", "[!a]", "a*", "*b", `\a`, "[[:alpha:]]", "[a-", "a?"}
	names := []string{"a", "b", "ab", "ba", "x.txt", "abc", "aXb", "a1"}
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 1))
		var lines []string
		for range 1 + r.IntN(3) {
			var of []string
			for range 1 + r.IntN(3) {
				of = append(of, parts[r.IntN(len(parts))])
			}
			line := strings.Join(of, "/")
			line = []string{"", "", "/", "!"}[r.IntN(4)] + line + []string{"", "", "/", " "}[r.IntN(4)]
			lines = append(lines, line)
		}
		text := strings.Join(lines, "\n") + "\n"
		require.NoError(t, os.WriteFile(filepath.Join(p.dir, ".gitignore"), []byte(text), 0o600))
		rules := &ignoreRules{patterns: parseIgnore(text)}
		var paths, want []string
		for range 40 {
			var of []string
			for range 1 + r.IntN(4) {
				of = append(of, names[r.IntN(len(names))])
			}
			paths = append(paths, strings.Join(of, "/"))
		}
		c := exec.Command("git", "check-ignore", "--no-index", "--stdin", "-z")
		c.Dir = p.dir
		c.Stdin = strings.NewReader(strings.Join(paths, "\x00"))
		out, err := c.Output()
		if len(out) > 0 {
			require.NoError(t, err)
			want = strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		}
		var got []string
		for _, path := range paths {
			// A folder that is ignored hides what is in it.
			all := strings.Split(path, "/")
			for i := range all {
				if rules.ignores(strings.Join(all[:i+1], "/"), i < len(all)-1) {
					got = append(got, path)
					break
				}
			}
		}
		require.Equal(t, want, got, "%q", text)
	}
}

func FuzzIgnore(f *testing.F) {
	f.Add("*.txt\n!a/**/[a-z]\\*/", "a/b.txt")
	f.Add("[[:alpha:]", "x")
	f.Fuzz(func(t *testing.T, lines, path string) {
		if len(lines) > 60 || len(path) > 60 {
			return // the user's own patterns may be slow
		}
		rules := newIgnoreRules("", lines)
		require.Equal(t, rules.decide(path, false) == ignored, rules.ignores(path, false))
	})
}

func FuzzBase(f *testing.F) {
	f.Add([]byte(`{"scripterSync":1,"items":[{"name":"t","sum":"table","path":"t"},{"name":"x","sum":"text:12","path":"t/x.txt"}]}`))
	f.Add([]byte(`{"scripterSync":1,"items":[{"name":"x","sum":"text:12","path":"../x.txt"},null]}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		b, err := decodeBase(content)
		if err != nil {
			return
		}
		again, err := decodeBase(b.encode())
		require.NoError(t, err)
		require.Equal(t, len(b.items), len(again.items))
		for _, it := range again.items {
			require.True(t, fs.ValidPath(it.Path) && !strings.HasPrefix(it.Path, "."), "%q", it.Path)
		}
	})
}
