package lua_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/lua"
	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
	"scripter/script"
)

// The differential test runs random programs (see generator) here and with PUC
// Lua 5.1.5 and compares what they print. Here they run as all scripts do: in a
// Thread over a root.

// prelude is run before each generated program.
var prelude = sync.OnceValues(func() (string, error) {
	source, err := os.ReadFile("testdata/differential/prelude.lua")
	return string(source), err
})

// A printer keeps what a program prints.
type printer struct{ strings.Builder }

// engine has one verb: print.
var engine = script.NewEngine([]script.Verb{{Name: "print", Func: func(c *script.Call) error {
	out := c.Thread().Host().(*printer)
	for i := 1; i <= c.NArgs(); i++ {
		if i > 1 {
			out.WriteByte('\t')
		}
		out.WriteString(c.Text(i))
	}
	out.WriteByte('\n')
	return nil
}}})

// newRoot returns an empty root.
func newRoot(t testing.TB) *objectdb.DB {
	t.Helper()
	db, err := sqlitestore.Create(filepath.Join(t.TempDir(), "test.root"), objectdb.Options{Relaxed: true})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	return db
}

// define assigns nil to all names in its argument that are not defined: an
// undefined name is an error in a Thread unless the run has assigned it.
const define = `print = print
for name in (...):gmatch "[%a_][%w_]*" do
	if rawget (_G, name) == nil then
		_G [name] = nil
	end
end`

// outOfFuel is the error with which the prelude ends a program that runs too long.
// It has no place in PUC Lua; a script.Error always has one.
const outOfFuel = "out of fuel"

// runGenerated returns what a generated program prints.
func runGenerated(t testing.TB, db *objectdb.DB, source string) string {
	t.Helper()
	first, err := prelude()
	require.NoError(t, err)
	var out printer
	require.NoError(t, db.View(context.Background(), func(tx *objectdb.Tx) error {
		limits := lua.Limits{Time: lua.Patience, Coroutines: 1 << 20}
		thread := engine.NewThread(context.Background(), script.ThreadOptions{Tx: tx, Limits: limits, Host: &out})
		defer thread.Close()
		_, err := thread.RunSource("prelude", first)
		require.NoError(t, err)
		_, err = thread.RunSource("define", define, source)
		require.NoError(t, err)
		if _, err := thread.RunSource("program", source); err != nil {
			text := err.Error()
			if e := new(script.Error); errors.As(err, &e) && e.Message == outOfFuel {
				text = e.Message
			}
			out.WriteString("error: " + text + "\n")
		}
		return nil
	}))
	return settleOutput(out.String())
}

// Addresses of objects and the sign of NaN differ between machines.
var unsettled = regexp.MustCompile(`(table|function|thread|userdata): 0x[0-9a-f]+|-nan\b`)

func settleOutput(s string) string {
	s = lastPlace.ReplaceAllString(s, "error: ")
	return unsettled.ReplaceAllStringFunc(s, func(found string) string {
		if found == "-nan" {
			return "nan"
		}
		kind, _, _ := strings.Cut(found, ":")
		return kind + ": 0x0"
	})
}

// lastPlace matches the place of the error that ends a program: a Thread finds one
// also for an error that has none.
var lastPlace = regexp.MustCompile(`(?m)^error: (program|prelude):\d+: `)

// operandName matches the name of an operand in a message.
var operandName = regexp.MustCompile(`(?:local|upvalue|global|field|method) '[^']*' \((a \w+ value)\)`)

// withoutNames drops the names of operands: PUC Lua finds some that "and", "or" and
// "not" have made, which is a listed departure.
func withoutNames(s string) string { return operandName.ReplaceAllString(s, "$1") }

// assertSame compares the lines that two programs print. Names of operands that are
// in want alone do not count.
func assertSame(t *testing.T, want, got string, about ...any) {
	t.Helper()
	wants, gots := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range wants {
		if i < len(gots) && gots[i] == withoutNames(wants[i]) {
			wants[i] = gots[i]
		}
	}
	assert.Equal(t, wants, gots, about...)
}

