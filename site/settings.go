package site

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"scripter/objectdb"
)

// A Setting is one row of the table of settings (specification, 2.2 and 7).
type Setting struct {
	Name    string // last part of the address, below user.webserver
	Default objectdb.Value
	Title   string // the name in the specification, or ours
	Meaning string
	// Refused is used instead of Default if the root has an invalid value; nil means
	// Default. It is for settings where a mistake must not give more access.
	Refused objectdb.Value
	// Check returns an error for an invalid value. The caller has checked the kind.
	Check func(objectdb.Value) error
}

// Address returns the address of the setting in the root.
func (s *Setting) Address() objectdb.Address {
	return objectdb.Address{"user", "webserver", s.Name}
}

// The settings. Treat them as constants.
var (
	FlScriptTrap = &Setting{Name: "flScriptTrap", Default: objectdb.Boolean(true), Title: "Use Script-Based Trap",
		Meaning: "requests go first to the script at system.verbs.traps.<serverId>.sdoc"}
	ServerPath = &Setting{Name: "serverPath", Default: objectdb.String(""), Title: "Set Path to Server",
		Meaning: "the web server's program, a file",
		Check:   exists(false, " is a folder; set the path of the program itself, not of its folder")}
	WebsiteFolderPath = &Setting{Name: "websiteFolderPath", Default: objectdb.String(""),
		Title:   "Set Website Folder Path",
		Meaning: "the web site's folder, for servers that do not tell DOCUMENT_ROOT",
		Check:   exists(true, " is a file; set the path of the web site's folder, not of the program")}
	ServerName = &Setting{Name: "serverName", Default: objectdb.String(""), Title: "Set Server Name",
		Meaning: `the name in the Server field; "" = what the web server calls itself in SERVER_SOFTWARE`,
		Check:   checkServerName}
	ChunkSize = &Setting{Name: "chunkSize", Default: objectdb.Number(24), Title: "Set Chunk Size",
		Meaning: "kilobytes that leave at once; 0 = a response is never cut into chunks", Check: whole(0, 1<<20)}
	FlDebug = &Setting{Name: "flDebug", Default: objectdb.Boolean(false), Title: "Debugging",
		Meaning: "the parameters of the last request are recorded at scratchpad.cgiparams, " +
			"and the last maxRequests beside them"}
	FlAutoSave = &Setting{Name: "flAutoSave", Default: objectdb.Boolean(false),
		Title:   "Auto-Save Frontier-style agent",
		Meaning: "a saved copy of the root is made every saveInterval"}
	FlUseDirtyRoot = &Setting{Name: "flUseDirtyRoot", Default: objectdb.Boolean(false), Title: "Use Dirty Root Flag",
		Meaning: "the auto-save agent saves only while flDirtyRoot is true"}
	SaveInterval = &Setting{Name: "saveInterval", Default: objectdb.Number(10), Title: "Set Save Interval",
		Meaning: "minutes between two saved copies", Check: whole(1, 60*24*365)}
	FlDirtyRoot = &Setting{Name: "flDirtyRoot", Default: objectdb.Boolean(false), Title: "Dirty root flag",
		Meaning: "set by webserver.setDirtyRoot (), cleared by a finished save"}
	MaxSaves = &Setting{Name: "maxSaves", Default: objectdb.Number(5), Title: "Most saved copies",
		Meaning: "saved copies that are kept; the oldest beyond it are removed", Check: whole(1, 10000)}
	ServerID = &Setting{Name: "serverId", Default: objectdb.String("httpd"), Title: "Server id",
		Meaning: "the table below system.verbs.traps whose sdoc script is the trap", Check: checkServerID}
	ErrorStatus = &Setting{Name: "errorStatus", Default: objectdb.Number(500), Title: "Error status",
		Meaning: "the status of a script error's page: 500, or 200 as it was in 1998", Check: checkErrorStatus}
	DebugToken = &Setting{Name: "debugToken", Default: objectdb.String(""), Title: "Debug token",
		Meaning: "a request with this text in its Scripter-Token field, or in a cookie \"scripterToken\", " +
			"sees errors in full; \"\" = none"}
	FlAddCharset = &Setting{Name: "flAddCharset", Default: objectdb.Boolean(true), Title: "Name the charset",
		Meaning: "texts that are UTF-8 and name no charset are sent with \"; charset=utf-8\", " +
			"unless their script has made the header"}
	FlPassAccel = &Setting{Name: "flPassAccel", Default: objectdb.Boolean(false), Title: "Pass X-Sendfile",
		Meaning: "X-Accel-* and X-Sendfile fields of a script are passed on: " +
			"the web server then sends whatever file they name"}
	MaxRequests = &Setting{Name: "maxRequests", Default: objectdb.Number(50), Title: "Most recorded requests",
		Meaning: "requests that Debugging records at scratchpad.cgiparamsLog; 0 = none", Check: whole(0, 1000)}
	DebugMinutes = &Setting{Name: "debugMinutes", Default: objectdb.Number(30), Title: "Debugging ends after",
		Meaning: "minutes after which flDebug switches itself off, counted from when it was set; 0 = never",
		Check:   between(0, 60*24*365)}
	FlDebugSecrets = &Setting{Name: "flDebugSecrets", Default: objectdb.Boolean(false),
		Title:   "Debugging records secrets",
		Meaning: "passwords, cookies and tokens of recorded requests are not masked"}
	FlRefuseConnections = &Setting{Name: "flRefuseConnections", Default: objectdb.Boolean(false),
		Title: "Refuse connections",
		Meaning: "maintenance: every request but the developer's is answered 503 " +
			"with user.webserver.prefs.maintenancePage"}
	RetryAfter = &Setting{Name: "retryAfter", Default: objectdb.Number(300), Title: "Retry after",
		Meaning: "seconds after which a refused visitor may come again", Check: whole(1, 1<<24)}
	SlowLog = &Setting{Name: "slowLog", Default: objectdb.Number(0), Title: "Slow log",
		Meaning: "milliseconds after which a request is logged as slow, " +
			"with the place in its scripts where it is; 0 = never",
		Check: between(0, 3600_000)}
	FlSuspendLogging = &Setting{Name: "flSuspendLogging", Default: objectdb.Boolean(false), Title: "Suspend logging",
		Meaning: "nothing is logged of requests, failures included"}
	CacheServers = &Setting{Name: "cacheServers", Default: objectdb.List{}, Title: "Cache servers",
		Meaning: "the Varnish servers to which webserver.flushCache sends PURGE, such as http://127.0.0.1:6082; " +
			"each must be listed in scripter.conf",
		Check: checkCacheServers}
	CacheFolders = &Setting{Name: "cacheFolders", Default: objectdb.List{}, Title: "Cache folders",
		Meaning: "the folders of nginx's or mod_cache's caches on this machine from which webserver.flushCache " +
			"removes the cache files; each must be listed in scripter.conf",
		Check: checkCacheFolders}
	ScriptFolders = &Setting{Name: "scriptFolders", Default: objectdb.String(allFolders), Title: "Script folders",
		Meaning: `the folders in which scripts have URLs, with blanks between them: "/" is the top folder only, ` +
			`"*" all folders, as in 1998`,
		Refused: objectdb.String("/"), Check: checkScriptFolders}
	AdminPath = &Setting{Name: "adminPath", Default: objectdb.String("/scripter/"), Title: "Web page path",
		Meaning: "the path of URLs below which the web page for people lies, once somebody has the role owner " +
			`(scripter users); "" = there is none`,
		Refused: objectdb.String(""), Check: checkAdminPath}
	FlVerboseMessages = &Setting{Name: "flVerboseMessages", Default: objectdb.Boolean(false),
		Title:   "Verbose messages",
		Meaning: "every request is logged, with its action, status and time"}
	SessionIdle = &Setting{Name: "sessionIdle", Default: objectdb.Number(720), Title: "Session ends after",
		Meaning: "minutes after which the session of a visitor ends that is not used", Check: between(1, 60*24*365)}
	SessionDays = &Setting{Name: "sessionDays", Default: objectdb.Number(14), Title: "Longest session",
		Meaning: "days after which the session of a visitor ends, however often it is used", Check: between(0.01, 3650)}
	MaxSessions = &Setting{Name: "maxSessions", Default: objectdb.Number(100000), Title: "Most sessions",
		Meaning: "sessions of visitors that are kept; beyond it, those that were used least recently end",
		Check:   whole(1, 1e7)}
	MaxSessionSize = &Setting{Name: "maxSessionSize", Default: objectdb.Number(64), Title: "Longest session data",
		Meaning: "kilobytes that one session of a visitor may hold", Check: whole(1, 1<<20)}
	RememberDays = &Setting{Name: "rememberDays", Default: objectdb.Number(30), Title: "Log-ins are remembered for",
		Meaning: "days for which users.logIn with remember = true remembers a log-in that is not used; " +
			"0 = none is remembered",
		Check: between(0, 3650)}
	LoginPage = &Setting{Name: "loginPage", Default: objectdb.String(""), Title: "Log-in page",
		Meaning: "the path of the page to which browsers are sent that must log in first, such as /login.fcgi; " +
			`"" = the browser asks for a name and a password itself`,
		Check: checkLoginPage}
	FlFormTokens = &Setting{Name: "flFormTokens", Default: objectdb.Boolean(true), Title: "Check form tokens",
		Meaning: "forms of visitors with a session are refused if they lack the field of form.token ()"}
	FlEscapeMarkers = &Setting{Name: "flEscapeMarkers", Default: objectdb.Boolean(false),
		Title:   "Escape all markers",
		Meaning: "what markers insert is text, not HTML, unless they say raw (x)"}
)

