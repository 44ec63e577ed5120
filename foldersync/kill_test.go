package foldersync

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
	"scripter/textdiff"
)

// TestMain lets the test program do one sync, for a test that kills it.
func TestMain(m *testing.M) {
	if dir := os.Getenv("FOLDERSYNC_CHILD"); dir != "" {
		os.Exit(child(dir))
	}
	os.Exit(m.Run())
}

// child does one sync. It prints a line when it begins, and then the lines of the result.
func child(dir string) int {
	db, err := sqlitestore.Open(os.Getenv("FOLDERSYNC_ROOT"), objectdb.Options{Relaxed: true})
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	defer db.Close()
	p := &pair{db: db, dir: dir, at: site}
	f, err := Open(p.options())
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	fmt.Println("begins")
	r, err := f.Sync(context.Background(), Round{AllowDelete: true})
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	for _, line := range lines(r) {
		fmt.Println(line)
	}
	return 0
}

// syncAndKill does one sync in a process of its own, and kills it after a time. It reports
// whether the sync had ended.
func (p *pair) syncAndKill(after time.Duration) (ended bool, printed string) {
	p.t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "FOLDERSYNC_CHILD="+p.dir, "FOLDERSYNC_ROOT="+p.root)
	out, err := c.StdoutPipe()
	require.NoError(p.t, err)
	c.Stderr = os.Stderr
	require.NoError(p.t, c.Start())
	in := bufio.NewReader(out)
	first, _ := in.ReadString('\n')
	require.Equal(p.t, "begins\n", first)
	timer := time.AfterFunc(after, func() { c.Process.Kill() })
	rest, _ := io.ReadAll(in)
	ended = c.Wait() == nil
	timer.Stop()
	return ended, string(rest)
}

// sides is what both sides have of one object; "" is nothing.
type sides struct{ file, root string }

// model knows of each object what both sides have, and which contents they have had in common.
// The first byte of a content gives its kind: S is a string, B a binary whose type must be in the
// index, and anything else a text.
type model struct {
	*pair
	r       *rand.Rand
	names   []string
	now     map[string]sides
	common  map[string][]string // what may be the base
	tainted map[string]bool     // changed after a kill, before a sync that ended
	double  map[string]bool     // a killed sync has left two files
	old     map[string][]string // all contents so far
	count   int
}

func newModel(t *testing.T, seed uint64) *model {
	m := &model{pair: newPair(t), r: rand.New(rand.NewPCG(seed, 7)), now: map[string]sides{},
		common: map[string][]string{}, tainted: map[string]bool{}, double: map[string]bool{}, old: map[string][]string{}}
	m.names = []string{"a", "b", "c", "t/a", "t/b", "t/u/a", "v", "v/a", "v/b"}
	for _, name := range m.names {
		m.common[name] = []string{""}
		m.old[name] = []string{""}
	}
	return m
}

// content returns a text of seven lines, of which one is new.
func (m *model) content(from string) string {
	m.count++
	lines := strings.Split(from, "\n")
	if len(lines) != 8 || m.r.IntN(10) == 0 {
		lines = strings.Split([]string{"", "", "S", "B"}[m.r.IntN(4)]+"1\n2\n3\n4\n5\n6\n7\n", "\n")
	}
	lines[1+m.r.IntN(6)] = fmt.Sprintf("new %d", m.count)
	return strings.Join(lines, "\n")
}

func valueOf(content string) objectdb.Value {
	switch content[0] {
	case 'S':
		return objectdb.String(content)
	case 'B':
		return objectdb.Binary{Type: "application/x-odd", Data: content}
	}
	return objectdb.Text(content)
}

func suffixOf(content string) string {
	switch content[0] {
	case 'S':
		return ".str"
	case 'B':
		return ".bin"
	}
	return ".txt"
}

// side returns what one side has.
func (m *model) side(name string, inFiles bool) string {
	if inFiles {
		return m.now[name].file
	}
	return m.now[name].root
}

