// Sbom prints what programs contain, as a software bill of materials in the form CycloneDX 1.5.
//
//	sbom -version 0.2.0 -time 1767225600 -npm admin/web/package-lock.json PROGRAM…
//
// It reads the modules from the programs themselves, the npm packages of the web page's script
// from the lock file of npm, and SQLite's version from the source of the module that has it.
package main

import (
	"cmp"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

type component struct {
	Type    string `json:"type"`
	Ref     string `json:"bom-ref,omitempty"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl,omitempty"`
}

type bill struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

func main() {
	version := flag.String("version", "", "version of Scripter")
	seconds := flag.Int64("time", 0, "seconds since 1970 of the source")
	npm := flag.String("npm", "", "package-lock.json")
	sqlite := flag.String("sqlite", "", "sqlite3-binding.h")
	glibc := flag.String("glibc", "", "version of the C library that is linked statically")
	flag.Parse()
	b, err := read(*version, *npm, *sqlite, *glibc, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
	b.Metadata.Timestamp = time.Unix(*seconds, 0).UTC().Format(time.RFC3339)
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	out.SetEscapeHTML(false)
	if err := out.Encode(b); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func read(version, npm, sqlite, glibc string, programs []string) (*bill, error) {
	b := &bill{Format: "CycloneDX", Spec: "1.5", Version: 1, Metadata: metadata{Component: component{
		Type: "application", Ref: "scripter", Name: "scripter", Version: version,
	}}}
	if len(programs) == 0 {
		return nil, errors.New("no programs are named")
	}
	seen := map[string]bool{}
	add := func(c component) {
		if !seen[c.PURL] {
			seen[c.PURL] = true
			c.Ref = c.PURL
			b.Components = append(b.Components, c)
		}
	}
	for _, program := range programs {
		info, err := buildinfo.ReadFile(program)
		if err != nil {
			return nil, err
		}
		goVersion := strings.TrimPrefix(info.GoVersion, "go")
		add(component{Type: "library", Name: "std", Version: goVersion, PURL: "pkg:golang/std@" + goVersion})
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			add(component{Type: "library", Name: m.Path, Version: m.Version, PURL: "pkg:golang/" + m.Path + "@" + m.Version})
		}
	}
	packages, err := npmPackages(npm)
	if err != nil {
		return nil, err
	}
	for _, p := range packages {
		add(p)
	}
	header, err := os.ReadFile(sqlite)
	if err != nil {
		return nil, err
	}
	m := regexp.MustCompile(`#define SQLITE_VERSION +"([0-9.]+)"`).FindSubmatch(header)
	if m == nil {
		return nil, fmt.Errorf("%s names no version of SQLite", sqlite)
	}
	add(component{Type: "library", Name: "sqlite", Version: string(m[1]), PURL: "pkg:generic/sqlite@" + string(m[1])})
	if glibc != "" {
		add(component{Type: "library", Name: "glibc", Version: glibc, PURL: "pkg:generic/glibc@" + glibc})
	}
	slices.SortFunc(b.Components, func(x, y component) int { return cmp.Compare(x.PURL, y.PURL) })
	return b, nil
}

// npmPackages lists the packages of a lock file that are bundled: those that are not only for development.
func npmPackages(file string) (list []component, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var lock struct {
		Packages map[string]struct {
			Version string `json:"version"`
			Dev     bool   `json:"dev"`
		} `json:"packages"`
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for path, p := range lock.Packages {
		if path == "" || p.Dev {
			continue
		}
		name := path[strings.LastIndex(path, "node_modules/")+len("node_modules/"):]
		list = append(list, component{Type: "library", Name: name, Version: p.Version,
			PURL: "pkg:npm/" + strings.Replace(name, "@", "%40", 1) + "@" + p.Version})
	}
	return list, nil
}
