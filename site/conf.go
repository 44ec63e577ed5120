package site

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"scripter/rootname"
)

// Conf is the content of a configuration file: the name of the root, and what a
// program needs before it opens the root. All other settings lie in the root.
type Conf struct {
	Root string // path of the root, or its URL without a password
	NPH  string // auto, on or off: the form of a CGI response
	// Resident says how scripter-cgi uses a resident scripter-fcgi of the same root:
	// with auto (or "") it passes the request to one that runs already, with start it
	// also starts one, with off it answers each request itself.
	Resident string
	Reach    Reach  // what the root may use of its host
	File     string // the file, or the variable or flag that named the root
	// Passed is the error of a configuration file that could not be read and was
	// skipped, although it may belong to this root. It is set only if a variable or
	// a flag has named the root.
	Passed error
}

// confKeys lists the names of lines in a configuration file. The lines of ReachKeys
// may be repeated.
var confKeys = append([]string{"root", "nph", "resident"}, reachNames()...)

// ConfFile is the name of the configuration file beside a program.
const ConfFile = "scripter.conf"

// systemConf is the configuration file that is tried last.
const systemConf = "/etc/scripter/scripter.conf"

// SystemRoot returns the root that the system's configuration file names, or "" if there is no such file that this
// process may read.
func SystemRoot() (string, error) {
	c, err := readConf(systemConf)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return "", nil
	}
	return c.Root, err
}

// readConf reads a configuration file. Its lines are "name: value"; a line that
// begins with "#" is a comment, such as a first line "#!…" that names the program.
// A relative path of a root is relative to the file's folder.
func readConf(file string) (Conf, error) {
	c := Conf{File: file}
	f, err := os.Open(file)
	if err != nil {
		return c, err
	}
	defer f.Close()
	folder, err := filepath.Abs(filepath.Dir(file)) // a web server may start a two-line file by a relative path
	if err != nil {
		return c, err
	}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok || !slices.Contains(confKeys, name) {
			return c, fmt.Errorf("%s, line %d: %.60q is none of %s",
				file, n, line, strings.Join(confKeys, ": …, ")+": …")
		}
		switch name {
		case "root":
			c.Root = value
		case "nph":
			if c.NPH = value; !validNPH(value) {
				return c, fmt.Errorf("%s, line %d: nph is %q, not auto, on or off", file, n, value)
			}
		case "resident":
			if c.Resident = value; !validResident(value) {
				return c, fmt.Errorf("%s, line %d: resident is %q, not auto, start or off", file, n, value)
			}
		default:
			if (name == KeyPages || name == KeyCacheFolder) && value != "" && !filepath.IsAbs(value) {
				value = filepath.Join(folder, value)
			}
			if name == KeyDatabase {
				value = AbsoluteDatabase(value, folder)
			}
			if err := c.Reach.Add(name, value); err != nil {
				return c, fmt.Errorf("%s, line %d: %w", file, n, err)
			}
		}
	}
	if err := lines.Err(); err != nil {
		return c, fmt.Errorf("read %s: %w", file, err)
	}
	if c.Root == "" {
		return c, fmt.Errorf("%s names no root: it needs a line \"root: /path/to/scripter.root\"", file)
	}
	if err := rootname.CheckPublic(c.Root); err != nil {
		return c, fmt.Errorf("%s: %w", file, err)
	}
	if !filepath.IsAbs(c.Root) && !rootname.IsURL(c.Root) {
		c.Root = filepath.Join(filepath.Dir(file), c.Root)
	}
	return c, nil
}

func validNPH(s string) bool { return s == "auto" || s == "on" || s == "off" }

func validResident(s string) bool { return s == "auto" || s == "start" || s == "off" }

// errNoRoot is returned if no variable and no configuration file names a root.
var errNoRoot = errors.New("no root is named: set SCRIPTER_ROOT, " +
	"or write \"root: /path/to/scripter.root\" into " + ConfFile + " beside the program or into " + systemConf)