// edit changes something on one side.
func (m *model) edit() {
	inFiles := m.r.IntN(2) == 0
	switch m.r.IntN(12) {
	case 0: // a table with all that is in it
		dir := []string{"t", "t/u", "v"}[m.r.IntN(3)]
		if m.side(dir, inFiles) == "" {
			m.removeTable(dir, inFiles)
		}
		return
	case 1: // the table becomes a value, or the other way round
		if m.double["v"] || m.double["v/a"] || m.double["v/b"] {
			return
		}
		if m.side("v", inFiles) == "" {
			m.removeTable("v", inFiles)
			m.set("v", inFiles, m.content(""))
		} else {
			m.set("v", inFiles, "")
			m.set("v/a", inFiles, m.content(""))
		}
		return
	}
	name := m.names[m.r.IntN(len(m.names))]
	if name == "v" && m.side(name, inFiles) == "" || name[0] == 'v' && name != "v" && m.side("v", inFiles) != "" {
		return // else a value would be a table
	}
	present := m.side(name, inFiles)
	next := m.content(present)
	switch m.r.IntN(6) {
	case 0:
		next = ""
	case 1:
		next = m.old[name][m.r.IntN(len(m.old[name]))]
	}
	m.set(name, inFiles, next)
}

// removeTable removes a table on one side, if it is there.
func (m *model) removeTable(dir string, inFiles bool) {
	if inFiles {
		require.NoError(m.t, os.RemoveAll(m.path(m.folder(dir))))
	} else {
		m.update(func(tx *objectdb.Tx) error {
			if err := tx.Delete(m.address(dir)); !errors.Is(err, objectdb.ErrNotFound) {
				return err
			}
			return nil
		})
	}
	for _, name := range m.names {
		if strings.HasPrefix(name, dir+"/") {
			m.down(name, inFiles, "")
		}
	}
}

// set changes one object on one side.
func (m *model) set(name string, inFiles bool, next string) {
	present := m.side(name, inFiles)
	if inFiles && strings.HasPrefix(next, "B") && !strings.HasPrefix(present, "B") {
		next = next[1:] // else somebody would have to write the index
	}
	if next == present || m.double[name] {
		return
	}
	switch {
	case inFiles:
		m.setFile(name, present, next)
	case next == "":
		m.delete(name)
	default:
		m.put(name, valueOf(next))
	}
	m.down(name, inFiles, next)
}

// down records an edit.
func (m *model) down(name string, inFiles bool, next string) {
	m.t.Logf("edit: %s, in files %v: %q", name, inFiles, next)
	m.old[name] = append(m.old[name], next)
	was := m.now[name]
	if inFiles {
		was.file = next
	} else {
		was.root = next
	}
	m.now[name] = was
}

// setFile writes or removes a file, in one of the ways of editors.
func (m *model) setFile(name, present, next string) {
	dir := m.folder(filepath.Dir(name))
	file := ""
	if present != "" {
		file = m.files(name)[0]
		if next == "" || suffixOf(present) != suffixOf(next) {
			m.remove(file)
			file = ""
		}
	}
	if next == "" {
		return
	}
	if file == "" {
		file = filepath.Join(dir, filepath.Base(name)+suffixOf(next))
	}
	if m.r.IntN(2) == 0 {
		m.write(dir+"/.new", next)
		require.NoError(m.t, os.Rename(m.path(dir+"/.new"), m.path(file)))
	} else {
		m.write(file, next)
	}
	if next[0] != 'B' && m.r.IntN(8) == 0 { // another case of the name
		base := filepath.Base(file)
		other := strings.ToUpper(base[:1]) + base[1:]
		if m.r.IntN(2) == 0 {
			other = strings.ToLower(base[:1]) + base[1:]
		}
		require.NoError(m.t, os.Rename(m.path(file), m.path(filepath.Join(dir, other))))
	}
}

// folder returns the folder of a table, whatever the case of its names.
func (m *model) folder(name string) string {
	if name == "." {
		return name
	}
	dir := m.folder(filepath.Dir(name))
	list, _ := os.ReadDir(m.path(dir))
	for _, e := range list {
		if e.IsDir() && strings.EqualFold(e.Name(), filepath.Base(name)) {
			return filepath.Join(dir, e.Name())
		}
	}
	return filepath.Join(dir, filepath.Base(name))
}

