package sqlitestore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

const openVariable = "OBJECTDB_TEST_OPEN"

// openAs opens a root, prints the result, and ends.
func openAs(path string) {
	o := objectdb.Options{ReadOnly: os.Getenv(openVariable+"_READONLY") != ""}
	db, err := Open(path, o)
	if err == nil && !o.ReadOnly {
		err = db.Update(context.Background(), func(tx *objectdb.Tx) error {
			return tx.Put(objectdb.Address{"x"}, objectdb.Number(2))
		})
	}
	if err != nil {
		os.Stdout.WriteString(err.Error())
	}
	if errors.Is(err, objectdb.ErrReadOnly) {
		os.Stdout.WriteString(" [ErrReadOnly]")
	}
	os.Exit(0)
}

// wholeFile returns the path of a root that nobody has open.
func wholeFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.root")
	db, err := Create(path, patient)
	require.NoError(t, err)
	update(t, db, func(tx *objectdb.Tx) {
		for i := range 200 {
			require.NoError(t, tx.Put(objectdb.Address{"t", "x" + strings.Repeat("y", i)},
				objectdb.String(strings.Repeat("z", 500))))
		}
	})
	require.NoError(t, db.Close())
	return path
}

func changed(t *testing.T, path string, at int64, b ...byte) string {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer f.Close()
	_, err = f.WriteAt(b, at)
	require.NoError(t, err)
	return path
}

// Specification: 7.1, 9.2
// Catalogue: P6, P7, P9
func TestOpenFailures(t *testing.T) {
	tests := []struct {
		name string
		path func(t *testing.T) string
		want error
		says string
	}{
		{"missing", func(t *testing.T) string {
			return filepath.Join(t.TempDir(), "no")
		}, fs.ErrNotExist, "file does not exist; create the root first"},
		{"no such folder", func(t *testing.T) string {
			return filepath.Join(t.TempDir(), "no", "no")
		}, fs.ErrNotExist, "file does not exist; create the root first"},
		{"folder", func(t *testing.T) string {
			return t.TempDir()
		}, objectdb.ErrNotRoot, "file is not a root: it is a folder"},
		{"empty", func(t *testing.T) string {
			path := filepath.Join(t.TempDir(), "empty")
			require.NoError(t, os.WriteFile(path, nil, 0o600))
			return path
		}, objectdb.ErrNotRoot, "file is not a root: it is empty; remove it and create the root anew, or restore a copy"},
		{"text", func(t *testing.T) string {
			path := filepath.Join(t.TempDir(), "text")
			require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("hello\n", 1000)), 0o600))
			return path
		}, objectdb.ErrNotRoot, "file is not a root: it does not begin as an SQLite file does"},
		{"short", func(t *testing.T) string {
			path := filepath.Join(t.TempDir(), "short")
			require.NoError(t, os.WriteFile(path, []byte("x"), 0o600))
			return path
		}, objectdb.ErrNotRoot, "file is not a root: it does not begin as an SQLite file does"},
		{"other program", func(t *testing.T) string { return changed(t, wholeFile(t), 68, 0, 0, 0, 7) },
			objectdb.ErrNotRoot, "file is not a root: it is an SQLite file of another program (application_id 0x7)"},
		{"newer", func(t *testing.T) string { return changed(t, wholeFile(t), 60, 0, 0, 0, 9) },
			objectdb.ErrNewer, "root was made by a newer version: its version is 9, this program knows 5; " +
				"use the newer program"},
		{"cut off", func(t *testing.T) string {
			path := wholeFile(t)
			require.NoError(t, os.Truncate(path, 5000))
			return path
		}, objectdb.ErrDamaged, "root is damaged: it is cut off, 5000 bytes of"},
		{"schema overwritten", func(t *testing.T) string { return changed(t, wholeFile(t), 100, make([]byte, 3900)...) },
			objectdb.ErrDamaged, "root is damaged"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := test.path(t)
			before, _ := os.ReadFile(path)
			_, err := Open(path, objectdb.Options{})
			require.ErrorIs(t, err, test.want)
			assert.True(t, strings.HasPrefix(err.Error(), "objectdb: open "+path+": "+test.says), err.Error())
			after, _ := os.ReadFile(path)
			assert.Equal(t, before, after)
			openFiles.Lock()
			defer openFiles.Unlock()
			for _, f := range openFiles.files {
				assert.NotEqual(t, path, f.info.Name())
			}
		})
	}
}

func TestRandomBytesAreReported(t *testing.T) {
	path := wholeFile(t)
	info, err := os.Stat(path)
	require.NoError(t, err)
	junk := []byte(strings.Repeat("\xa5\x5a", 2048))
	for at := int64(8192); at < info.Size(); at += 4096 {
		changed(t, path, at, junk...)
	}
	db, err := Open(path, objectdb.Options{})
	if err == nil {
		defer db.Close()
		err = db.View(context.Background(), func(tx *objectdb.Tx) error {
			return tx.Walk(objectdb.Address{}, func(objectdb.Address, *objectdb.Node) error { return nil })
		})
	}
	assert.ErrorIs(t, err, objectdb.ErrDamaged)
	if db != nil {
		problems, err := db.Check(context.Background())
		assert.True(t, err != nil || len(problems) > 0)
	}
}

