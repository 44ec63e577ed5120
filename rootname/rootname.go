// Package rootname knows what the name of a root says: it is the path of a file, or a URL of PostgreSQL
// (postgres://user@host/database?schema=name; package pgstore has its parameters). The package opens nothing, so that
// programs which do not talk to PostgreSQL can use it.
package rootname

import (
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Schema is the schema of a root whose URL names none.
const Schema = "scripter"

// HostFolder is the parameter of a URL that names the folder for the files of this host; see LocalPath.
const HostFolder = "host_folder"

// sharedFolder is the folder for the files of this host if it exists and this user may write there.
const sharedFolder = "/var/lib/scripter"

// IsURL reports whether the name of a root is a URL of PostgreSQL, and not the path of a file.
func IsURL(name string) bool {
	return strings.HasPrefix(name, "postgres://") || strings.HasPrefix(name, "postgresql://")
}

// errURL does not quote the URL, because it may have a password.
var errURL = errors.New("its URL cannot be read; special characters in a name or a password are written %XX")

// parts are the parts of a URL, as they are written. Package url is not used for the whole, because PostgreSQL allows
// several hosts: postgres://user@host1:5432,host2:5432/database.
type parts struct {
	scheme, user, password, hosts, database string
	query                                   []string // name=value
}

func parse(name string) (p parts) {
	scheme, rest, _ := strings.Cut(name, "://")
	p.scheme = scheme
	rest, query, _ := strings.Cut(rest, "?")
	if query != "" {
		p.query = strings.Split(query, "&")
	}
	rest, p.database, _ = strings.Cut(rest, "/")
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		p.user, p.password, _ = strings.Cut(rest[:at], ":")
		rest = rest[at+1:]
	}
	p.hosts = rest
	return p
}

// get returns the last value of a parameter.
func (p *parts) get(name string) (value string, err error) {
	for _, q := range p.query {
		if n, v, _ := strings.Cut(q, "="); n == name {
			if value, err = url.QueryUnescape(v); err != nil {
				return "", errURL
			}
		}
	}
	return value, nil
}

// secrets are the parameters of a URL that no message and no command line may contain, with the environment variables
// that may hold them instead.
var secrets = map[string]string{"password": "PGPASSWORD", "sslpassword": "PGSSLPASSWORD"}

// Split returns the name of a root without passwords, and the passwords by their environment variables.
func Split(name string) (without string, passwords map[string]string, err error) {
	if !IsURL(name) {
		return name, nil, nil
	}
	p, passwords := parse(name), map[string]string{}
	if p.password != "" {
		if passwords[secrets["password"]], err = url.PathUnescape(p.password); err != nil {
			return "", nil, errURL
		}
	}
	var rest []string
	for _, q := range p.query {
		n, v, _ := strings.Cut(q, "=")
		variable := secrets[n]
		if variable == "" {
			rest = append(rest, q)
		} else if passwords[variable] == "" {
			if passwords[variable], err = url.QueryUnescape(v); err != nil {
				return "", nil, errURL
			}
		}
	}
	if len(passwords) == 0 {
		return name, nil, nil
	}
	var b strings.Builder
	b.WriteString(p.scheme + "://")
	if p.user != "" {
		b.WriteString(p.user + "@")
	}
	b.WriteString(p.hosts)
	if p.database != "" || len(rest) > 0 {
		b.WriteString("/" + p.database)
	}
	if len(rest) > 0 {
		b.WriteString("?" + strings.Join(rest, "&"))
	}
	return b.String(), passwords, nil
}

// Variables are the environment variables that name a root. Apache renames the first to the second for an Action.
var Variables = []string{"SCRIPTER_ROOT", "REDIRECT_SCRIPTER_ROOT"}

// HidePasswords moves the passwords of a root that one of Variables names to variables of their own. So they stand in
// no message, and in no command line of a program that this one starts.
func HidePasswords() error {
	for _, variable := range Variables {
		without, passwords, err := Split(os.Getenv(variable))
		if len(passwords) > 0 {
			err = os.Setenv(variable, without)
		}
		for secret, value := range passwords {
			err = errors.Join(err, os.Setenv(secret, value))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", variable, err)
		}
	}
	return nil
}

