package foldersync

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// patience is how long a test waits for something that should happen at once.
const patience = time.Minute

// watched is a Watch that runs.
type watched struct {
	*pair
	mu    sync.Mutex
	lines []string
	errs  []error
	over  bool
	end   func() error
}

// watch starts a Watch, and waits until it has done its first sync.
func (p *pair) watch() *watched {
	p.t.Helper()
	f, err := Open(p.options())
	require.NoError(p.t, err)
	w := &watched{pair: p}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		err := f.Watch(ctx, Round{}, func(r *Result, err error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			if r != nil {
				w.lines = append(w.lines, lines(r)...)
			}
			if err != nil {
				w.errs = append(w.errs, err)
			}
		})
		w.mu.Lock()
		defer w.mu.Unlock()
		w.over = true
		ended <- err
	}()
	w.end = sync.OnceValue(func() error {
		cancel()
		err := <-ended
		f.Close()
		return err
	})
	p.t.Cleanup(func() { w.end() })
	w.until(func() bool { _, err := os.Stat(p.path(baseFile)); return err == nil })
	return w
}

func (w *watched) until(done func() bool) {
	w.t.Helper()
	require.Eventually(w.t, done, patience, 2*time.Millisecond, "%v %v", w.told(), w.errs)
}

// told returns the lines so far.
func (w *watched) told() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.lines)
}

// TestEditors saves as editors do. The root must get each text once it is whole, and no other.
func TestEditors(t *testing.T) {
	const old, now = "first line of the old text\nsecond line\n", "first line of the new text\nsecond line\nthird line\n"
	write := func(p *pair, flag int, text string) {
		file, err := os.OpenFile(p.path("page.txt"), flag, 0o600)
		require.NoError(p.t, err)
		_, err = file.WriteString(text)
		require.NoError(p.t, err)
		require.NoError(p.t, file.Close())
	}
	// On a busy machine a pause may be too long: then the root may have half a text.
	wait := func(p *pair, d, limit time.Duration) {
		began := time.Now()
		time.Sleep(d)
		if time.Since(began) > limit-10*time.Millisecond {
			p.slow = true
		}
	}
	pause := func(p *pair) { wait(p, settleTime/3, settleTime) }
	for name, save := range map[string]func(p *pair){
		"truncate and write": func(p *pair) { p.write("page.txt", now) },
		"truncate, and write later": func(p *pair) {
			write(p, os.O_WRONLY|os.O_TRUNC, "")
			wait(p, 4*settleTime, emptyTime)
			write(p, os.O_WRONLY, now)
		},
		"write in pieces": func(p *pair) {
			write(p, os.O_WRONLY|os.O_TRUNC, now[:10])
			pause(p)
			write(p, os.O_WRONLY|os.O_APPEND, now[10:30])
			pause(p)
			write(p, os.O_WRONLY|os.O_APPEND, now[30:])
		},
		"another file that is renamed": func(p *pair) {
			p.write("page.txt.tmp", now[:20])
			pause(p)
			p.write("page.txt.tmp", now)
			require.NoError(p.t, os.Rename(p.path("page.txt.tmp"), p.path("page.txt")))
		},
		"a hidden file that is renamed": func(p *pair) {
			p.write(".page.txt.swx", now)
			require.NoError(p.t, os.Rename(p.path(".page.txt.swx"), p.path("page.txt")))
		},
		"the old file becomes a backup": func(p *pair) {
			p.write("4913", "")
			p.remove("4913")
			require.NoError(p.t, os.Rename(p.path("page.txt"), p.path("page.txt~")))
			pause(p)
			p.write("page.txt", now)
			p.remove("page.txt~")
		},
		"a copy as backup": func(p *pair) {
			p.write("page.txt.bak", old)
			p.write("page.txt", now)
		},
		"removed and written": func(p *pair) {
			p.remove("page.txt")
			wait(p, 2*settleTime, goneTime)
			p.write("page.txt", now)
		},
		"with an old time": func(p *pair) {
			p.write("other", now)
			long := time.Now().Add(-time.Hour)
			require.NoError(p.t, os.Chtimes(p.path("other"), long, long))
			require.NoError(p.t, os.Rename(p.path("other"), p.path("page.txt")))
		},
		"same size, same time": func(p *pair) {
			info, err := os.Stat(p.path("page.txt"))
			require.NoError(p.t, err)
			text := strings.Replace(old, "old", "new", 1)
			write(p, os.O_WRONLY, text)
			require.NoError(p.t, os.Chtimes(p.path("page.txt"), info.ModTime(), info.ModTime()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPair(t)
			p.put("page", objectdb.Text(old))
			for i := range 8 {
				p.put(fmt.Sprintf("n%d", i), objectdb.Number(i))
			}
			w := p.watch()
			settle()
			seen := map[string]bool{}
			stop, stopped := make(chan bool), make(chan bool)
			go func() {
				defer close(stopped)
				for {
					select {
					case <-stop:
						return
					case <-time.After(time.Millisecond):
						v, _ := p.get("page").(objectdb.Text)
						seen[string(v)] = true
					}
				}
			}()
			save(p)
			want := p.read("page.txt")
			w.until(func() bool { return p.get("page") == objectdb.Text(want) })
			close(stop)
			<-stopped
			delete(seen, old)
			delete(seen, want)
			if !p.slow {
				assert.Empty(t, seen, "the root had other texts")
			}
			assert.Equal(t, want, p.read("page.txt"), "the file is as the editor saved it")
			require.NoError(t, w.end())
			assert.Empty(t, w.errs)
			assert.Equal(t, "files changed page.txt", w.told()[len(w.told())-1])
		})
	}
}

func TestWatch(t *testing.T) {
	p := newPair(t)
	for i := range 10 {
		p.put(fmt.Sprintf("n%d", i), objectdb.Number(i))
	}
	w := p.watch()
	p.write("sub/deep/x.txt", "x")
	w.until(func() bool { return p.get("sub/deep/x") != nil })
	p.write("sub/deep/y.txt", "in a folder that is new")
	w.until(func() bool { return p.get("sub/deep/y") != nil })
	p.put("n1", objectdb.Number(100))
	w.until(func() bool { return p.read("n1.json") == "100\n" })
	p.remove("n2.json")
	w.until(func() bool { return p.get("n2") == nil })

	// A conflict is told once.
	f, err := lockFolder(mustRoot(t, p.dir), time.Minute)
	require.NoError(t, err)
	p.put("n3", objectdb.Number(30))
	p.write("n3.json", "31")
	time.Sleep(3 * settleTime)
	f()
	w.until(func() bool { return slices.Contains(w.told(), "conflict n3.json") })
	p.put("n4", objectdb.Number(40))
	w.until(func() bool { return p.read("n4.json") == "40\n" })
	count := 0
	for _, line := range w.told() {
		if line == "conflict n3.json" {
			count++
		}
	}
	assert.Equal(t, 1, count)
	assert.Equal(t, "31", p.read("n3.json"))

	// When the folder vanishes, the root stays. The watcher may write a file while it is removed.
	require.Eventually(t, func() bool { return os.RemoveAll(p.dir) == nil }, time.Minute, 10*time.Millisecond)
	w.until(w.isOver)
	assert.ErrorIs(t, w.end(), ErrGone)
	assert.Equal(t, objectdb.Number(100), p.get("n1"))
}

func mustRoot(t *testing.T, dir string) *os.Root {
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	t.Cleanup(func() { root.Close() })
	return root
}

// isOver reports whether Watch has ended.
func (w *watched) isOver() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.over
}