// Catalogue: P6
func TestForeignWALIsNotReplayed(t *testing.T) {
	path := wholeFile(t)
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path+"-wal", []byte(strings.Repeat("junk", 5000)), 0o600))
	db, err := Open(path, objectdb.Options{})
	require.NoError(t, err)
	requireSound(t, db)
	require.NoError(t, db.Close())
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, before, after)
}

func TestCreate(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "odd ?#%41&'.root")
	db, err := Create(path, objectdb.Options{})
	require.NoError(t, err)
	put(t, db, "x", objectdb.Number(1))
	_, err = Create(path, objectdb.Options{})
	require.ErrorIs(t, err, fs.ErrExist)
	requireEqual(t, objectdb.Number(1), get(t, db, "x"))
	assert.Equal(t, path, db.Path())
	require.NoError(t, db.Close())
	require.NoError(t, db.Close())
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 1, "nothing else is left")
	assert.ErrorIs(t, db.View(context.Background(), func(*objectdb.Tx) error { return nil }), objectdb.ErrClosed)

	_, err = Create(filepath.Join(dir, "no", "x"), objectdb.Options{})
	assert.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b-wal"), []byte("old"), 0o600))
	_, err = Create(filepath.Join(dir, "b"), objectdb.Options{})
	assert.ErrorContains(t, err, "b-wal is left of another root; move it away first")
	_, err = os.Stat(filepath.Join(dir, "b"))
	assert.ErrorIs(t, err, fs.ErrNotExist)
}

// Catalogue: P5
func TestReadOnlyRoot(t *testing.T) {
	path := wholeFile(t)
	db, err := Open(path, objectdb.Options{ReadOnly: true})
	require.NoError(t, err)
	defer db.Close()
	requireEqual(t, objectdb.String(strings.Repeat("z", 500)), get(t, db, "t.xyy"))
	err = db.Update(context.Background(), func(tx *objectdb.Tx) error { return nil })
	assert.ErrorIs(t, err, objectdb.ErrReadOnly)
}

// An ordinary user may not write the file, then the folder.
//
// Catalogue: P5
func TestOpenWithoutPermission(t *testing.T) {
	path := wholeFile(t)
	for dir := filepath.Dir(path); dir != filepath.Clean(os.TempDir()) && dir != "/"; dir = filepath.Dir(dir) {
		require.NoError(t, os.Chmod(dir, 0o755))
	}
	program := filepath.Join(filepath.Dir(path), "program")
	content, err := os.ReadFile(os.Args[0])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(program, content, 0o755))
	require.NoError(t, os.Chmod(program, 0o755)) // whatever the umask is
	try := func(env ...string) string {
		cmd := exec.Command(program)
		cmd.Dir = "/"
		cmd.Env = append(env, openVariable+"="+path)
		if os.Getuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		return string(out)
	}
	require.NoError(t, os.Chmod(filepath.Dir(path), 0o555))
	defer os.Chmod(filepath.Dir(path), 0o755)
	require.NoError(t, os.Chmod(path, 0o444))
	assert.Equal(t, "objectdb: open "+path+": root may only be read: this user may not open it (permission denied);"+
		" give the user of the web server the right to read and write it and its folder [ErrReadOnly]", try())
	require.NoError(t, os.Chmod(path, 0o666))
	assert.Equal(t, "objectdb: open "+path+": root may only be read: its folder cannot be written,"+
		" and SQLite must keep two files there: permission denied [ErrReadOnly]", try())
	require.NoError(t, os.Chmod(filepath.Dir(path), 0o777))
	assert.Empty(t, try())
}

// Catalogue: P8
func TestOpenOfALockedFile(t *testing.T) {
	path := wholeFile(t)
	rival, err := openConn(path, objectdb.Options{})
	require.NoError(t, err)
	_, err = rival.c.Exec(`PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; UPDATE meta SET generation = 99`, nil)
	require.NoError(t, err)
	start := time.Now()
	_, err = Open(path, objectdb.Options{BusyTimeout: 20 * time.Millisecond}) // 0 is 5 s
	require.ErrorIs(t, err, objectdb.ErrBusy)
	assert.EqualError(t, err, "objectdb: open "+path+
		": root is locked by another writer, and was for 20ms; end the program that holds it")
	if took := time.Since(start); took > 4*time.Second { // else the machine was too busy
		start = time.Now()
		_, err = Open(path, objectdb.Options{BusyTimeout: 20 * time.Millisecond})
		require.ErrorIs(t, err, objectdb.ErrBusy)
		assert.Less(t, time.Since(start), 4*time.Second, "and %v before", took)
	}

	time.AfterFunc(50*time.Millisecond, func() { rival.close() })
	db, err := Open(path, objectdb.Options{BusyTimeout: patience})
	require.NoError(t, err, "the lock ends in time")
	defer db.Close()
	requireEqual(t, objectdb.String(strings.Repeat("z", 500)), get(t, db, "t.x"))
}
