package objectfiles

import (
	"io/fs"
	"path"
	"strings"
)

// isHidden reports whether the name of a file or folder begins with a dot. Export does not
// change such files, import does not read them, and an archive has none.
func isHidden(name string) bool { return strings.HasPrefix(name, ".") }

// isReadme reports whether a file is the README.md of its folder. It is for people who look at
// a repository, and no object: a web site must not show it.
func isReadme(fileName string) bool { return strings.EqualFold(fileName, "README.md") }

// Ignored reports whether an import ignores a file or folder: hidden ones, README.md, and
// those that editors, version control systems or file managers make. An export makes none of
// these names: it escapes their bytes, and does not use these suffixes.
func Ignored(e fs.DirEntry) bool {
	name := e.Name()
	if isHidden(name) {
		return true
	}
	if e.IsDir() {
		return false
	}
	low := strings.ToLower(name)
	switch {
	case strings.HasSuffix(low, "~"), strings.HasPrefix(low, "#") && strings.HasSuffix(low, "#"),
		isReadme(name), low == "thumbs.db", low == "desktop.ini", low == "icon\r":
		return true
	}
	switch path.Ext(low) {
	case ".swp", ".swo", ".swn", ".orig", ".rej", ".bak", ".tmp":
		return true
	}
	return false
}

// isOwnFile reports whether a command of the program scripter has made an ignored file, so
// that nobody needs to hear of it.
func isOwnFile(name string) bool {
	switch name {
	case exportNoteFile, ".types", ".luarc.json":
		return true
	}
	return false
}
