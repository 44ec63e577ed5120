package foldersync

import (
	"strings"
)

// ignoreFile is the name of a file at the top of the folder. It lists what is not synced, in the
// syntax of gitignore(5).
const ignoreFile = ".scripterignore"

// builtinIgnored lists what is not synced, unless the ignore file has it as "!PATTERN": data of
// requests, tokens, password hashes, and who may log in. These patterns apply to the whole root.
const builtinIgnored = `
/scratchpad/
/system/temp/
/user/webserver/users/
/user/webserver/roles/
/user/webserver/sessions/
/user/webserver/failedLogins/
/user/webserver/lastLogins/
/user/webserver/siteRoles/
/user/webserver/visitors/
/user/webserver/remembered/
*[tT]oken.str
`

// ignoreRules say which files and folders are not synced, and which objects of the root.
type ignoreRules struct {
	above    string // the folder of the synced table in an export of the whole root
	builtin  []ignorePattern
	patterns []ignorePattern
}

func newIgnoreRules(above, text string) *ignoreRules {
	return &ignoreRules{above: above, builtin: parseIgnore(builtinIgnored), patterns: parseIgnore(text)}
}

// decision is what rules say of a path.
type decision int

const (
	notMentioned decision = iota
	ignored
	included // by a pattern with "!"
)

// decide returns what the rules say of a file or folder whose folder is not ignored.
func (r *ignoreRules) decide(path string, folder bool) decision {
	if d := match(r.patterns, path, folder); d != notMentioned {
		return d
	}
	if r.above != "" {
		path = r.above + "/" + path
	}
	return match(r.builtin, path, folder)
}

func (r *ignoreRules) ignores(path string, folder bool) bool {
	return r.decide(path, folder) == ignored
}

// match returns what the last matching pattern says.
func match(patterns []ignorePattern, path string, folder bool) decision {
	for i := len(patterns) - 1; i >= 0; i-- {
		if p := patterns[i]; p.matches(path, folder) {
			if p.include {
				return included
			}
			return ignored
		}
	}
	return notMentioned
}

// ignorePattern is one line of an ignore file.
type ignorePattern struct {
	glob     string
	include  bool // the line begins with "!"
	folder   bool // it ends with "/": only folders match
	anywhere bool // it has no other "/", so it matches the last part of a path
}

func parseIgnore(text string) []ignorePattern {
	var list []ignorePattern
	for line := range strings.SplitSeq(text, "\n") {
		line = trimSpaces(strings.TrimSuffix(line, "\r"))
		if line == "" || line[0] == '#' {
			continue
		}
		var p ignorePattern
		if line[0] == '!' {
			p.include, line = true, line[1:]
		}
		if rest, ok := strings.CutSuffix(line, "/"); ok {
			p.folder, line = true, rest
		}
		rest, anchored := strings.CutPrefix(line, "/")
		p.glob = rest
		p.anywhere = !anchored && !strings.Contains(rest, "/")
		if p.glob != "" {
			list = append(list, p)
		}
	}
	return list
}

// trimSpaces removes the spaces at the end of a line, except one after a backslash.
func trimSpaces(line string) string {
	for strings.HasSuffix(line, " ") {
		before := strings.TrimRight(line[:len(line)-1], `\`)
		if (len(line)-1-len(before))%2 == 1 {
			return line
		}
		line = line[:len(line)-1]
	}
	return line
}

func (p ignorePattern) matches(path string, folder bool) bool {
	if p.folder && !folder {
		return false
	}
	if p.anywhere {
		path = path[strings.LastIndexByte(path, '/')+1:]
	}
	return glob(p.glob, path)
}

// glob reports whether a pattern of gitignore(5) matches a path: "*" and "?" match no "/", and
// "**" between two "/", or at an end, matches any number of folders.
func glob(pattern, path string) bool { return globRest(pattern, path, true) }

// globRest is glob for the rest of a pattern; begins says that it is the beginning of a name.
func globRest(pattern, path string, begins bool) bool {
	for pattern != "" {
		switch {
		case begins && strings.HasPrefix(pattern, "**/"):
			for rest := pattern[3:]; ; {
				if globRest(rest, path, true) {
					return true
				}
				i := strings.IndexByte(path, '/')
				if i < 0 {
					return false
				}
				path = path[i+1:]
			}
		case begins && pattern == "**":
			return path != ""
		case pattern[0] == '*':
			rest := strings.TrimLeft(pattern, "*")
			for i := 0; ; i++ {
				if globRest(rest, path[i:], false) {
					return true
				}
				if i == len(path) || path[i] == '/' {
					return false
				}
			}
		}
		if path == "" {
			return false
		}
		ok, n := globByte(pattern, path[0])
		if !ok {
			return false
		}
		begins = path[0] == '/'
		pattern, path = pattern[n:], path[1:]
	}
	return path == ""
}

// globByte reports whether the first part of a pattern, which is n bytes long, matches a byte.
func globByte(pattern string, c byte) (ok bool, n int) {
	switch pattern[0] {
	case '?':
		return c != '/', 1
	case '\\':
		return len(pattern) > 1 && pattern[1] == c, 2
	case '[':
		return globClass(pattern, c)
	}
	return pattern[0] == c, 1
}

// globClass is globByte for a class such as [a-z] or [!0-9].
func globClass(pattern string, c byte) (ok bool, n int) {
	i := 1
	negated := i < len(pattern) && (pattern[i] == '!' || pattern[i] == '^')
	if negated {
		i++
	}
	found := false
	for first := true; ; first = false {
		if i >= len(pattern) {
			return false, len(pattern)
		}
		if pattern[i] == ']' && !first {
			return found != negated && c != '/', i + 1
		}
		if name, after, closed := strings.Cut(pattern[i:], ":]"); closed && strings.HasPrefix(name, "[:") {
			found = found || inClass(name[2:], c)
			i = len(pattern) - len(after)
			continue
		}
		lo := pattern[i]
		if lo == '\\' && i+1 < len(pattern) {
			i++
			lo = pattern[i]
		}
		hi := lo
		i++
		if i+1 < len(pattern) && pattern[i] == '-' && pattern[i+1] != ']' {
			hi = pattern[i+1]
			i += 2
			if hi == '\\' && i < len(pattern) {
				hi = pattern[i]
				i++
			}
		}
		found = found || lo <= c && c <= hi
	}
}

// inClass reports whether a byte belongs to a class of POSIX.
func inClass(name string, c byte) bool {
	lower, upper, digit := 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9'
	graph := c > ' ' && c < 0x7f
	switch name {
	case "alnum":
		return lower || upper || digit
	case "alpha":
		return lower || upper
	case "blank":
		return c == ' ' || c == '\t'
	case "cntrl":
		return c < ' ' || c == 0x7f
	case "digit":
		return digit
	case "graph":
		return graph
	case "lower":
		return lower
	case "print":
		return graph || c == ' '
	case "punct":
		return graph && !lower && !upper && !digit
	case "space":
		return c == ' ' || '\t' <= c && c <= '\r'
	case "upper":
		return upper
	case "xdigit":
		return digit || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
	}
	return false
}
