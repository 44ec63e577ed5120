// Package setup makes the configuration that puts Scripter behind the web server of a Debian machine, out of
// conf-examples.
//
// Begin with New: it reads what is there and changes nothing. Its Changes are files to write; Apply writes them and keeps what
// was there before; Undo puts that back.
package setup

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	conf "scripter/conf-examples"
)

// Options say what is set up.
type Options struct {
	Server string // one of Servers
	Name   string // host name of the site; "" for all that no other site has
	Folder string // of the pages
	Socket string // of scripter-fcgi
	Force  bool   // replace files that were edited since an earlier setup
	Prefix string // before all paths; "" but in tests
}

// Servers are the web servers that can be set up.
var Servers = []string{"nginx", "apache", "lighttpd", "caddy"}

// A Change is a file as it will be. If Text is empty, the file is taken away.
type Change struct {
	Path   string
	Text   string
	Before string // what is there now
	Exists bool
	backup string
}

// Plan is what setup does, in this order: Changes, Enable, Test; then Service is started or reads its configuration again.
type Plan struct {
	Changes []*Change
	Enable  [][]string // commands of the distribution
	Test    []string   // the server's own test of its configuration
	Service string     // of systemd
	Group   string     // whose members may connect to the socket; "": www-data, as the package has it
	o       Options
}

// ErrServer is returned for a web server that is none of Servers.
var ErrServer = errors.New("there is no setup")

// ErrEdited is returned for a file that was changed since setup wrote it, or that setup did not write.
var ErrEdited = errors.New("it was edited, or is not from scripter setup")

// New returns the plan for o.
func New(o Options) (*Plan, error) {
	p := &Plan{o: o}
	var err error
	switch o.Server {
	case "nginx":
		err = p.nginx()
	case "apache":
		err = p.apache()
	case "lighttpd":
		err = p.lighttpd()
	case "caddy":
		err = p.caddy()
	default:
		return nil, fmt.Errorf("%w for %q: it is for %s", ErrServer, o.Server, strings.Join(Servers, ", "))
	}
	if err != nil {
		return nil, fmt.Errorf("set up %s: %w", o.Server, err)
	}
	p.Changes = slices.DeleteFunc(p.Changes, func(c *Change) bool { return c.Exists && c.Before == c.Text })
	return p, nil
}

// mark is the first line of a file that setup wrote; the checksum is that of the other lines.
const mark = "# Written by \"scripter setup\". Edit it as you like; setup then leaves it alone. Checksum "

func marked(text string) string {
	return fmt.Sprintf("%s%.16x\n%s", mark, sha256.Sum256([]byte(text)), text)
}

// isOurs reports whether setup wrote text, and nobody has changed it.
func isOurs(text string) bool {
	first, rest, _ := strings.Cut(text, "\n")
	return strings.HasPrefix(first, mark) && marked(rest) == text
}

func (p *Plan) path(path string) string { return filepath.Join(p.o.Prefix, path) }

// write adds a file that setup owns.
func (p *Plan) write(path, text string) error {
	c, err := p.change(path)
	if err != nil {
		return err
	}
	if c.Exists && !isOurs(c.Before) && !p.o.Force {
		return fmt.Errorf("%s: %w", path, ErrEdited)
	}
	c.Text = marked(text)
	p.Changes = append(p.Changes, c)
	return nil
}

// change returns a change of a file, without the new text.
func (p *Plan) change(path string) (*Change, error) {
	text, err := os.ReadFile(p.path(path))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return &Change{Path: p.path(path), Before: string(text), Exists: err == nil}, nil
}

// Apply writes the changes, in order. What was there is kept: see Change.Backup. After an error, nothing is changed.
func (p *Plan) Apply(now time.Time) error {
	for _, c := range p.Changes {
		if err := c.apply(now); err != nil {
			return errors.Join(err, p.Undo())
		}
	}
	return nil
}

// Backup returns the path of what was there before, or "".
func (c *Change) Backup() string { return c.backup }

func (c *Change) apply(now time.Time) error {
	if err := os.MkdirAll(filepath.Dir(c.Path), 0o755); err != nil {
		return err
	}
	if c.Exists {
		backup := c.Path + ".before-" + now.UTC().Format("20060102-150405")
		if c.Text == "" { // in a folder whose files are all read
			backup = filepath.Join(filepath.Dir(filepath.Dir(c.Path)), filepath.Base(c.Path)+".enabled-before-"+
				now.UTC().Format("20060102-150405"))
		}
		if err := os.Rename(c.Path, backup); err != nil {
			return err
		}
		c.backup = backup
	}
	if c.Text == "" {
		return nil
	}
	return os.WriteFile(c.Path, []byte(c.Text), 0o644)
}

// Undo puts back what was there before Apply.
func (p *Plan) Undo() (err error) {
	for _, c := range slices.Backward(p.Changes) {
		if c.backup != "" {
			err = errors.Join(err, os.Rename(c.backup, c.Path))
		} else if removed := os.Remove(c.Path); !errors.Is(removed, fs.ErrNotExist) {
			err = errors.Join(err, removed)
		}
		c.backup = ""
	}
	return err
}

// example returns an example with its folders and socket put in.
func (p *Plan) example(name string) string {
	text, err := conf.Files.ReadFile(name)
	if err != nil {
		panic(err) // it is embedded
	}
	return strings.NewReplacer("/srv/scripter/www", p.o.Folder, "/run/scripter/scripter.sock", p.o.Socket).Replace(string(text))
}

// between returns the text from the line that begins with from, up to the one that begins with to, or to the end if to
// is "".
func between(text, from, to string) string {
	if from != "" {
		i := strings.Index(text, "\n"+from)
		if i < 0 {
			panic("the example has no line " + from)
		}
		text = text[i+1:]
	}
	if to == "" {
		return text
	}
	i := strings.Index(text, "\n"+to)
	if i < 0 {
		panic("the example has no line " + to)
	}
	return text[:i+1]
}

func replace(text string, pairs ...string) string {
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			panic("the example has no text " + pairs[i])
		}
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	return text
}
