package site

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"scripter/rootname"
)

// A Database is one that scripts may open: a line database.
type Database struct {
	Name   string // for sql.open
	Source string // the absolute path of an SQLite file, or a URL of PostgreSQL without a password
	Write  bool   // scripts may change it
}

// IsPostgres reports whether the database is at a server of PostgreSQL.
func (d Database) IsPostgres() bool { return rootname.IsURL(d.Source) }

// String returns the database as it is written in scripter.conf.
func (d Database) String() string {
	s := d.Name + " " + d.Source
	if d.Write {
		s += " " + writeWord
	}
	return s
}

const (
	writeWord   = "write"
	databaseFor = `"database: shop /srv/shop.db" or "database: shop postgres://reader@host/shop"`
)

// parseDatabase reads a value such as "shop /srv/shop.db", "shop /srv/shop.db write" or "shop postgres://reader@host/shop".
func parseDatabase(value string) (d Database, err error) {
	var rest string
	d.Name, rest, _ = strings.Cut(strings.TrimSpace(value), " ")
	d.Source = strings.TrimSpace(rest)
	if before, ok := strings.CutSuffix(d.Source, " "+writeWord); ok {
		d.Source, d.Write = strings.TrimSpace(before), true
	}
	if d.Name == "" || strings.ContainsFunc(d.Name, func(c rune) bool {
		return c > '~' || !isAlphanumeric(byte(c)) && c != '-' && c != '_'
	}) {
		return d, fmt.Errorf("%.60q is no name of letters, digits, - and _; a line is %s", d.Name, databaseFor)
	}
	if d.IsPostgres() {
		if strings.ContainsAny(d.Source, " \t") {
			return d, fmt.Errorf("%s: blanks in the URL are written %%20, and %q is the only word after it", d.Name, writeWord)
		}
		switch _, passwords, err := rootname.Split(d.Source); {
		case err != nil:
			return d, fmt.Errorf("%s: %w", d.Name, err)
		case len(passwords) > 0:
			return d, fmt.Errorf("%s: the URL must not have the password here, where others can read it; put it into a file "+
				"that the parameter passfile of the URL names, or the variable PGPASSFILE", d.Name)
		}
		return d, nil
	}
	if !filepath.IsAbs(d.Source) {
		return d, fmt.Errorf("%s: %q is neither an absolute path nor a URL; a line is %s", d.Name, d.Source, databaseFor)
	}
	d.Source = filepath.Clean(d.Source)
	return d, nil
}

// AbsoluteDatabase returns the value of a line database with a relative path in it made one in folder.
func AbsoluteDatabase(value, folder string) string {
	name, source, ok := strings.Cut(strings.TrimSpace(value), " ")
	source = strings.TrimSpace(source)
	if !ok || source == "" || filepath.IsAbs(source) || rootname.IsURL(source) {
		return value
	}
	return name + " " + filepath.Join(folder, source)
}

func (r *Reach) addDatabase(value string) error {
	d, err := parseDatabase(value)
	if err != nil {
		return fmt.Errorf("%s: %w", KeyDatabase, err)
	}
	if listed, ok := r.Database(d.Name); ok && listed != d {
		return fmt.Errorf("%s: %s is listed twice", KeyDatabase, d.Name)
	} else if !ok {
		r.Databases = append(r.Databases, d)
	}
	return nil
}

// Database returns the listed database with a name.
func (r Reach) Database(name string) (Database, bool) {
	i := slices.IndexFunc(r.Databases, func(d Database) bool { return d.Name == name })
	if i < 0 {
		return Database{}, false
	}
	return r.Databases[i], true
}

// addDatabases adds those of another list. If both have a name, that of the other list counts.
func (r *Reach) addDatabases(other []Database) {
	for _, d := range other {
		r.Databases = slices.DeleteFunc(slices.Clone(r.Databases), func(have Database) bool { return have.Name == d.Name })
		r.Databases = append(r.Databases, d)
	}
}

// NoDatabase returns the error for a name that is not listed.
func (r Reach) NoDatabase(name string) error {
	if len(name) > 60 || strings.ContainsFunc(name, func(c rune) bool { return c < ' ' }) {
		return errors.New("this is no name of a database")
	}
	return fmt.Errorf("scripter.conf lists no database %q: add a line such as %s there, or give the program "+
		`--database "shop /srv/shop.db"`, name, databaseFor)
}
