package corpus

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// programNames are the programs that a site needs.
var programNames = []string{"scripter", "scripter-cgi", "scripter-fcgi"}

// built is the folder of the programs, which a test process builds once.
var built struct {
	sync.Mutex
	dir string
}

// installPrograms copies the programs into the site.
func (s *Site) installPrograms(t testing.TB) {
	t.Helper()
	from := ProgramFolder(t)
	for _, name := range programNames {
		CopyProgram(t, filepath.Join(from, name), s.Program(name))
	}
}

// ProgramFolder returns a folder with the three programs: the one that SCRIPTER_BIN names
// (make test builds them once), or else one that it builds for this test process.
func ProgramFolder(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("SCRIPTER_BIN"); dir != "" {
		return dir
	}
	return buildPrograms(t)
}

func buildPrograms(t testing.TB) string {
	t.Helper()
	built.Lock()
	defer built.Unlock()
	if built.dir != "" {
		return built.dir
	}
	dir, err := os.MkdirTemp("", "scripter-programs-")
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"build", "-o", dir + string(filepath.Separator)}
	for _, name := range programNames {
		args = append(args, "./cmd/"+name)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = ModuleFolder(t)
	if out, err := cmd.CombinedOutput(); err != nil {
		os.RemoveAll(dir)
		t.Fatalf("go build: %v\n%s", err, out)
	}
	built.dir = dir
	return dir
}

// ModuleFolder returns the folder of the module's go.mod, above that of the running test.
func ModuleFolder(t testing.TB) string {
	t.Helper()
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for dir := wd; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatalf("no go.mod above %s", wd)
		}
	}
}

// RemovePrograms removes the built programs. TestMain calls it at the end.
func RemovePrograms() {
	built.Lock()
	defer built.Unlock()
	if built.dir != "" {
		os.RemoveAll(built.dir)
		built.dir = ""
	}
}

// CopyProgram makes an executable copy of a program.
func CopyProgram(t testing.TB, from, to string) {
	t.Helper()
	src, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(dst, src); err != nil {
		t.Fatal(err)
	}
	if err := dst.Close(); err != nil {
		t.Fatal(err)
	}
}
