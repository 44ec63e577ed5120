package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"scripter/internal/testlog"
	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
)

// shell is a shell at a terminal, with the completion installed as "scripter completion
// --help" says. The key Ctrl-T writes the line that is edited to a file, and empties it.
type shell struct {
	keys *os.File
	seen testlog.Buffer
	dir  string
	line string // the file
}

// shellSetUps are the files that make the shells complete, and the programs with their
// arguments.
var shellSetUps = map[string]struct {
	args  []string
	file  string
	lines string
}{
	"bash": {[]string{"bash", "--noprofile", "-i"}, ".bashrc", `
source <(scripter completion bash)
shown() { printf %s "$READLINE_LINE" >line.new; mv line.new line; READLINE_LINE=; }
bind -x '"\C-t": shown'
`},
	"zsh": {[]string{"zsh", "-i"}, ".zshrc", `
mkdir -p ~/.zfunc; scripter completion zsh > ~/.zfunc/_scripter
fpath+=(~/.zfunc); autoload -Uz compinit; compinit -u
shown() { print -rn -- "$BUFFER" >line.new; mv line.new line; BUFFER=; }
zle -N shown; bindkey '^T' shown
`},
	"fish": {[]string{"fish", "-i"}, ".config/fish/config.fish", `
mkdir -p ~/.config/fish/completions; scripter completion fish > ~/.config/fish/completions/scripter.fish
function shown; commandline >line.new; mv line.new line; commandline ''; end
bind \ct shown
`},
}

func startShell(t *testing.T, name string) *shell {
	t.Helper()
	setUp := shellSetUps[name]
	program, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("SCRIPTER_REQUIRE_SERVERS") == "1" {
			t.Fatalf("%s is not installed", name)
		}
		t.Skipf("%s is not installed", name)
	}
	s := &shell{dir: t.TempDir()}
	s.line = filepath.Join(s.dir, "line")
	exe, err := os.Executable()
	require.NoError(t, err)
	// testscript.Main chooses the command by the name of the program.
	require.NoError(t, os.Mkdir(filepath.Join(s.dir, "bin"), 0o755))
	require.NoError(t, os.Symlink(exe, filepath.Join(s.dir, "bin", "scripter")))
	require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(s.dir, setUp.file)), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, setUp.file), []byte(setUp.lines), 0o644))

	person, terminal := openTerminal(t)
	require.NoError(t, unix.IoctlSetWinsize(int(person.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: 200}))
	s.keys = person
	c := exec.Command(program, setUp.args[1:]...)
	c.Dir = s.dir
	c.Env = []string{"HOME=" + s.dir, "ZDOTDIR=" + s.dir, "PATH=" + filepath.Join(s.dir, "bin") + ":" + os.Getenv("PATH"),
		"TERM=xterm", "LANG=C.UTF-8", "PS1=$ "}
	c.Stdin, c.Stdout, c.Stderr = terminal, terminal, terminal
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, c.Start())
	go func() {
		for buffer := make([]byte, 4096); ; {
			n, err := person.Read(buffer)
			if err != nil {
				return
			}
			s.seen.Write(buffer[:n])
		}
	}()
	t.Cleanup(func() {
		syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
		c.Wait()
		if t.Failed() {
			t.Logf("%s:\n%q", name, s.seen.String())
		}
	})
	s.command(t, `scripter init && scripter put -p odd.plain 1 -q && scripter put 'odd.["a name"].in' 2 -q -p && `+
		`scripter put 'odd.["it'\''s $5"]' 3 -q && scripter --root other.root init && mkdir -p sub/folder && touch sub/file`)
	return s
}

// command runs a command, and waits until it is done.
func (s *shell) command(t *testing.T, command string) {
	t.Helper()
	done := filepath.Join(s.dir, "done")
	os.Remove(done)
	fmt.Fprintf(s.keys, "%s; echo >done\r", command)
	require.Eventually(t, func() bool { _, err := os.Stat(done); return err == nil }, patience, 5*time.Millisecond)
}

// press types keys, and returns what the line is then.
func (s *shell) press(t *testing.T, keys string) string {
	t.Helper()
	os.Remove(s.line)
	fmt.Fprint(s.keys, keys+"\x14")
	var line []byte
	require.Eventually(t, func() (done bool) {
		var err error
		line, err = os.ReadFile(s.line)
		return err == nil
	}, patience, 5*time.Millisecond, keys)
	return strings.TrimSuffix(string(line), "\n")
}

