package rocks

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Open returns the rocks in a folder or an archive: the one that a rockspec describes, all of a tree that
// LuaRocks has installed into, or one that is made of all files of Lua. name is the name of the last; ""
// takes the one of the folder or the archive.
func Open(file, name string) ([]*Rock, error) {
	all, err := read(file)
	if err != nil {
		return nil, err
	}
	base := filepath.Base(filepath.Clean(file))
	if abs, err := filepath.Abs(file); err == nil {
		base = filepath.Base(abs)
	}
	list, err := all.rocks(base, name)
	for _, r := range list {
		if err == nil {
			err = r.check()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read the rock in %s: %w", file, err)
	}
	return list, nil
}

// installed finds the rockspecs and manifests of an installed rock: name and version are folders.
var installed = regexp.MustCompile(`(^|/)lib/luarocks/rocks(?:-[0-9.]+)?/([^/]+)/([^/]+)/rock_manifest$`)

func (fs files) rocks(base, name string) ([]*Rock, error) {
	var manifests []string
	for p := range fs {
		if installed.MatchString(p) {
			manifests = append(manifests, p)
		}
	}
	slices.Sort(manifests)
	if len(manifests) > 0 {
		var list []*Rock
		for _, p := range manifests {
			r, err := fs.installedRock(p)
			if err != nil {
				return nil, err
			}
			if len(r.Modules) > 0 { // programs without modules
				list = append(list, r)
			}
		}
		return list, nil
	}
	spec, err := fs.spec()
	if err != nil {
		return nil, err
	}
	r := &Rock{Modules: map[string]string{}}
	if spec != nil {
		r.describe(spec)
		fs.addSpecified(r, spec)
	} else {
		r.Name, r.Version = nameAndVersion(base)
	}
	if name != "" {
		r.Name = name
	}
	if spec == nil || len(spec.modules)+len(spec.install) == 0 {
		fs.addAll(r, path.Dir(specPath(spec)))
	}
	return []*Rock{r}, nil
}

func specPath(s *rockspec) string {
	if s == nil {
		return "."
	}
	return s.path
}

// archiveName is the name of an archive of a rock or of a release: name-1.2-1.src.rock, name-v1.2.tar.gz.
var archiveName = regexp.MustCompile(`^(.+?)-v?([0-9][0-9A-Za-z.+_~]*(?:-[0-9]+)?)$`)

// nameAndVersion returns what the name of a folder or archive says.
func nameAndVersion(base string) (name, version string) {
	for _, suffix := range []string{".rock", ".src", ".all", ".any", ".zip", ".tar.gz", ".tgz", ".lua"} {
		if len(base) > len(suffix) && strings.HasSuffix(strings.ToLower(base), suffix) {
			base = base[:len(base)-len(suffix)]
		}
	}
	if m := archiveName.FindStringSubmatch(base); m != nil {
		return m[1], m[2]
	}
	return base, ""
}

// spec returns the rockspec that lies highest, the one with the greatest name if there are several; nil if there
// is none.
func (fs files) spec() (*rockspec, error) {
	best := ""
	for p := range fs {
		if !strings.HasSuffix(p, ".rockspec") {
			continue
		}
		deeper := strings.Count(p, "/") - strings.Count(best, "/")
		if best == "" || deeper < 0 || deeper == 0 && p > best {
			best = p
		}
	}
	if best == "" {
		return nil, nil
	}
	return parseSpec(best, fs[best])
}

func (r *Rock) describe(s *rockspec) {
	r.Name, r.Version, r.Licence, r.Summary, r.Needs = s.name, s.version, s.licence, s.summary, s.needs
}

// addSpecified adds the modules that a rockspec lists.
func (fs files) addSpecified(r *Rock, s *rockspec) {
	for _, list := range []map[string]string{s.install, s.modules} {
		for name, file := range list {
			source, ok := fs.find(file, name)
			switch {
			case !strings.HasSuffix(file, ".lua"):
				r.leave(name, "it is not written in Lua")
			case !ok:
				r.leave(name, "there is no file "+file)
			default:
				r.Modules[name] = source
			}
		}
	}
}

// find returns the file that a rockspec names, wherever its sources begin. In a packed rock it lies where the
// name of the module says.
func (fs files) find(file, module string) (string, bool) {
	file = strings.TrimPrefix(path.Clean("/"+file), "/")
	way := strings.ReplaceAll(module, ".", "/")
	for _, want := range []string{file, "lua/" + way + ".lua", "lua/" + way + "/init.lua"} {
		best := ""
		for p := range fs {
			if (p == want || strings.HasSuffix(p, "/"+want)) && (best == "" || len(p) < len(best)) {
				best = p
			}
		}
		if best != "" {
			return fs[best], true
		}
	}
	return "", false
}

// installedRock returns a rock of a tree that LuaRocks has installed into.
func (fs files) installedRock(manifest string) (*Rock, error) {
	m := installed.FindStringSubmatch(manifest)
	r := &Rock{Name: m[2], Version: m[3], Modules: map[string]string{}}
	for p, source := range fs {
		if path.Dir(p) == path.Dir(manifest) && strings.HasSuffix(p, ".rockspec") {
			s, err := parseSpec(p, source)
			if err != nil {
				return nil, err
			}
			r.describe(s)
		}
	}
	list, err := parseManifest(manifest, fs[manifest])
	if err != nil {
		return nil, err
	}
	at := strings.Index(manifest, "lib/luarocks/")
	for _, file := range list {
		for _, version := range []string{"5.1", "5.2", "5.3", "5.4"} {
			if source, ok := fs[manifest[:at]+"share/lua/"+version+"/"+file]; ok {
				r.Modules[moduleName(file)] = source
				break
			}
		}
	}
	return r, nil
}

// moduleName returns the name of the module in a file: "a.b" for a/b.lua.
func moduleName(file string) string {
	return strings.ReplaceAll(strings.TrimSuffix(file, ".lua"), "/", ".")
}

// notModules are the folders and files of a rock that hold no modules.
var notModules = regexp.MustCompile(
	`(^|/)(specs?|tests?|t|examples?|samples?|docs?|bench(marks?)?|bin|tools|\.[^/]*)/|` +
		`(^|/)[^/]*_(spec|test)\.lua$|(^|/)test[^/]*\.lua$|\.rockspec$|(^|/)rock_manifest$`)

// addAll adds every file of Lua below a folder. Modules begin in share/lua/5.1, lua or src, or else at the top.
func (fs files) addAll(r *Rock, top string) {
	paths := slices.Sorted(maps.Keys(fs))
	for _, p := range paths {
		if i := strings.Index("/"+p, "/share/lua/5.1/"); i >= 0 {
			r.Modules[moduleName(p[i+len("share/lua/5.1/"):])] = fs[p]
		}
	}
	if len(r.Modules) > 0 {
		return
	}
	begin := ""
	if top != "." {
		begin = top + "/"
	} else if len(paths) > 0 { // an archive has all in one folder
		if first, _, ok := strings.Cut(paths[0], "/"); ok &&
			!slices.ContainsFunc(paths, func(p string) bool { return !strings.HasPrefix(p, first+"/") }) {
			begin = first + "/"
		}
	}
	for _, folder := range []string{begin + "lua/", begin + "src/", begin} {
		for _, p := range paths {
			rest, ok := strings.CutPrefix(p, folder)
			if !ok || notModules.MatchString(rest) {
				continue
			}
			name := moduleName(rest)
			if name == "init" {
				name = r.Name
			}
			r.Modules[name] = fs[p]
		}
		if len(r.Modules) > 0 {
			return
		}
	}
}
