package gateway

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"scripter/objectdb"
)

// Reach is what a root may use of its host, beside its own file and the document
// root that the web server names. It is decided where no script can write: in
// scripter.conf, in variables of the process, by flags. The settings of the root
// choose among it. The zero value is nothing.
type Reach struct {
	Pages        []string // folders that pages may come from
	Caches       []string // cache servers that may be told to forget pages, as host:port
	CacheFolders []string // folders of caches that may be emptied
	Sendfile     bool     // the web server may be told by a field to send a file
}

// ReachKey is one kind of what a root may use: a line of scripter.conf and a
// flag have its name, a variable of the process the other one.
type ReachKey struct {
	Name, Variable, Doc string
}

// ReachKeys lists them all. Nobody writes it.
var ReachKeys = []ReachKey{
	{keyPages, "SCRIPTER_PAGES", "`FOLDER` that pages may come from, beside the document root; may be repeated"},
	{keyCache, "SCRIPTER_CACHE", "`HOST:PORT` of a cache server that webserver.flushCache may ask; may be repeated"},
	{keyCacheFolder, "SCRIPTER_CACHE_FOLDER", "`FOLDER` of a cache that webserver.flushCache may empty; may be repeated"},
	{keySendfile, "SCRIPTER_SENDFILE", "`on` lets scripts send X-Sendfile and X-Accel-* fields"},
}

const (
	keyPages       = "pages"
	keyCache       = "cache"
	keyCacheFolder = "cache-folder"
	keySendfile    = "sendfile"
)

// Add takes what a line, a flag or a variable names.
func (r *Reach) Add(name, value string) error {
	switch name {
	case keyPages, keyCacheFolder:
		if !filepath.IsAbs(value) {
			return fmt.Errorf("%s: %q is no whole path of a folder", name, value)
		}
		if value = filepath.Clean(value); value == filepath.Dir(value) {
			return fmt.Errorf("%s: %s is the whole machine; name the folder that is meant", name, value)
		}
		list := &r.Pages
		if name == keyCacheFolder {
			list = &r.CacheFolders
		}
		*list = addOnce(*list, value)
	case keyCache:
		address, err := cacheAddress(value)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		r.Caches = addOnce(r.Caches, address)
	case keySendfile:
		if value != "on" && value != "off" {
			return fmt.Errorf("%s is %q, not on or off", name, value)
		}
		r.Sendfile = value == "on"
	default:
		return fmt.Errorf("%q is nothing that a root may use", name)
	}
	return nil
}

func addOnce(list []string, value string) []string {
	if slices.Contains(list, value) {
		return list
	}
	return append(list, value)
}

// AddVariables takes what the variables of the process name: folders with colons
// between them, servers with blanks or commas.
func (r *Reach) AddVariables(env map[string]string) error {
	for _, key := range ReachKeys {
		value := either(env, key.Variable)
		if value == "" {
			continue
		}
		values := []string{value}
		switch key.Name {
		case keyPages, keyCacheFolder:
			values = filepath.SplitList(value)
		case keyCache:
			values = strings.FieldsFunc(value, func(c rune) bool { return c == ' ' || c == ',' })
		}
		for _, v := range values {
			if err := r.Add(key.Name, v); err != nil {
				return fmt.Errorf("%s: %w", key.Variable, err)
			}
		}
	}
	return nil
}

// AddAll takes all that another one lists.
func (r *Reach) AddAll(other Reach) {
	for _, list := range []struct {
		to   *[]string
		from []string
	}{{&r.Pages, other.Pages}, {&r.Caches, other.Caches}, {&r.CacheFolders, other.CacheFolders}} {
		for _, v := range list.from {
			*list.to = addOnce(*list.to, v)
		}
	}
	r.Sendfile = r.Sendfile || other.Sendfile
}

// Flags returns the flags that give the same to another program of ours.
func (r Reach) Flags() []string {
	var flags []string
	for _, list := range []struct {
		name   string
		values []string
	}{{keyPages, r.Pages}, {keyCache, r.Caches}, {keyCacheFolder, r.CacheFolders}} {
		for _, v := range list.values {
			flags = append(flags, "--"+list.name, v)
		}
	}
	if r.Sendfile {
		flags = append(flags, "--"+keySendfile, "on")
	}
	return flags
}

