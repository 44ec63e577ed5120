package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"

	"scripter/objectdb"
	"scripter/objectfiles"
)

// source is an archive or a folder that an import reads.
type source struct {
	name    string // as it was given
	archive *objectfiles.Archive
	file    *os.File // of the archive
	folder  *os.Root // nothing outside of it is read, whatever links say
	files   int      // the number of files in it
}

// openSource opens what the command line names. An archive is read from end
// to end.
func (t *tool) openSource(ctx context.Context, name string, f importFlags) (*source, error) {
	limits := objectfiles.ImportLimits{Bytes: int64(f.maxSize) << 20, Files: f.maxObjects}
	boundMemory(0, 0)
	if isURL(name) {
		return t.fetchSource(ctx, name, f, limits)
	}
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return openFolder(name, limits)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is neither a file nor a folder", name)
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	return openArchive(name, file, info.Size(), limits)
}

// boundMemory sets the memory limit of the garbage collector: a fixed part, and what very
// many files and a very large file need beyond it.
func boundMemory(files int, largest int64) {
	// SQLite's own memory, twice the largest value, is additional.
	const most, perFile, perByte = 150 << 20, 4096, 3
	debug.SetMemoryLimit(most + perFile*int64(max(files-objectfiles.FreeFiles, 0)) +
		perByte*max(largest-objectfiles.FreeBytes, 0))
}

// openFolder opens a folder. It checks every file before the root is changed.
func openFolder(name string, limits objectfiles.ImportLimits) (*source, error) {
	folder, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	s := &source{name: name, folder: folder}
	files, largest, err := objectfiles.CheckFolder(folder.FS(), limits)
	if err != nil {
		s.close()
		return nil, limitHint(s.explain(fmt.Errorf("import %s: %w", name, err)), err)
	}
	boundMemory(files, largest)
	s.files = files
	return s, nil
}

// limitHint adds a hint on how to raise the limit.
func limitHint(err, cause error) error {
	if errors.Is(cause, objectfiles.ErrTooLarge) {
		return hintError{err, "--max-size and --max-objects allow more, which takes more memory"}
	}
	return err
}

func (t *tool) fetchSource(
	ctx context.Context, name string, f importFlags, limits objectfiles.ImportLimits,
) (*source, error) {
	u, err := parseURL(name)
	if err != nil {
		return nil, err
	}
	limit := int64(defaultDownload)
	if limits.Bytes > 0 {
		limit = limits.Bytes
	}
	// The limits of an archive from the net do not grow with its size.
	limits.Strict = true
	ctx, cancel := context.WithTimeoutCause(ctx, f.timeout, fmt.Errorf("it took longer than %s", f.timeout))
	defer cancel()
	d := &download{url: u, limit: limit, bar: t.progress("download", 0)}
	defer d.bar.end()
	file, size, err := d.fetch(ctx)
	if errors.Is(err, errTooLong) {
		err = hintError{err, "--max-size allows more"}
	}
	if err != nil {
		return nil, err
	}
	return openArchive(u.Redacted(), file, size, limits)
}

// defaultDownload is the largest download when nothing else is said: an
// archive is smaller packed than unpacked.
const defaultDownload = 32 << 20

func openArchive(name string, file *os.File, size int64, limits objectfiles.ImportLimits) (*source, error) {
	archive, err := objectfiles.OpenArchive(file, size, limits)
	if err != nil {
		file.Close()
		return nil, limitHint(fmt.Errorf("import %s: %w", name, err), err)
	}
	boundMemory(archive.Files, archive.Largest)
	return &source{name: name, archive: archive, file: file}, nil
}

func (s *source) importInto(
	tx *objectdb.Tx, a objectdb.Address, fn func(objectfiles.Change) error,
) (objectfiles.ImportResult, error) {
	if s.archive != nil {
		return s.archive.Import(tx, a, fn)
	}
	return objectfiles.Import(tx, s.folder.FS(), a, fn)
}

// explain adds a hint to an error of an import.
func (s *source) explain(err error) error {
	if s.folder == nil {
		return err
	}
	manifest, merr := s.folder.Lstat("manifest.json")
	objects, oerr := s.folder.Lstat("objects")
	if merr == nil && oerr == nil && manifest.Mode().IsRegular() && objects.IsDir() {
		return hintError{err,
			fmt.Sprintf("it looks like an archive that was unpacked: import %s", filepath.Join(s.name, "objects"))}
	}
	return err
}

// count returns about how many objects there are, for the progress bar.
func (s *source) count() int64 {
	if s.archive != nil {
		return int64(s.archive.Files + len(s.archive.Manifest.Remove))
	}
	return int64(s.files)
}

// fields returns what --json prints of an import.
func (s *source) fields(a objectdb.Address, r objectfiles.ImportResult) map[string]any {
	fields := map[string]any{
		"source": s.name, "address": a.String(),
		"added": r.Added, "changed": r.Changed, "same": r.Same, "removed": r.Removed,
		"skipped": append([]string{}, r.Skipped...),
	}
	if s.archive != nil {
		m := s.archive.Manifest
		fields["archive"] = map[string]any{"program": m.Program, "time": m.Time, "address": m.Address,
			"notes": m.Notes, "form": m.Form, "rootForm": m.Root}
	}
	return fields
}

func (s *source) close() {
	if s.archive != nil {
		s.archive.Close()
		s.file.Close()
	}
	if s.folder != nil {
		s.folder.Close()
	}
}