// files returns the paths of the files of an object, whatever the case of its name.
func (m *model) files(name string) (paths []string) {
	dir := m.folder(filepath.Dir(name))
	list, _ := os.ReadDir(m.path(dir))
	for _, e := range list {
		for _, suffix := range []string{".txt", ".str", ".bin"} {
			if strings.EqualFold(e.Name(), filepath.Base(name)+suffix) {
				paths = append(paths, filepath.Join(dir, e.Name()))
			}
		}
	}
	return paths
}

// look returns what both sides have, and whether there are two files.
func (m *model) look(name string) (s sides, double bool) {
	files := m.files(name)
	if len(files) > 0 {
		s.file = m.read(files[0])
		require.Equal(m.t, suffixOf(s.file), filepath.Ext(files[0]))
	}
	switch v := m.get(name).(type) {
	case objectdb.Text:
		s.root = string(v)
	case objectdb.String:
		s.root = string(v)
	case objectdb.Binary:
		s.root = v.Data
	}
	if s.root != "" {
		require.Equal(m.t, valueOf(s.root), m.get(name))
	}
	return s, len(files) > 1 || name == "v" && len(files) > 0 && m.read("v/_index.json") != "(none)"
}

// mixed reports whether v is a table on one side and a value on the other.
func (m *model) mixed() bool {
	v := m.now["v"]
	if (v.file == "") == (v.root == "") {
		return false
	}
	for _, name := range []string{"v/a", "v/b"} {
		if x := m.now[name]; v.file == "" && x.file != "" || v.root == "" && x.root != "" {
			return true
		}
	}
	_, err := os.Stat(m.path(m.folder("v")))
	return err == nil || m.isTable("v")
}

func (m *model) isTable(name string) (is bool) {
	require.NoError(m.t, m.db.View(context.Background(), func(tx *objectdb.Tx) error {
		n, err := tx.Find(m.address(name))
		is = err == nil && n.Kind() == objectdb.KindTable
		return nil
	}))
	return is
}

// after checks what a sync has done, and takes it down.
func (m *model) after(ended bool, printed string) {
	m.t.Logf("sync, ended %v: %s", ended, printed)
	mixed := m.mixed() || regexp.MustCompile(`(?m)^conflict [vV](\..*)?$`).MatchString(printed)
	for _, name := range m.names {
		was := m.now[name]
		is, double := m.look(name)
		require.False(m.t, ended && double, "%s: two files", name)
		if m.double[name] = double; double {
			is.file = was.file // the next sync removes the other one
			if is.root != was.root {
				is.root = was.root
			}
			m.tainted[name] = true
			continue
		}
		common := m.common[name]
		fileKnown, rootKnown := slices.Contains(common, was.file), slices.Contains(common, was.root)
		merged := func(text string) bool {
			return slices.ContainsFunc(common, func(base string) bool {
				got, clean := textdiff.Merge(base, was.file, was.root)
				return clean && got == text && text != ""
			})
		}
		why := ""
		switch {
		case was.file == was.root:
			if is != was {
				why = "both sides were the same"
			}
		case is == was:
			if ended && (fileKnown || rootKnown) && !m.tainted[name] && !(mixed && name[0] == 'v') {
				why = "nothing was taken"
			}
		case is == sides{was.file, was.file}:
			if !rootKnown && !merged(was.file) {
				why = "an edit of the root is lost"
			}
		case is == sides{was.root, was.root}:
			if !fileKnown && !merged(was.root) {
				why = "an edit of a file is lost"
			}
		case is.file == is.root && merged(is.root):
		case !ended && is.file == was.file && merged(is.root):
		default:
			why = "an unknown content"
		}
		require.Empty(m.t, why, "%s: ended %v, common %q, was %q, is %q\n%s", name, ended, common, was, is, printed)
		switch {
		case is.file == is.root && !ended && is == was: // the sync may not have got so far as to know
			m.common[name] = append(slices.Clone(common), is.file)
		case is.file == is.root:
			m.common[name] = []string{is.file}
		case is != was: // a merge that was half done
			m.common[name] = append(slices.Clone(common), is.file)
		}
		m.tainted[name] = !ended || m.tainted[name] && is.file != is.root
		m.now[name] = is
	}
}

