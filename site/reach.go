package site

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

// Reach lists what a root may use of its host, in addition to its own file and the
// document root that the web server names. It comes from places where no script can
// write: scripter.conf, environment variables, flags. The settings of the root may
// name only what is listed. The zero value lists nothing.
type Reach struct {
	Pages        []string // folders that pages may come from
	Caches       []string // cache servers that may be purged, as host:port
	CacheFolders []string // folders of caches that may be emptied
	Sendfile     bool     // scripts may send X-Sendfile and X-Accel-* fields
	Fetch        []string // hosts of the internet that http.fetch may ask, such as *.example.com:8443
	FetchPrivate []string // hosts that may have a private address
	Databases    []Database
	MailServers  []MailServer
}

// ReachKey is one kind of entry in a [Reach]: the name of its line in scripter.conf
// and of its flag, and the name of its variable.
type ReachKey struct {
	Name, Variable, Doc string
}

// ReachKeys lists all keys. Treat it as a constant.
var ReachKeys = []ReachKey{
	{KeyPages, "SCRIPTER_PAGES", "`FOLDER` that pages may come from, beside the document root; may be repeated"},
	{KeyCache, "SCRIPTER_CACHE", "`HOST:PORT` of a cache server that webserver.flushCache may ask; may be repeated"},
	{KeyCacheFolder, "SCRIPTER_CACHE_FOLDER",
		"`FOLDER` of a cache that webserver.flushCache may empty; may be repeated"},
	{KeyMail, "SCRIPTER_MAIL",
		"`SERVER` that mails go to, such as \"smtp://localhost from=*@example.com\"; may be repeated"},
	{KeySendfile, "SCRIPTER_SENDFILE", "`on` lets scripts send X-Sendfile and X-Accel-* fields"},
	{KeyFetch, "SCRIPTER_FETCH", "`HOST` or HOST:PORT that http.fetch may ask; may be repeated"},
	{KeyFetchPrivate, "SCRIPTER_FETCH_PRIVATE",
		"`HOST` or HOST:PORT of your own network that http.fetch may ask; may be repeated"},
	{KeyDatabase, "SCRIPTER_DATABASE", "`\"NAME SOURCE\"` of a database for sql.open, and \" write\" if scripts may " +
		"change it; SOURCE is an SQLite file or postgres://…; may be repeated"},
}

const (
	KeyPages       = "pages"
	KeyCache       = "cache"
	KeyCacheFolder = "cache-folder"
	KeyMail        = "mail"
	KeySendfile    = "sendfile"

	KeyFetch        = "fetch"
	KeyFetchPrivate = "fetch-private"
	KeyDatabase     = "database"
)

// Add adds the value of a line, a flag or a variable.
func (r *Reach) Add(name, value string) error {
	switch name {
	case KeyPages, KeyCacheFolder:
		if !filepath.IsAbs(value) {
			return fmt.Errorf("%s: %q is not an absolute path", name, value)
		}
		if value = filepath.Clean(value); value == filepath.Dir(value) {
			return fmt.Errorf("%s: %s is the whole file system; name a folder in it", name, value)
		}
		list := &r.Pages
		if name == KeyCacheFolder {
			list = &r.CacheFolders
		}
		*list = addOnce(*list, value)
	case KeyCache:
		address, err := cacheAddress(value)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		r.Caches = addOnce(r.Caches, address)
	case KeyMail:
		m, err := ParseMailServer(value)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		r.addMailServer(m)
	case KeySendfile:
		if value != "on" && value != "off" {
			return fmt.Errorf("%s is %q, not on or off", name, value)
		}
		r.Sendfile = value == "on"
	case KeyFetch, KeyFetchPrivate:
		return r.addHosts(name, value)
	case KeyDatabase:
		return r.addDatabase(value)
	default:
		return fmt.Errorf("%q is none of %s", name, strings.Join(reachNames(), ", "))
	}
	return nil
}

// reachNames returns the names of all keys.
func reachNames() []string {
	var names []string
	for _, key := range ReachKeys {
		names = append(names, key.Name)
	}
	return names
}

func addOnce(list []string, value string) []string {
	if slices.Contains(list, value) {
		return list
	}
	return append(list, value)
}

// addVariables adds the values of the environment variables in env. Colons separate
// folders; blanks or commas separate servers; semicolons separate databases.
func (r *Reach) addVariables(env map[string]string) error {
	for _, key := range ReachKeys {
		value := either(env, key.Variable)
		if value == "" {
			continue
		}
		values := []string{value}
		switch key.Name {
		case KeyPages, KeyCacheFolder:
			values = filepath.SplitList(value)
		case KeyCache:
			values = splitWords(value)
		case KeyDatabase:
			values = strings.FieldsFunc(value, func(c rune) bool { return c == ';' || c == '\n' })
		}
		for _, v := range values {
			if err := r.Add(key.Name, v); err != nil {
				return fmt.Errorf("%s: %w", key.Variable, err)
			}
		}
	}
	return nil
}