func TestCompletionInShells(t *testing.T) {
	for _, name := range shells {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startShell(t, name)
			files, err := os.ReadDir(s.dir)
			require.NoError(t, err)
			for typed, want := range map[string]string{
				"scripter vers":                        "scripter version ",
				"scripter put --par":                   "scripter put --parents ",
				"scripter help comp":                   "scripter help completion ",
				"scripter completion f":                "scripter completion fish ",
				"scripter get user.we":                 "scripter get user.webserver.",
				"scripter get user.webserver.":         "scripter get user.webserver.",
				"scripter get USER.we":                 "scripter get USER.webserver.",
				"scripter get user.webserver.errorS":   "scripter get user.webserver.errorStatus ",
				"scripter get user.webserver.errors":   "scripter get user.webserver.errorStatus ",
				"scripter rm odd.plain od":             "scripter rm odd.plain odd.",
				"scripter run suites.webserver.httph":  "scripter run suites.webserver.httpheader",
				"scripter get odd.a":                   `scripter get odd.\[\"a\ name\"\].`,
				`scripter get odd.\[\"a\ n`:            `scripter get odd.\[\"a\ name\"\].`,
				`scripter get odd.\[\"a\ name\"\].`:    `scripter get odd.\[\"a\ name\"\].in `,
				`scripter get 'odd.["a`:                `scripter get 'odd.["a name"].`,
				`scripter get 'odd.["a name"].i`:       `scripter get 'odd.["a name"].in' `,
				`scripter get "odd.[\"a`:               `scripter get "odd.[\"a name\"].`,
				"scripter get odd.it":                  `scripter get odd.\[\"it\'s\ \$5\"\] `,
				`scripter get "odd.[\"it`:              `scripter get "odd.[\"it's \$5\"]" `,
				"scripter put odd.x true --kind bo":    "scripter put odd.x true --kind boolean ",
				"scripter put odd.x true --kind=bo":    "scripter put odd.x true --kind=boolean ",
				"scripter settings saveI":              "scripter settings saveInterval ",
				"scripter settings flDebug t":          "scripter settings flDebug true ",
				"scripter limits odd.plain maxT":       "scripter limits odd.plain maxTime ",
				"scripter call /samples.tellT":         "scripter call /samples.tellTime.fcgi ",
				"scripter actions MAC":                 "scripter actions MACRO ",
				"scripter --root other.ro":             "scripter --root other.root ",
				"scripter --root=other.ro":             "scripter --root=other.root ",
				"scripter import sub/fi":               "scripter import sub/file ",
				"scripter types sub/f":                 "scripter types sub/folder/",
				"scripter --root ~/other.root get us":  "scripter --root ~/other.root get user.",
				"scripter --root=other.root get us":    "scripter --root=other.root get user.",
				"scripter --root other.root get od":    "scripter --root other.root get od",
				"scripter --root missing.root get us":  "scripter --root missing.root get us",
				"scripter --root .bashrc get us":       "scripter --root .bashrc get us",
				"scripter get user.webserver.nothing":  "scripter get user.webserver.nothing",
				"scripter get odd.plain us":            "scripter get odd.plain us",
				"scripter nothing us":                  "scripter nothing us",
				"scripter get $(touch made) us":        "scripter get $(touch made) us",
				"scripter get `touch made` us":         "scripter get `touch made` us",
				"scripter get user.webserver.flDebugS": "scripter get user.webserver.flDebugSecrets ",
			} {
				assert.Equal(t, want, s.press(t, typed+"\t"), typed)
			}
			if name == "bash" { // the others take the quote for one of the shell
				assert.Equal(t, `scripter get odd.["\"a name\"].`, s.press(t, `scripter get odd.["a`+"\t"))
				assert.Equal(t, "scripter get odd.plain >sub/file ", s.press(t, "scripter get odd.plain >sub/fi\t"))
			}
			keys := "\t\t"
			if name == "fish" {
				keys = "\t" // another one takes the first of the list
			}
			list := s.press(t, "scripter get user.webserver.flDe"+keys)
			assert.Equal(t, "scripter get user.webserver.flDebug", list, "what all have in common")
			assert.Contains(t, s.seen.String(), "user.webserver.flDebugSecrets", "the list")
			if name != "bash" {
				assert.Contains(t, s.seen.String(), "boolean, 1 byte", "descriptions")
			}
			s.command(t, "export SCRIPTER_ROOT=other.root; rm line")
			assert.Equal(t, "scripter get user.", s.press(t, "scripter get us\t"), "SCRIPTER_ROOT")
			assert.Equal(t, "scripter get od", s.press(t, "scripter get od\t"), "SCRIPTER_ROOT")
			s.command(t, "rm line done")
			after, err := os.ReadDir(s.dir)
			require.NoError(t, err)
			assert.Equal(t, names(files), names(after), "completion has made or removed files")
			assert.NotContains(t, s.seen.String(), "scripter:", "an error")
		})
	}
}

