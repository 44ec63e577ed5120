package main

import (
	"embed"
	"fmt"
	"io/fs"
	"runtime/debug"
	"strings"
)

// licenseTexts has the licences of everything that the three programs contain, in a
// file PATH.txt for each module. Those of the npm packages in the script of the web page are
// below npm. "make licenses" writes them.
//
//go:embed licenses
var licenseTexts embed.FS

// printLicenses prints the licences of the programs and of everything that they contain.
func (t *tool) printLicenses() error {
	versions := map[string]string{"scripter": version}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			versions[m.Path] = m.Version
		}
	}
	if err := t.printLicense("licenses/scripter.txt", versions); err != nil {
		return err
	}
	return fs.WalkDir(licenseTexts, "licenses", func(name string, f fs.DirEntry, err error) error {
		if err != nil || f.IsDir() || name == "licenses/scripter.txt" {
			return err
		}
		fmt.Fprintln(t.out)
		return t.printLicense(name, versions)
	})
}

// printLicense prints one file below licenses, headed by the name and version of its
// module.
func (t *tool) printLicense(name string, versions map[string]string) error {
	text, err := licenseTexts.ReadFile(name)
	if err != nil {
		return err
	}
	title := strings.TrimSuffix(strings.TrimPrefix(name, "licenses/"), ".txt")
	if v := versions[title]; v != "" {
		title += " " + v
	}
	_, err = fmt.Fprintf(t.out, "%s\n%s\n\n%s", title, strings.Repeat("=", len(title)), text)
	return err
}