// AddAll adds all entries of other.
func (r *Reach) AddAll(other Reach) {
	for _, list := range []struct {
		to   *[]string
		from []string
	}{
		{&r.Pages, other.Pages}, {&r.Caches, other.Caches}, {&r.CacheFolders, other.CacheFolders},
		{&r.Fetch, other.Fetch}, {&r.FetchPrivate, other.FetchPrivate},
	} {
		for _, v := range list.from {
			*list.to = addOnce(*list.to, v)
		}
	}
	for _, m := range other.MailServers {
		r.addMailServer(m)
	}
	r.Sendfile = r.Sendfile || other.Sendfile
	r.addDatabases(other.Databases)
}

// addMailServer adds a server, in the place of one with the same URL.
func (r *Reach) addMailServer(m MailServer) {
	list := slices.Clone(r.MailServers)
	i := slices.IndexFunc(list, func(old MailServer) bool { return old.URL() == m.URL() })
	if i >= 0 {
		list[i] = m
	} else {
		list = append(list, m)
	}
	r.MailServers = list
}

// Flags returns the flags that pass r to another program of Scripter.
func (r Reach) Flags() []string {
	var flags []string
	for _, list := range []struct {
		name   string
		values []string
	}{
		{KeyPages, r.Pages}, {KeyCache, r.Caches}, {KeyCacheFolder, r.CacheFolders},
		{KeyFetch, r.Fetch}, {KeyFetchPrivate, r.FetchPrivate},
	} {
		for _, v := range list.values {
			flags = append(flags, "--"+list.name, v)
		}
	}
	for _, d := range r.Databases {
		flags = append(flags, "--"+KeyDatabase, d.String())
	}
	for _, m := range r.MailServers {
		flags = append(flags, "--"+KeyMail, m.Line())
	}
	if r.Sendfile {
		flags = append(flags, "--"+KeySendfile, "on")
	}
	return flags
}

// ServerURL returns the URL of a server that is written as "proxy:6081" or
// "http://proxy/", without a slash at its end.
func ServerURL(server string) string {
	if !strings.Contains(server, "://") {
		server = "http://" + server
	}
	return strings.TrimSuffix(server, "/")
}

// cacheAddress returns host:port of a cache server that is written as "proxy:6081"
// or "http://proxy".
func cacheAddress(server string) (string, error) {
	u, err := url.Parse(ServerURL(server))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" ||
		u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
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

// Unlisted is the error for a value of a setting that scripter.conf does not list.
type Unlisted struct {
	Setting string `json:"setting"` // last part of its address; "" for a recorded request
	Value   string `json:"value"`   // the value of the setting
	Key     string `json:"key"`     // the name of the line that would list it
}

// Line returns the line of scripter.conf that would list the value.
func (u *Unlisted) Line() string { return u.Key + ": " + u.listing() }

// listing returns the value that the line would have.
func (u *Unlisted) listing() string {
	if u.Key == KeyCache {
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
		what = "the document root of the recorded request, " + u.Value +
			", comes from the root, where scripts can write, and scripter.conf does not list it"
	case u.Key == KeySendfile:
		what = "user.webserver." + u.Setting + " is on, but scripter.conf does not allow it"
	}
	return fmt.Sprintf("%s: add the line %q there, or give the program --%s %s", what, u.Line(), u.Key, u.listing())
}

// Check returns an [*Unlisted] error unless r lists the value of a setting, or the
// value is a folder below a listed one. It does not access the file system.
func (r Reach) Check(setting, key, value string) error {
	ok := false
	switch key {
	case KeyPages:
		ok = IsBelow(value, r.Pages)
	case KeyCacheFolder:
		ok = IsBelow(value, r.CacheFolders)
	case KeyCache:
		address, err := cacheAddress(value)
		ok = err == nil && slices.Contains(r.Caches, address)
	case KeySendfile:
		ok = r.Sendfile
	}
	if ok {
		return nil
	}
	return &Unlisted{setting, value, key}
}

// CacheFolderAbove returns the listed folder that is folder or contains it.
func (r Reach) CacheFolderAbove(folder string) (string, error) {
	for _, listed := range r.CacheFolders {
		if IsBelow(folder, []string{listed}) {
			return listed, nil
		}
	}
	return "", r.Check(CacheFolders.Name, KeyCacheFolder, folder)
}

// IsBelow reports whether a path is one of the folders or lies below one. It compares
// the paths as text and does not resolve links.
func IsBelow(path string, folders []string) bool {
	path = filepath.Clean(path)
	return filepath.IsAbs(path) && slices.ContainsFunc(folders, func(f string) bool {
		return path == f || strings.HasPrefix(path, f+string(filepath.Separator))
	})
}

// Unlisted returns the values in the settings of a root that r does not list.
func (r Reach) Unlisted(s *Snapshot) []*Unlisted {
	var list []*Unlisted
	check := func(setting, key, value string) {
		var u *Unlisted
		if errors.As(r.Check(setting, key, value), &u) {
			list = append(list, u)
		}
	}
	if folder := s.String(WebsiteFolderPath); folder != "" {
		check(WebsiteFolderPath.Name, KeyPages, folder)
	}
	for _, folder := range s.PageFolders() {
		check("pageFolders", KeyPages, folder)
	}
	for _, server := range s.Strings(CacheServers) {
		check(CacheServers.Name, KeyCache, server)
	}
	for _, folder := range s.Strings(CacheFolders) {
		check(CacheFolders.Name, KeyCacheFolder, folder)
	}
	if s.Flag(FlPassAccel) {
		check(FlPassAccel.Name, KeySendfile, "on")
	}
	return list
}
