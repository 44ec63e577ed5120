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

// Reach lists what a root may use of its host, beside its own file and the document
// root that the web server names. It comes from places where no script can write:
// scripter.conf, variables of the process, flags. The settings of the root may name
// only what is listed. The zero value lists nothing.
type Reach struct {
	Pages        []string // folders that pages may come from
	Caches       []string // cache servers that may be purged, as host:port
	CacheFolders []string // folders of caches that may be emptied
	Sendfile     bool     // scripts may send X-Sendfile and X-Accel-* fields
}

// ReachKey is one kind of entry in a [Reach]: the name of its line in scripter.conf
// and of its flag, and the name of its variable.
type ReachKey struct {
	Name, Variable, Doc string
}

// ReachKeys lists all keys. It must not be changed.
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

// Add adds the value of a line, a flag or a variable.
func (r *Reach) Add(name, value string) error {
	switch name {
	case keyPages, keyCacheFolder:
		if !filepath.IsAbs(value) {
			return fmt.Errorf("%s: %q is not an absolute path", name, value)
		}
		if value = filepath.Clean(value); value == filepath.Dir(value) {
			return fmt.Errorf("%s: %s is the whole file system; name a folder in it", name, value)
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
		return fmt.Errorf("%q is none of %s, %s, %s and %s", name, keyPages, keyCache, keyCacheFolder, keySendfile)
	}
	return nil
}

func addOnce(list []string, value string) []string {
	if slices.Contains(list, value) {
		return list
	}
	return append(list, value)
}

// AddVariables adds the values of the variables of the process. Colons separate
// folders, blanks or commas separate servers.
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

// AddAll adds everything that other lists.
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

// Flags returns the flags that pass r to another program of Scripter.
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

// cacheAddress returns host:port of a cache server that is written as "proxy:6081"
// or "http://proxy".
func cacheAddress(server string) (string, error) {
	u, err := url.Parse(serverURL(server))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return "", fmt.Errorf("%.100q is not a server such as proxy:6081", server)
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

// Unlisted is the error for a value that a setting names and scripter.conf does not
// list.
type Unlisted struct {
	Setting string `json:"setting"` // last part of its address; "" for a kept request
	Value   string `json:"value"`   // the value that it names
	Key     string `json:"key"`     // the key of the line that would list it
}

// Line returns the line for scripter.conf.
func (u *Unlisted) Line() string { return u.Key + ": " + u.listing() }

// listing returns the value of the line.
func (u *Unlisted) listing() string {
	if u.Key == keyCache {
		if address, err := cacheAddress(u.Value); err == nil {
			return address
		}
	}
	return u.Value
}

func (u *Unlisted) Error() string {
	what := "user.webserver." + u.Setting + " names " + u.Value + ", which scripter.conf does not list"
	switch {
	case u.Setting == "":
		what = "the document root of the kept request, " + u.Value +
			", comes from the root, where scripts can write, and scripter.conf does not list it"
	case u.Key == keySendfile:
		what = "user.webserver." + u.Setting + " is on, but scripter.conf does not allow it"
	}
	return fmt.Sprintf("%s: add the line %q there, or give the program --%s %s", what, u.Line(), u.Key, u.listing())
}

// listed returns an error unless the value of a setting is listed, or is a folder below
// a listed one. It does not look at the disk.
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

// cacheFolderAbove returns the listed folder that is folder or contains it.
func (r Reach) cacheFolderAbove(folder string) (string, error) {
	for _, listed := range r.CacheFolders {
		if isBelow(folder, []string{listed}) {
			return listed, nil
		}
	}
	return "", r.listed(cacheFolders.Name, keyCacheFolder, folder)
}

// isBelow reports whether a path is one of these folders or lies below one. It compares
// the texts and does not resolve links.
func isBelow(path string, folders []string) bool {
	path = filepath.Clean(path)
	return filepath.IsAbs(path) && slices.ContainsFunc(folders, func(f string) bool {
		return path == f || strings.HasPrefix(path, f+string(filepath.Separator))
	})
}

// Unlisted returns the values that the settings of a root name and r does not list.
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
