package sqlitestore

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"scripter/objectdb"
)

// copyTime is the time in the name of a copy, in UTC.
const copyTime = "20060102-150405"

// besideRoot returns the folder of a root, links resolved as SQLite does, and
// its name without the suffix.
func besideRoot(path string) (dir, name string) {
	path = resolved(path)
	return filepath.Dir(path), strings.TrimSuffix(filepath.Base(path), ".root")
}

// Copies lists the saved copies of the root at path, the newest first. The root
// itself need not be there any more.
func Copies(path string) ([]objectdb.Copy, error) {
	dir, name := besideRoot(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, &objectdb.Error{Op: "list the copies of", Path: path, Err: pathError(err)}
	}
	var list []objectdb.Copy
	for _, e := range entries {
		c, ok := parseCopy(name, e.Name())
		if !ok || !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed since the folder was read
		}
		if err != nil {
			return nil, &objectdb.Error{Op: "list the copies of", Path: path, Err: pathError(err)}
		}
		c.Path, c.Size, c.Fresh = filepath.Join(dir, e.Name()), info.Size(), info.ModTime()
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b objectdb.Copy) int {
		return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(a.Version, b.Version))
	})
	return list, nil
}

func parseCopy(root, file string) (objectdb.Copy, bool) {
	rest, ours := strings.CutPrefix(file, root+".saved-")
	rest, whole := strings.CutSuffix(rest, ".root")
	stamp, number, versioned := strings.Cut(rest, ".v")
	when, err := time.Parse(copyTime, stamp)
	if !ours || !whole || err != nil || when.Format(copyTime) != stamp {
		return objectdb.Copy{}, false
	}
	version := 0
	if versioned {
		version, err = strconv.Atoi(number)
		if err != nil || version < 1 || version > 9999 || strconv.Itoa(version) != number {
			return objectdb.Copy{}, false
		}
	}
	return objectdb.Copy{Time: when, Version: version}, true
}

func (s *store) Copies() ([]objectdb.Copy, error) { return Copies(s.path) }

// newCopy returns the name of a copy that is made now.
func newCopy(path string, now time.Time, version int) (objectdb.Copy, error) {
	list, err := Copies(path)
	if err != nil {
		return objectdb.Copy{}, err
	}
	c := objectdb.Copy{Time: now.UTC().Truncate(time.Second), Fresh: now, Version: version}
	if len(list) > 0 && !c.Time.After(list[0].Time) {
		c.Time = list[0].Time.Add(time.Second)
	}
	dir, name := besideRoot(path)
	name += ".saved-" + c.Time.Format(copyTime)
	if version > 0 {
		name += ".v" + strconv.Itoa(version)
	}
	c.Path = filepath.Join(dir, name+".root")
	return c, nil
}

// Inspect returns what the file at path says of itself, and changes nothing: an
// older one is not brought up to date. Its errors are those of Open.
func Inspect(path string) (objectdb.Info, error) {
	info, err := inspect(path, objectdb.Options{})
	if errors.Is(err, objectdb.ErrReadOnly) {
		info, err = inspect(path, objectdb.Options{ReadOnly: true})
	}
	if err != nil {
		return objectdb.Info{}, &objectdb.Error{Op: "look into", Path: path, Err: err}
	}
	return info, nil
}

func inspect(path string, o objectdb.Options) (info objectdb.Info, err error) {
	s := newStore(path, o)
	if err := s.registerFile(); err != nil {
		return info, err
	}
	defer forgetFile(s.file)
	info, err = s.info(context.Background())
	for _, c := range s.idle {
		c.close()
	}
	return info, err
}

// info reads what the root says of itself.
func (s *store) info(context.Context) (info objectdb.Info, err error) {
	c, err := s.acquire()
	if err != nil {
		return info, err
	}
	defer s.release(c)
	err = s.patient(func() (err error) {
		info, err = c.info()
		return err
	})
	return info, err
}

// info reads what the file says of itself. Only what all versions have is
// read of an older one.
func (c *conn) info() (objectdb.Info, error) {
	var info objectdb.Info
	version, err := c.version()
	if err != nil {
		return info, err
	}
	info.Version, info.Outdated = version, version < objectdb.FileVersion
	query := `SELECT generation, (SELECT count(*) FROM object), (SELECT created FROM object WHERE id = 1), `
	if version >= 2 {
		query += `made_by, migrated_by FROM meta`
	} else {
		query += `'', '' FROM meta`
	}
	var row [5]driver.Value
	if err := c.first(row[:], query); err != nil {
		return info, err
	}
	var created int64
	if !scan(&info.Generation, row[0]) || !scan(&info.Objects, row[1]) || !scan(&created, row[2]) ||
		!scan(&info.MadeBy, row[3]) || !scan(&info.MigratedBy, row[4]) {
		return info, fmt.Errorf("%w: what it says of itself has the wrong type", objectdb.ErrDamaged)
	}
	info.Created = time.Unix(0, created).UTC()
	info.Moved, err = c.moved()
	return info, err
}

// version reads the version of the file's form.
func (c *conn) version() (int, error) {
	var row [1]driver.Value
	if err := c.one(row[:], sqlVersion); err != nil {
		return 0, err
	}
	v, _ := row[0].(int64)
	if v > objectdb.FileVersion {
		return int(v), newer(v)
	}
	return int(v), nil
}