// Settings lists all settings. Those of section 2.2 of the specification come first,
// in its order. Treat it as a constant.
var Settings = []*Setting{
	FlScriptTrap, ServerPath, WebsiteFolderPath, ServerName, ChunkSize, FlDebug, FlAutoSave, FlUseDirtyRoot,
	SaveInterval, FlDirtyRoot, MaxSaves, ServerID, ErrorStatus, DebugToken, FlAddCharset, FlPassAccel,
	MaxBody, MaxFields, MaxFile, MaxResponse, MaxTime, MaxInstructions, MaxMemory, MaxString, MaxDepth,
	MaxPatternSteps, MaxCoroutines, MaxSource, MaxMacros, MaxFetches, MaxFetchSize, MaxFetchTime,
	MaxSQLRows, MaxSQLSize, MaxSQLTime,
	MaxRunning, MaxWaiting, CacheServers, CacheFolders,
	MaxRequests, DebugMinutes, FlDebugSecrets, FlRefuseConnections, RetryAfter, SlowLog, FlSuspendLogging,
	FlVerboseMessages, ScriptFolders, AdminPath, FlEscapeMarkers,
	SessionIdle, SessionDays, MaxSessions, MaxSessionSize, RememberDays, LoginPage, FlFormTokens,
	MaxOutbox, MaxMail, OutboxTries, OutboxDays, MaxScheduledTime, FlPauseOutbox, FlPauseSchedule,
	HistoryInterval, HistoryThinnedDays, HistoryDays, HistorySize, HistoryWhole,
}