// TestKill kills syncs at any instant, while both sides are edited in between.
func TestKill(t *testing.T) {
	rounds, seeds := 30, uint64(4)
	if n, err := strconv.Atoi(os.Getenv("FOLDERSYNC_KILL_ROUNDS")); err == nil {
		rounds = n
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			m := newModel(t, seed)
			kills := 0
			span := 20 * time.Millisecond // in which syncs are killed: about as long as one takes
			for range rounds {
				for range m.r.IntN(6) {
					m.edit()
				}
				time.Sleep(goneTime - 5*time.Millisecond + time.Duration(m.r.IntN(20))*time.Millisecond)
				after := rand.N(span)
				if m.r.IntN(4) == 0 {
					after = patience
				}
				ended, printed := m.syncAndKill(after)
				switch {
				case !ended:
					kills++
					span = min(span*6/5, 40*time.Millisecond)
				case after < patience:
					span = max(span*2/3, time.Millisecond)
				}
				m.after(ended, printed)
			}
			t.Logf("%d of %d syncs were killed", kills, rounds)
			assert.Greater(t, kills, rounds/10)
			ended, printed := m.syncAndKill(patience)
			require.True(t, ended, printed)
			m.after(ended, printed)
			if strings.Contains(printed, "conflict ") {
				m.sync(Round{Take: FromFiles, Paths: []string{"."}, AllowDelete: true})
			}
			m.same()
		})
	}
}

// TestRandomEdits is TestKill without kills: what a sync does is known exactly.
func TestRandomEdits(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			m := newModel(t, 100+seed)
			for range 40 {
				for range m.r.IntN(5) {
					m.edit()
				}
				m.after(true, strings.Join(m.sync(Round{AllowDelete: true}), "\n"))
			}
		})
	}
}

// TestEditsMeanwhile edits both sides while a Watch runs. What was written last on the one side
// that has an object to itself must come to the other.
func TestEditsMeanwhile(t *testing.T) {
	p := newPair(t)
	for i := range 6 {
		p.put(fmt.Sprintf("f%d", i), objectdb.Text("begin"))
		p.put(fmt.Sprintf("r%d", i), objectdb.Text("begin"))
	}
	w := p.watch()
	last := map[string]string{}
	var mu sync.Mutex
	var writers sync.WaitGroup
	end := time.Now().Add(4 * time.Second)
	write := func(seed uint64, side string, set func(name, text string)) {
		writers.Go(func() {
			r := rand.New(rand.NewPCG(seed, 9))
			for n := 0; time.Now().Before(end); n++ {
				name := fmt.Sprintf("%s%d", side, r.IntN(6))
				text := fmt.Sprintf("%s %d\n%s", name, n, strings.Repeat("x", r.IntN(5000)))
				set(name, text)
				mu.Lock()
				last[name] = text
				mu.Unlock()
				time.Sleep(time.Duration(r.IntN(80)) * time.Millisecond)
			}
		})
	}
	write(1, "f", func(name, text string) {
		if len(text)%2 == 0 {
			p.write("."+name, text)
			require.NoError(t, os.Rename(p.path("."+name), p.path(name+".txt")))
		} else {
			p.write(name+".txt", text)
		}
	})
	write(2, "r", func(name, text string) { p.put(name, objectdb.Text(text)) })
	writers.Wait()
	for name, text := range last {
		w.until(func() bool { return p.read(name+".txt") == text && p.get(name) == objectdb.Text(text) })
	}
	require.NoError(t, w.end())
	assert.Empty(t, w.errs)
	for _, line := range w.told() {
		assert.NotContains(t, line, "conflict")
	}
	p.same()
}