// cacheAddress returns host:port of a cache server as people write it:
// "proxy:6081", "http://proxy".
func cacheAddress(server string) (string, error) {
	u, err := url.Parse(serverURL(server))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return "", fmt.Errorf("%.100q is no server such as proxy:6081", server)
	}
	port := "80"
	if u.Scheme == "https" {
		port = "443"
	}
	host := strings.ToLower(u.Hostname())
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return host + ":" + cmp.Or(u.Port(), port), nil
}

// Unlisted is an error: what a setting names and nothing lists.
type Unlisted struct {
	Setting string `json:"setting"` // last part of its address; "" for what a kept request names
	Value   string `json:"value"`   // what it names
	Key     string `json:"key"`     // of the line that would list it
}

// Line is the line for scripter.conf.
func (u *Unlisted) Line() string { return u.Key + ": " + u.listing() }

// listing is the value of the line.
func (u *Unlisted) listing() string {
	if u.Key == keyCache {
		if address, err := cacheAddress(u.Value); err == nil {
			return address
		}
	}
	return u.Value
}

func (u *Unlisted) Error() string {
	what := "user.webserver." + u.Setting + " names " + u.Value + ", which"
	switch {
	case u.Setting == "":
		what = "the document root of the kept request, " + u.Value + ", lies in the root, where scripts can write, and"
	case u.Key == keySendfile:
		what = "user.webserver." + u.Setting + " is on, which"
	}
	return fmt.Sprintf("%s scripter.conf does not list: add the line %q there, or give the program --%s %s", what, u.Line(), u.Key, u.listing())
}

// listed returns nil when what a setting names is listed: a folder also when it lies
// below a listed one. Nothing is looked up on the disk.
func (r Reach) listed(setting, key, value string) error {
	ok := false
	switch key {
	case keyPages:
		ok = isBelow(value, r.Pages)
	case keyCacheFolder:
		ok = isBelow(value, r.CacheFolders)
	case keyCache:
		address, err := cacheAddress(value)
		ok = err == nil && slices.Contains(r.Caches, address)
	case keySendfile:
		ok = r.Sendfile
	}
	if ok {
		return nil
	}
	return &Unlisted{setting, value, key}
}

// cacheFolderAbove returns the listed folder that a cache's folder is, or lies below.
func (r Reach) cacheFolderAbove(folder string) (string, error) {
	for _, listed := range r.CacheFolders {
		if isBelow(folder, []string{listed}) {
			return listed, nil
		}
	}
	return "", r.listed(cacheFolders.Name, keyCacheFolder, folder)
}

// isBelow reports whether a path is one of these folders or lies below one, by
// its text alone.
func isBelow(path string, folders []string) bool {
	path = filepath.Clean(path)
	return filepath.IsAbs(path) && slices.ContainsFunc(folders, func(f string) bool {
		return path == f || strings.HasPrefix(path, f+string(filepath.Separator))
	})
}

// Unlisted returns what the settings of a root name and r does not list.
func (r Reach) Unlisted(tx *objectdb.Tx) []*Unlisted {
	var list []*Unlisted
	check := func(setting, key, value string) {
		var u *Unlisted
		if errors.As(r.listed(setting, key, value), &u) {
			list = append(list, u)
		}
	}
	s := readSettings(tx)
	if folder := s.string(websiteFolderPath); folder != "" {
		check(websiteFolderPath.Name, keyPages, folder)
	}
	for _, folder := range s.pageFolders() {
		check("pageFolders", keyPages, folder)
	}
	for _, server := range s.list(cacheServers) {
		check(cacheServers.Name, keyCache, server)
	}
	for _, folder := range s.list(cacheFolders) {
		check(cacheFolders.Name, keyCacheFolder, folder)
	}
	if s.flag(flPassAccel) {
		check(flPassAccel.Name, keySendfile, "on")
	}
	return list
}