// referenceLua returns the path of PUC Lua, or "" if it is not installed. Where the
// tests require the web servers, they require PUC Lua too.
func referenceLua(t testing.TB) string {
	path, err := exec.LookPath("lua5.1")
	if err != nil {
		if os.Getenv("SCRIPTER_REQUIRE_SERVERS") == "1" {
			t.Fatal("lua5.1 is not installed: run conf-examples/install-servers")
		}
		return ""
	}
	return path
}

// runReference returns what PUC Lua prints for each of the programs.
func runReference(path string, sources []string) ([]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	var in, out, complaint bytes.Buffer
	for _, s := range sources {
		fmt.Fprintf(&in, "%d\n%s", len(s), s)
	}
	cmd := exec.CommandContext(ctx, path, "testdata/differential/reference.lua", "testdata/differential/prelude.lua")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &in, &out, &complaint
	cmd.Env = []string{"LC_ALL=C", "TZ=UTC"}
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, complaint.String())
	}
	outputs := make([]string, 0, len(sources))
	for r := bufio.NewReader(&out); len(outputs) < len(sources); {
		line, err := r.ReadString('\n')
		if err != nil {
			return nil, fmt.Errorf("output %d: %w", len(outputs), err)
		}
		n, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			return nil, err
		}
		text := make([]byte, n)
		if _, err := io.ReadFull(r, text); err != nil {
			return nil, err
		}
		outputs = append(outputs, settleOutput(string(text)))
	}
	return outputs, nil
}

// generators make the three sorts of programs.
var generators = []struct {
	name string
	make func(seed uint64) string
}{{"program", lua.Program}, {"library", lua.LibraryProgram}, {"syntax", lua.SyntaxProgram}}

const (
	batchSize = 100 // programs whose outputs have one line in golden.txt
	batches   = 20  // of each sort in golden.txt
)

const goldenFile = "testdata/differential/golden.txt"

// TestDifferentialGolden compares what generated programs print with what PUC
// Lua printed, which needs no PUC Lua: golden.txt has, for each batch, hashes of
// the programs and of the outputs. To write it anew: make differential-golden.
func TestDifferentialGolden(t *testing.T) {
	if os.Getenv("SCRIPTER_DIFFERENTIAL_WRITE") == "1" {
		writeGolden(t)
	}
	text, err := os.ReadFile(goldenFile)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	require.Len(t, lines, batches*len(generators))
	db := newRoot(t)
	n := batches
	if !lua.WholeLanguage() {
		n = 2
	}
	for i, g := range generators {
		for batch := range n {
			sources := generated(g.make, uint64(batch*batchSize), batchSize)
			outputs := make([]string, len(sources))
			for j, s := range sources {
				outputs[j] = runGenerated(t, db, s)
			}
			want := lines[i*batches+batch]
			if got := goldenLine(g.name, batch, sources, outputs); got != want {
				require.Equal(t, strings.Fields(want)[:3], strings.Fields(got)[:3], "the generator has changed: run make differential-golden")
				explain(t, sources, outputs)
				require.Equal(t, want, got)
			}
		}
	}
	lua.CountLanguage(t, "language: %d generated programs, %d generated library calls and %d mistaken scripts as PUC Lua 5.1.5",
		n*batchSize, n*batchSize*lua.CallsOfEach, n*batchSize*lua.CallsOfEach)
}

func generated(make func(uint64) string, from uint64, n int) []string {
	var sources []string
	for i := range n {
		sources = append(sources, make(from+uint64(i)))
	}
	return sources
}

