package objectdb

import (
	"cmp"
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
)

// Copy is a saved copy of a root: one file beside it, complete in itself, that
// nobody writes any more. Its name is that of the root with the time:
// site.root has site.saved-20260131-183000.root.
type Copy struct {
	Path string
	// Time is when it was saved, to the second, as its name says. It orders
	// the copies: when the clock was set back, it goes on from the newest one.
	Time time.Time
	// Fresh is when the copy was last as new as the root, by the clock of
	// then: the file's time of modification.
	Fresh time.Time
	Size  int64 // bytes
	// Version is that of a root before it was brought up to date, in a copy
	// made for that; such a copy is never removed. Else it is 0.
	Version int
}

// copyTime is the time in the name of a copy, in UTC.
const copyTime = "20060102-150405"

// besideRoot gives the folder of a root, links resolved as SQLite does, and
// its name without the suffix.
func besideRoot(path string) (dir, name string) {
	path = resolved(path)
	return filepath.Dir(path), strings.TrimSuffix(filepath.Base(path), ".root")
}

// Copies lists the saved copies of the root at path, the newest first. The root
// itself need not be there any more.
func Copies(path string) ([]Copy, error) {
	dir, name := besideRoot(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, &Error{Op: "list the copies of", Path: path, Err: pathError(err)}
	}
	var list []Copy
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
			return nil, &Error{Op: "list the copies of", Path: path, Err: pathError(err)}
		}
		c.Path, c.Size, c.Fresh = filepath.Join(dir, e.Name()), info.Size(), info.ModTime()
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b Copy) int {
		return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(a.Version, b.Version))
	})
	return list, nil
}

func parseCopy(root, file string) (Copy, bool) {
	rest, ours := strings.CutPrefix(file, root+".saved-")
	rest, whole := strings.CutSuffix(rest, ".root")
	stamp, number, versioned := strings.Cut(rest, ".v")
	when, err := time.Parse(copyTime, stamp)
	if !ours || !whole || err != nil || when.Format(copyTime) != stamp {
		return Copy{}, false
	}
	version := 0
	if versioned {
		version, err = strconv.Atoi(number)
		if err != nil || version < 1 || version > 9999 || strconv.Itoa(version) != number {
			return Copy{}, false
		}
	}
	return Copy{Time: when, Version: version}, true
}

// newCopy gives the name of a copy that is made now.
func newCopy(path string, now time.Time, version int) (Copy, error) {
	list, err := Copies(path)
	if err != nil {
		return Copy{}, err
	}
	c := Copy{Time: now.UTC().Truncate(time.Second), Fresh: now, Version: version}
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

// Info is what a root, or a saved copy, says of itself.
type Info struct {
	Version    int       // of the file's form: see FileVersion
	Generation int64     // raised by each commit
	Objects    int64     // the root table is one of them
	Created    time.Time // when the root was made; its copies have the same
	// MadeBy is the program that made the root, as it called itself
	// (Options.Program), MigratedBy the one that last brought it to a newer
	// version; "" when it is not known, or none did.
	MadeBy, MigratedBy string
}

// FileVersion is the version of the form in which this program keeps roots.
const FileVersion = schemaVersion

// Inspect tells what the file at path says of itself, and changes nothing: an
// older one is not brought up to date. Its errors are those of Open.
func Inspect(path string) (Info, error) {
	info, err := inspect(path, Options{})
	if errors.Is(err, ErrReadOnly) {
		info, err = inspect(path, Options{ReadOnly: true})
	}
	if err != nil {
		return Info{}, &Error{Op: "look into", Path: path, Err: err}
	}
	return info, nil
}

func inspect(path string, o Options) (info Info, err error) {
	db := newDB(path, o)
	if err := db.registerFile(); err != nil {
		return info, err
	}
	defer forgetFile(db.file)
	c, err := openConn(path, o)
	if err != nil {
		return info, err
	}
	defer c.close()
	err = db.patient(func() (err error) {
		info, err = c.info()
		return err
	})
	return info, err
}

// info reads what the file says of itself. Only what all versions have is
// read of an older one.
func (c *conn) info() (Info, error) {
	var info Info
	version, err := c.version()
	if err != nil {
		return info, err
	}
	info.Version = version
	query := `SELECT (SELECT generation FROM meta), (SELECT count(*) FROM object), (SELECT created FROM object WHERE id = 1), '', ''`
	if version >= 2 {
		query = `SELECT generation, (SELECT count(*) FROM object), (SELECT created FROM object WHERE id = 1), made_by, migrated_by FROM meta`
	}
	rows, err := c.c.Query(query, nil)
	if err != nil {
		return info, sqlError(err)
	}
	defer rows.Close()
	var row [5]driver.Value
	if err := rows.Next(row[:]); err != nil {
		return info, metaError(err)
	}
	var created int64
	if !scan(&info.Generation, row[0]) || !scan(&info.Objects, row[1]) || !scan(&created, row[2]) ||
		!scan(&info.MadeBy, row[3]) || !scan(&info.MigratedBy, row[4]) {
		return info, fmt.Errorf("%w: what it says of itself has the wrong type", ErrDamaged)
	}
	info.Created = time.Unix(0, created).UTC()
	return info, nil
}

// version reads the version of the file's form.
func (c *conn) version() (int, error) {
	var row [1]driver.Value
	if err := c.one(row[:], sqlVersion); err != nil {
		return 0, err
	}
	v, _ := row[0].(int64)
	if v > schemaVersion {
		return int(v), newer(v)
	}
	return int(v), nil
}
