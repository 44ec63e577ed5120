package torture

import (
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// disk is what a trace says of one folder: its files, the names that they had,
// and what was synced when. From that follows what may be there when the power
// fails: what was synced before, and of the rest any part.
type disk struct {
	folder string
	files  []*diskFile
	names  []nameChange
	syncs  []call // of the folder
}

// diskFile is a file, under whatever name.
type diskFile struct {
	content []byte // at the beginning
	writes  []diskWrite
}

// diskWrite is a write, and since when it is safe; 0: never.
type diskWrite struct {
	call
	safe    int
	dropped bool // a sync of it has failed, and no later one writes it
}

// nameChange is a name that came, went or led elsewhere. File is nil when the name
// is gone.
type nameChange struct {
	call
	name string
	file *diskFile
}

// newDisk reads the folder as it is now, which is taken for safe.
func newDisk(t *testing.T, folder string, of func(name string) bool) *disk {
	t.Helper()
	d := &disk{folder: folder}
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	for _, e := range entries {
		if of(e.Name()) {
			content, err := os.ReadFile(filepath.Join(folder, e.Name()))
			require.NoError(t, err)
			f := &diskFile{content: content}
			d.files = append(d.files, f)
			d.names = append(d.names, nameChange{name: e.Name(), file: f})
		}
	}
	return d
}

// apply follows the calls of a trace.
func (d *disk) apply(calls []call, of func(name string) bool) {
	now := map[string]*diskFile{}
	for _, n := range d.names {
		now[n.name] = n.file
	}
	inside := func(path string) (name string, ok bool) {
		name = filepath.Base(path)
		return name, filepath.Dir(path) == d.folder && of(name)
	}
	change := func(c call, name string, f *diskFile) {
		d.names = append(d.names, nameChange{c, name, f})
		now[name] = f
	}
	for _, c := range calls {
		if strings.HasSuffix(c.name, "sync") && c.path == d.folder && !c.failed {
			d.syncs = append(d.syncs, c)
		}
		name, ok := inside(c.path)
		other, toHere := inside(c.other)
		f := now[name]
		if !ok {
			f = nil
		}
		switch {
		case strings.HasPrefix(c.name, "rename"), strings.HasPrefix(c.name, "link"):
			// From elsewhere comes what nobody has followed: those are not of interest.
			if toHere && f != nil {
				change(c, other, f)
			}
			if ok && strings.HasPrefix(c.name, "rename") {
				change(c, name, nil)
			}
		case !ok:
		case c.made && f == nil:
			f = &diskFile{}
			d.files = append(d.files, f)
			change(c, name, f)
		case f == nil, c.made:
		case strings.HasPrefix(c.name, "unlink"):
			change(c, name, nil)
		case c.name == "fsync", c.name == "fdatasync":
			f.sync(c)
		default:
			f.writes = append(f.writes, diskWrite{call: c})
		}
	}
}

// sync makes what had been written when s began safe, as soon as s has ended. If s fails,
// that data never becomes safe, because the kernel drops it.
func (f *diskFile) sync(s call) {
	for i := range f.writes {
		w := &f.writes[i]
		switch {
		case w.ended > s.begun, w.dropped:
		case s.failed:
			w.dropped = w.safe == 0 || w.safe > s.begun
		case w.safe == 0 || w.safe > s.ended:
			w.safe = s.ended
		}
	}
}

// unsync makes nothing safe.
func (f *diskFile) unsync() {
	for i := range f.writes {
		f.writes[i].safe = 0
	}
}

// safe reports whether a change of names was on the disk at the time when.
func (d *disk) safe(n nameChange, when int) bool {
	return n.begun == 0 || slices.ContainsFunc(d.syncs, func(s call) bool { return s.begun >= n.ended && s.ended <= when })
}

// Of what was not synced, a powerCut keeps nothing, or all names but no content, or
// anything.
const (
	keepsNothing = iota
	keepsNames
	keepsAnything
	powerCuts
)

// cut makes into what may be there when the power fails at the time when.
func (d *disk) cut(t *testing.T, into string, when, keeps int, random *rand.Rand) {
	t.Helper()
	names := map[string]*diskFile{}
	for _, n := range d.names {
		if n.begun > when || !d.safe(n, when) && (keeps == keepsNothing || keeps == keepsAnything && random.Intn(2) == 0) {
			continue
		}
		if n.file == nil {
			delete(names, n.name)
		} else {
			names[n.name] = n.file
		}
	}
	for name, f := range names {
		require.NoError(t, os.WriteFile(filepath.Join(into, name), f.at(when, keeps, random), 0o600))
	}
}

// sector is the least that a disk writes.
const sector = 512

// at returns what a file may hold when the power fails.
func (f *diskFile) at(when, keeps int, random *rand.Rand) []byte {
	b := slices.Clone(f.content)
	for _, w := range f.writes {
		if w.begun > when {
			break
		}
		torn := false
		if w.safe == 0 || w.safe > when {
			switch {
			case keeps != keepsAnything, random.Intn(3) == 0:
				continue
			default:
				torn = random.Intn(2) == 0
			}
		}
		if w.name == "ftruncate" {
			b = append(b[:min(int64(len(b)), w.size)], make([]byte, max(0, w.size-int64(len(b))))...)
			continue
		}
		off := w.off
		if off < 0 {
			off = int64(len(b))
		}
		if grow := off + int64(len(w.data)) - int64(len(b)); grow > 0 {
			b = append(b, make([]byte, grow)...)
		}
		for at := 0; at < len(w.data); at += sector {
			if !torn || random.Intn(2) == 0 {
				copy(b[off+int64(at):], w.data[at:min(at+sector, len(w.data))])
			}
		}
	}
	return b
}