// IsSecret reports whether an environment variable may hold a password of PostgreSQL.
func IsSecret(variable string) bool {
	variable = strings.TrimPrefix(variable, "REDIRECT_")
	return variable == Variables[0] || slices.Contains(slices.Collect(maps.Values(secrets)), variable)
}

// CheckPublic returns an error if a root whose name others can read, in the list of processes or in a file, has a
// password.
func CheckPublic(name string) error {
	if _, passwords, err := Split(name); err != nil || len(passwords) == 0 {
		return err
	}
	return errors.New("the URL of the root must not have the password here, where others can read it; " +
		"put it into a file that the variable PGPASSFILE or the parameter passfile names, or into the variable PGPASSWORD")
}

// LocalPath returns the common prefix of the paths of a root's files on this host: the resident socket, files of the
// status, saved copies. For a root in a file it is the path of the file. For a URL it is a path in the folder that the
// parameter HostFolder names, else in /var/lib/scripter if this user may write there, else in $XDG_STATE_HOME/scripter
// or ~/.local/state/scripter. The name of the file is made of host, database and schema, and ends in ".root"; there is
// no such file.
//
// scripter-cgi has the same rule in C (site_linux.c).
func LocalPath(name string) (string, error) {
	if !IsURL(name) {
		return name, nil
	}
	p := parse(name)
	folder, err := p.folder()
	if err != nil {
		return "", err
	}
	return filepath.Join(folder, p.base()+".root"), nil
}

// MakeLocalPath is LocalPath for a program that writes such files: it makes the folder for those of a URL.
func MakeLocalPath(name string) (string, error) {
	path, err := LocalPath(name)
	if err == nil && IsURL(name) {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	return path, err
}

func (p *parts) folder() (string, error) {
	folder, err := p.get(HostFolder)
	switch {
	case err != nil:
		return "", err
	case folder != "" && !filepath.IsAbs(folder):
		return "", fmt.Errorf("%s is %q, which is not an absolute path", HostFolder, folder)
	case folder != "":
		return folder, nil
	case mayWrite(sharedFolder):
		return sharedFolder, nil
	}
	if state := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(state) {
		return filepath.Join(state, "scripter"), nil
	}
	if home := os.Getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local/state/scripter"), nil
	}
	return "", fmt.Errorf("there is no folder for its files on this host: make %s, writable for this user, "+
		"or name one with the parameter %s of the URL", sharedFolder, HostFolder)
}

func mayWrite(folder string) bool {
	const writable, searchable = 2, 1 // access(2)
	return syscall.Access(folder, writable|searchable) == nil
}

// Place returns host, database and schema of a URL. Two URLs of one root may differ in the user and in other
// parameters.
func Place(name string) string {
	p := parse(name)
	return p.base()
}

// maxBase is the greatest length of a file's name made of a URL. The path of a socket has at most 107 bytes.
const maxBase = 40

// base returns a file's name made of host, database and schema. A hash replaces the end of a long one.
func (p *parts) base() string {
	list := []string{p.hosts, p.database, Schema}
	for _, q := range p.query {
		switch n, v, _ := strings.Cut(q, "="); n {
		case "host":
			list[0] = v
		case "dbname":
			list[1] = v
		case "schema":
			list[2] = v
		}
	}
	var b strings.Builder
	for _, part := range list {
		if part == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('-')
		}
		for i := range len(part) {
			switch c := part[i]; {
			case '0' <= c && c <= '9', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '.':
				b.WriteByte(c)
			default:
				b.WriteByte('_')
			}
		}
	}
	name := b.String()
	if len(name) > maxBase {
		hash := fnv.New32a()
		hash.Write([]byte(name))
		name = fmt.Sprintf("%s-%08x", name[:maxBase-9], hash.Sum32())
	}
	return name
}
