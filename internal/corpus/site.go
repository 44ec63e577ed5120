package corpus

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A Site is what a transport serves: one root with the objects of all cases, and the
// document roots of two virtual hosts. Its folders are those of conf-examples below
// /srv/scripter.
type Site struct {
	Dir      string // in place of /srv/scripter
	WWW      string // document root of the first host: Dir/www
	Second   string // of the second host: Dir/second
	Root     string // the root's file: Dir/data/scripter.root
	Programs string // folder with scripter, scripter-cgi and scripter-fcgi: Dir/bin
	Listed   string // lines of scripter.conf with the folders and hosts that the root may use
}

// NewSite makes a site in a temporary folder. If the test runs as root, the web servers'
// user owns the site.
func NewSite(t testing.TB) *Site {
	t.Helper()
	return newSite(t, func(*Site) {})
}

// newSite is NewSite with a change before the root is made.
func newSite(t testing.TB, change func(*Site)) *Site {
	t.Helper()
	cases, shared, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	s := newEmptySite(t, change)
	objects := t.TempDir()
	for _, f := range shared {
		s.write(t, objects, f)
	}
	for _, c := range cases {
		for _, f := range c.Files {
			s.write(t, objects, f)
		}
	}
	s.Scripter(t, "import", "--force", objects) // some do not compile, on purpose
	s.Scripter(t, "import", filepath.Join(ModuleFolder(t), "cmd", "scripter", "sample", "root"))
	s.Scripter(t, "eval", fmt.Sprintf("httpd.addUser (%q, %q, 'demo')", demoName, demoPassword))
	GiveToServer(t, s.Dir)
	return s
}

// NewEmptySite makes a site without the cases: its root has the supplied objects alone.
func NewEmptySite(t testing.TB) *Site {
	t.Helper()
	return newEmptySite(t, func(*Site) {})
}

func newEmptySite(t testing.TB, change func(*Site)) *Site {
	t.Helper()
	dir := OpenTempDir(t)
	s := &Site{
		Dir:      dir,
		WWW:      filepath.Join(dir, "www"),
		Second:   filepath.Join(dir, "second"),
		Root:     filepath.Join(dir, "data", "scripter.root"),
		Programs: filepath.Join(dir, "bin"),
	}
	for _, d := range []string{s.WWW, s.Second, filepath.Dir(s.Root), s.Programs} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s.installPrograms(t)
	change(s)
	s.Scripter(t, "init")
	GiveToServer(t, s.Dir)
	return s
}

// write writes a file of a case into the folder of its kind.
func (s *Site) write(t testing.TB, objects string, f File) {
	t.Helper()
	top, rest, _ := strings.Cut(f.Name, "/")
	folder := map[string]string{"root": objects, "site": s.WWW, "second": s.Second}[top]
	path := filepath.Join(folder, filepath.FromSlash(rest))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, f.Data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// Scripter runs a command of scripter on the root and returns what it prints.
func (s *Site) Scripter(t testing.TB, args ...string) string {
	t.Helper()
	cmd := exec.Command(s.Program("scripter"), append([]string{"--root", s.Root}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("scripter %s: %v\n%s%s", strings.Join(args, " "), err, out, &stderr)
	}
	return string(out)
}

// Program returns the path of a program.
func (s *Site) Program(name string) string { return filepath.Join(s.Programs, name) }

// OpenTempDir returns a temporary folder like t.TempDir that other users can read.
func OpenTempDir(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for d := dir; d != filepath.Clean(os.TempDir()) && d != filepath.Dir(d); d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// ServerUser returns the ids of www-data, the user to whom web servers change that root
// has started. ok is false if the test does not run as root: then all processes run as
// the user of the test.
func ServerUser(t testing.TB) (uid, gid int, ok bool) {
	t.Helper()
	if os.Geteuid() != 0 {
		return 0, 0, false
	}
	u, err := user.Lookup("www-data")
	if err != nil {
		t.Fatal(err)
	}
	uid, errU := strconv.Atoi(u.Uid)
	gid, errG := strconv.Atoi(u.Gid)
	if errU != nil || errG != nil {
		t.Fatalf("user www-data has the ids %q and %q", u.Uid, u.Gid)
	}
	return uid, gid, true
}

// GiveToServer makes the web servers' user the owner of dir and of everything in it.
func GiveToServer(t testing.TB, dir string) {
	t.Helper()
	uid, gid, ok := ServerUser(t)
	if !ok {
		return
	}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, uid, gid)
	})
	if err != nil {
		t.Fatal(err)
	}
}