// FindConf finds the configuration of a program that a web server starts. The
// first of these that names a root counts:
//
//   - the variables SCRIPTER_ROOT and REDIRECT_SCRIPTER_ROOT in env; Apache renames
//     the former to the latter for an Action
//   - script, a file that names the program in its first line, unless it is ""
//   - the configuration file beside the executable
//   - the system's configuration file
func FindConf(env map[string]string, script, executable string) (Conf, error) {
	nph := either(env, "SCRIPTER_NPH")
	if nph != "" && !validNPH(nph) {
		return Conf{}, fmt.Errorf("SCRIPTER_NPH is %.40q, not auto, on or off", nph)
	}
	resident := either(env, "SCRIPTER_RESIDENT")
	if resident != "" && !validResident(resident) {
		return Conf{}, fmt.Errorf("SCRIPTER_RESIDENT is %.40q, not auto, start or off", resident)
	}
	c, err := findRoot(env, script, executable)
	c.NPH, c.Resident = cmp.Or(nph, c.NPH), cmp.Or(resident, c.Resident)
	if err == nil {
		err = c.Reach.addVariables(env)
	}
	return c, err
}

// ConfOf returns the configuration of a root that a flag names. Its Reach comes from
// the variables, and from the configuration file beside the executable or the
// system's, if that file names the same root.
func ConfOf(root string, env map[string]string, executable string) (Conf, error) {
	c := confOf(root, "--root", "", executable)
	return c, c.Reach.addVariables(env)
}

func confOf(root, by, script, executable string) Conf {
	c := Conf{Root: root, File: by}
	for _, file := range []string{script, filepath.Join(filepath.Dir(executable), ConfFile), systemConf} {
		if file == "" {
			continue
		}
		found, err := readConf(file)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission): // no file for this program
		case err != nil:
			c.Passed = err
		case isSameRoot(found.Root, root):
			c.Reach, c.Passed = found.Reach, nil
			return c
		}
	}
	return c
}

// isSameRoot reports whether two paths lead to the same root.
func isSameRoot(a, b string) bool {
	if a == b || rootname.IsURL(a) || rootname.IsURL(b) {
		return a == b
	}
	realA, errA := realPath(a)
	realB, errB := realPath(b)
	return errA == nil && errB == nil && realA == realB
}

// realPath returns the absolute path with all symbolic links resolved.
func realPath(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	return filepath.Abs(real)
}

// either returns the value of a variable, or that of its copy with the prefix
// REDIRECT_, which Apache makes for an Action.
func either(env map[string]string, name string) string {
	return cmp.Or(env[name], env["REDIRECT_"+name])
}

func findRoot(env map[string]string, script, executable string) (Conf, error) {
	for _, name := range rootname.Variables {
		root, _, err := rootname.Split(env[name])
		switch {
		case err != nil:
			return Conf{}, fmt.Errorf("%s: %w", name, err)
		case root != "":
			return confOf(root, name, script, executable), nil
		}
	}
	if script != "" {
		return readConf(script)
	}
	for _, file := range []string{filepath.Join(filepath.Dir(executable), ConfFile), systemConf} {
		c, err := readConf(file)
		if !errors.Is(err, fs.ErrNotExist) {
			return c, err
		}
	}
	return Conf{}, errNoRoot
}

// ScriptFile reports whether the system started the program through a file with the
// first line "#!/path/to/scripter-cgi", as Fossil does it, and returns that file.
// started is the file that the kernel reports as started. A person who can make the
// system start a file can start any program, and so may also name the root. Arguments
// and variables are no proof: web servers pass a query without "=" as arguments, and
// lighttpd passes to a handler the file that a visitor names, which may be an upload.
func ScriptFile(started, executable string) (string, bool) {
	file, err := os.Stat(started)
	if err != nil || !file.Mode().IsRegular() {
		return "", false
	}
	if program, err := os.Stat(executable); err != nil || os.SameFile(file, program) {
		return "", false
	}
	f, err := os.Open(started)
	if err != nil {
		return "", false
	}
	defer f.Close()
	var head [2]byte
	n, _ := f.Read(head[:])
	if string(head[:n]) != "#!" {
		return "", false
	}
	return started, true
}