// TestGitSwitch switches branches with git, under a Watch.
func TestGitSwitch(t *testing.T) {
	p := newPair(t)
	p.git("init", "-q", "-b", "main")
	for i := range 40 {
		p.write(fmt.Sprintf("lib/s%d.lua", i), fmt.Sprintf("return 'main %d'\n", i))
	}
	w := p.watch()
	commit := []string{"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-a", "-m"}
	w.until(func() bool { return p.get("lib/s39") != nil })
	p.git("add", ".")
	p.git(append(commit, "main")...)
	p.git("checkout", "-q", "-b", "other")
	for i := range 30 {
		p.write(fmt.Sprintf("lib/s%d.lua", i), fmt.Sprintf("return 'other %d'\n", i))
	}
	p.git("rm", "-q", "lib/s30.lua", "lib/s31.lua")
	p.write("more/new.lua", "return 'new'\n")
	p.git("add", ".")
	p.git(append(commit, "other")...)
	w.until(func() bool { return p.get("more/new") != nil && p.get("lib/s30") == nil })
	gen := p.generation()
	for i, branch := range []string{"main", "other", "main"} {
		p.git("checkout", "-q", branch)
		w.until(func() bool { return p.get("lib/s0") == objectdb.Script("return '"+branch+" 0'\n") })
		w.until(func() bool { return (p.get("more/new") != nil) == (branch == "other") })
		assert.Equal(t, branch == "main", p.get("lib/s31") != nil)
		assert.Equal(t, objectdb.Script("return '"+branch+" 29'\n"), p.get("lib/s29"))
		assert.Equal(t, gen+int64(i)+1, p.generation(), "one checkout is one change")
	}
	require.NoError(t, w.end())
	assert.Empty(t, w.errs)
	p.same()
	out, err := p.gitCommand("status", "--porcelain").Output()
	require.NoError(t, err)
	assert.Empty(t, string(out), "sync leaves git's files alone")
	var origin objectdb.Origin
	require.NoError(t, p.db.View(context.Background(), func(tx *objectdb.Tx) error {
		for c, err := range tx.Changes(0) {
			if err != nil {
				return err
			}
			origin = c.Origin
			break
		}
		return nil
	}))
	assert.Equal(t, objectdb.Origin{Who: "ada", Why: "sync", Path: "git " + findRepository(p.dir).head()}, origin)
}

func (p *pair) generation() (g int64) {
	p.t.Helper()
	require.NoError(p.t, p.db.View(context.Background(), func(tx *objectdb.Tx) error {
		g = tx.Generation()
		return nil
	}))
	return g
}

// TestGitLock waits while git holds its lock.
func TestGitLock(t *testing.T) {
	p := newPair(t)
	p.git("init", "-q")
	lock := p.path(".git/index.lock")
	require.NoError(t, os.WriteFile(lock, nil, 0o600))
	p.write("x.str", "half")
	done := make(chan []string)
	go func() { done <- p.sync() }()
	select {
	case <-done:
		t.Fatal("sync did not wait")
	case <-time.After(5 * settleTime):
	}
	p.write("x.str", "whole")
	require.NoError(t, os.Remove(lock))
	assert.Equal(t, []string{"files added x.str"}, <-done)
	assert.Equal(t, objectdb.String("whole"), p.get("x"))
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	require.NoError(t, os.WriteFile(lock, nil, 0o600))
	assert.ErrorIs(t, findRepository(p.dir).wait(ctx), context.DeadlineExceeded)
}