// goldenLine is the line of a batch: its sort and number, a hash of the
// programs, a hash of the outputs.
func goldenLine(name string, batch int, sources, outputs []string) string {
	hash := func(texts []string) string {
		h := sha256.New()
		for _, s := range texts {
			s = withoutNames(s)
			fmt.Fprintf(h, "%d\n%s", len(s), s)
		}
		return hex.EncodeToString(h.Sum(nil)[:8])
	}
	return fmt.Sprintf("%s %d %s %s", name, batch, hash(sources), hash(outputs))
}

// explain shows where outputs differ from PUC Lua's, if that is installed.
func explain(t *testing.T, sources, outputs []string) {
	path := referenceLua(t)
	if path == "" {
		return
	}
	want, err := runReference(path, sources)
	require.NoError(t, err)
	for i := range sources {
		assertSame(t, want[i], outputs[i], sources[i])
	}
}

// samples are the programs that lie in testdata/differential as they are, with
// what PUC Lua prints, for the reader.
const samples = 3

func writeGolden(t *testing.T) {
	path, err := exec.LookPath("lua5.1")
	require.NoError(t, err)
	var all strings.Builder
	for _, g := range generators {
		for batch := range batches {
			sources := generated(g.make, uint64(batch*batchSize), batchSize)
			outputs, err := runReference(path, sources)
			require.NoError(t, err)
			all.WriteString(goldenLine(g.name, batch, sources, outputs) + "\n")
			for i := 0; batch == 0 && i < samples; i++ {
				for extension, text := range map[string]string{".lua": sources[i], ".out": outputs[i]} {
					require.NoError(t, os.WriteFile(fmt.Sprintf("testdata/differential/%s-%d%s", g.name, i, extension), []byte(text), 0o644))
				}
			}
		}
	}
	require.NoError(t, os.WriteFile(goldenFile, []byte(all.String()), 0o644))
}

func TestDifferentialSamples(t *testing.T) {
	db := newRoot(t)
	for _, g := range generators {
		for i := range samples {
			name := fmt.Sprintf("testdata/differential/%s-%d", g.name, i)
			source, err := os.ReadFile(name + ".lua")
			require.NoError(t, err)
			want, err := os.ReadFile(name + ".out")
			require.NoError(t, err)
			assert.Equal(t, g.make(uint64(i)), string(source), "the generator has changed: run make differential-golden")
			assertSame(t, string(want), runGenerated(t, db, string(source)), name)
		}
	}
}

// TestDifferential compares with PUC Lua itself, where it is installed: as many
// programs of each sort as SCRIPTER_DIFFERENTIAL says, 100 if it says nothing,
// from the seed in SCRIPTER_DIFFERENTIAL_FROM on. See "make differential".
func TestDifferential(t *testing.T) {
	path := referenceLua(t)
	if path == "" {
		t.Skip("lua5.1 is not installed")
	}
	db := newRoot(t)
	n, from := fromEnvironment(t, "SCRIPTER_DIFFERENTIAL", 100), fromEnvironment(t, "SCRIPTER_DIFFERENTIAL_FROM", 1_000_000)
	for _, g := range generators {
		var work sync.WaitGroup
		seeds := make(chan uint64)
		for range 2 {
			work.Go(func() {
				for seed := range seeds {
					sources := generated(g.make, seed, batchSize)
					want, err := runReference(path, sources)
					if !assert.NoError(t, err, "%s from seed %d", g.name, seed) {
						continue
					}
					for i, s := range sources {
						got := runGenerated(t, db, s)
						assertSame(t, want[i], got, "%s of seed %d", g.name, seed+uint64(i))
					}
				}
			})
		}
		for seed := 0; seed < n; seed += batchSize {
			seeds <- uint64(from + seed)
		}
		close(seeds)
		work.Wait()
	}
	t.Logf("%d programs, %d library calls and %d mistaken scripts compared with PUC Lua, from seed %d on", n, n*lua.CallsOfEach, n*lua.CallsOfEach, from)
}

func fromEnvironment(t *testing.T, name string, otherwise int) int {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err, name)
	return n
}