// What bash reads is the address that was offered, in any quotes.
func TestQuotedForBash(t *testing.T) {
	const names = "a b'c\"d\\e$(f)`g`!{h,i}[j]*k?~l#m;n&o|p<q>r=s%t@u:v^w\tx\ny\x01z\u200bÄ"
	a := objectdb.Address{names, "plain", "~", "it's"}
	for i := range a {
		n := typedName{a[i], &objectdb.Node{}}
		text := n.spelled(!n.isBare())
		back, err := objectdb.ParseAddress(text)
		require.NoError(t, err)
		assert.Equal(t, objectdb.Address{a[i]}, back)
		assert.Equal(t, text, visible(text))
		for _, quote := range []string{"", "'", `"`} {
			s := splitLine("scripter get " + quote)
			word := s.quoted("", text) + quote
			out, err := exec.Command("bash", "-c", "printf %s "+word).Output()
			require.NoError(t, err, word)
			assert.Equal(t, text, string(out))
			assert.Equal(t, []string{"scripter", text}, splitLine("scripter "+word).words, "as bash reads it")
		}
	}
	for line, want := range map[string][]string{
		"scripter  get ":                   {"scripter", "get", ""},
		`scripter "a b"'c'd\ e x`:          {"scripter", "a bcd e", "x"},
		`scripter "a\b\"`:                  {"scripter", `a\b"`},
		`scripter <in get >out 2>&1 "" 'x`: {"scripter", "get", "2", "", "x"},
		`scripter a\`:                      {"scripter", "a"},
	} {
		assert.Equal(t, want, splitLine(line).words, line)
	}
}

// Every argument and every flag with a value has a completion, if only "nothing".
func TestEverythingIsCompleted(t *testing.T) {
	commands := (&tool{}).command().Commands()
	for _, c := range commands {
		commands = append(commands, c.Commands()...)
	}
	for _, c := range commands {
		for _, f := range visited(c.Flags().VisitAll) {
			if _, found := c.GetFlagCompletionFunc(f.Name); f.Value.Type() != "bool" {
				assert.True(t, found, "%s --%s: t.flag (see completion.go) says how its value is completed", c.Name(), f.Name)
			}
		}
		if words := strings.Fields(c.Use); len(words) > 1 && !strings.HasPrefix(words[1], "-") {
			assert.NotNil(t, c.ValidArgsFunction, "%s: t.arguments (see completion.go) says how they are completed", c.Use)
		}
	}
}

func visited[T any](visit func(func(T))) (list []T) {
	visit(func(each T) { list = append(list, each) })
	return list
}

// However many objects a table has, few are read, and their common beginnings lead to all.
func TestOffersOfLargeTable(t *testing.T) {
	t.Setenv("SCRIPTER_ROOT", filepath.Join(t.TempDir(), "large.root"))
	db, err := sqlitestore.Create(os.Getenv("SCRIPTER_ROOT"), objectdb.Options{Relaxed: true})
	require.NoError(t, err)
	defer db.Close()
	all := map[string]bool{}
	require.NoError(t, db.Update(t.Context(), func(tx *objectdb.Tx) error {
		put := func(name string) {
			all[objectdb.Fold(name)] = true
			require.NoError(t, tx.Put(objectdb.Address{"large", name}, objectdb.Number(1)))
		}
		require.NoError(t, tx.NewTable(objectdb.Address{"large"}))
		for i := range 5000 {
			put(fmt.Sprintf("Item%05d", i))
			put(fmt.Sprintf("www%d.example.com", i*7919))
		}
		put("item")
		put("Ärger")
		return nil
	}))
	found := map[string]bool{}
	asked := 0
	var walk func(typed string)
	walk = func(typed string) {
		asked++
		o := (&tool{}).offers(t.Context(), []string{"get", typed}, false)
		require.LessOrEqual(t, len(o.list), mostOffers)
		for _, offer := range o.list {
			if !offer.open {
				a, err := objectdb.ParseAddress(offer.text)
				require.NoError(t, err)
				found[objectdb.Fold(a.Name())] = true
			} else if offer.text != typed {
				walk(offer.text)
			}
		}
	}
	walk("large.")
	assert.Equal(t, all, found)
	assert.Less(t, asked, 500)
}

// names returns the names of files, without those of the test itself.
func names(files []os.DirEntry) (list []string) {
	for _, f := range files {
		if name := f.Name(); name != "done" && name != "line" && !strings.HasPrefix(name, ".") {
			list = append(list, name)
		}
	}
	return list
}