// between returns a check that a number is at least low and at most high.
func between(low, high float64) func(objectdb.Value) error {
	return func(v objectdb.Value) error {
		if n := float64(v.(objectdb.Number)); !(n >= low && n <= high) || math.IsInf(n, 0) {
			return fmt.Errorf("%s is not between %s and %s", decimal(n), decimal(low), decimal(high))
		}
		return nil
	}
}

// whole returns a check that a number is an integer between low and high. Kilobytes
// and minutes are integers in section 2.2 of the specification.
func whole(low, high float64) func(objectdb.Value) error {
	inRange := between(low, high)
	return func(v objectdb.Value) error {
		if n := float64(v.(objectdb.Number)); n != math.Trunc(n) {
			return fmt.Errorf("%s is not a whole number", decimal(n))
		}
		return inRange(v)
	}
}

// decimal formats a number without an exponent.
func decimal(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// exists returns a check that a path is "", or leads to a folder, or, if folder is false, to
// a file. wrong is the error for a path of the other kind.
func exists(folder bool, wrong string) func(objectdb.Value) error {
	return func(v objectdb.Value) error {
		p := string(v.(objectdb.String))
		if p == "" {
			return nil
		}
		info, err := os.Stat(p)
		if err == nil && info.IsDir() != folder {
			err = errors.New(p + wrong)
		}
		return err
	}
}

func checkServerName(v objectdb.Value) error {
	for _, c := range []byte(v.(objectdb.String)) {
		if c < ' ' || c == 0x7f {
			return fmt.Errorf("a server name has no control characters")
		}
	}
	return nil
}

func checkServerID(v objectdb.Value) error { return objectdb.CheckName(string(v.(objectdb.String))) }

func checkErrorStatus(v objectdb.Value) error {
	if n := v.(objectdb.Number); n != 200 && n != 500 {
		return fmt.Errorf("%v is neither 500 nor 200", float64(n))
	}
	return nil
}

// NamesFile reports whether the value is the path of a file or a folder. Its Check accesses the
// file system, so it runs when the setting is set, not for each request.
func (s *Setting) NamesFile() bool { return s == ServerPath || s == WebsiteFolderPath }

// allFolders is the value of ScriptFolders that means all folders.
const allFolders = "*"

func checkScriptFolders(v objectdb.Value) error {
	folders := strings.Fields(string(v.(objectdb.String)))
	if len(folders) == 0 {
		return errors.New(`it names no folder: write "/" for the top folder alone or "*" for all`)
	}
	for _, f := range folders {
		if f != allFolders && (f[0] != '/' || CleanPath(f) != f) {
			return fmt.Errorf(`%.80q is no folder of URLs: "/", "/members", or "*" for all`, f)
		}
	}
	return nil
}

func checkAdminPath(v objectdb.Value) error {
	p := string(v.(objectdb.String))
	if p == "" {
		return nil
	}
	for i := 0; i < len(p); i++ {
		if !isAlphanumeric(p[i]) && !strings.ContainsRune("/._-", rune(p[i])) {
			return fmt.Errorf("%.80q has characters other than letters, digits, / . _ and -", p)
		}
	}
	switch {
	case len(p) < 3 || len(p) > 100 || p[0] != '/' || CleanPath(p)+"/" != p || strings.Contains(p, "/."):
		return fmt.Errorf(`%.80q is no folder of URLs: it begins and ends with "/", as /scripter/ does, `+
			"and has at most 100 characters", p)
	case hasPathPrefix(strings.ToLower(p), "/cgi-bin"):
		return errors.New("/cgi-bin/ is the folder of programs; name another one, such as /scripter/")
	}
	return nil
}

// IsLocalPath reports whether a text is a path of this site, perhaps with a query, for a link or a redirect: it
// cannot lead to another host.
func IsLocalPath(p string) bool {
	if p == "" || p[0] != '/' || len(p) > maxLocalPath || strings.HasPrefix(p, "//") {
		return false
	}
	for i := 0; i < len(p); i++ {
		if c := p[i]; c <= ' ' || c >= 0x7f || c == '\\' { // browsers take a backslash for a slash, and drop tabs and line ends
			return false
		}
	}
	return true
}

const maxLocalPath = 2000 // bytes

func checkLoginPage(v objectdb.Value) error {
	p := string(v.(objectdb.String))
	if p != "" && (!IsLocalPath(p) || strings.ContainsAny(p, "?#")) {
		return fmt.Errorf(`%.80q is no path of this site, such as /login.fcgi`, p)
	}
	return nil
}

func checkCacheServers(v objectdb.Value) error {
	return eachText(v, func(server string) error {
		_, err := cacheAddress(server)
		return err
	})
}

func checkCacheFolders(v objectdb.Value) error {
	return eachText(v, func(folder string) error {
		if clean := filepath.Clean(folder); !filepath.IsAbs(folder) || clean == filepath.Dir(clean) {
			return fmt.Errorf("%.100q is not the absolute path of a cache folder, such as /var/cache/nginx/scripter",
				folder)
		}
		return nil
	})
}

// eachText checks the elements of a list, which must be strings.
func eachText(v objectdb.Value, check func(string) error) error {
	for i, e := range v.(objectdb.List) {
		s, ok := e.(objectdb.String)
		if !ok {
			return fmt.Errorf("element %d is a %s, not a string", i+1, e.Kind())
		}
		if err := check(string(s)); err != nil {
			return err
		}
	}
	return nil
}

// Values returns all values that a setting may have, or nil if they are many.
func (s *Setting) Values() []objectdb.Value {
	switch {
	case s.Default.Kind() == objectdb.KindBoolean:
		return []objectdb.Value{objectdb.Boolean(true), objectdb.Boolean(false)}
	case s == ErrorStatus:
		return []objectdb.Value{objectdb.Number(500), objectdb.Number(200)}
	}
	return nil
}

// Unit returns the unit in which a number counts, or "". It is the first word of Meaning.
func (s *Setting) Unit() string {
	unit, _, _ := strings.Cut(s.Meaning, " ")
	switch unit {
	case "milliseconds", "seconds", "minutes", "days", "kilobytes", "megabytes", "millions":
		if s.Default.Kind() == objectdb.KindNumber {
			return unit
		}
	}
	return ""
}
