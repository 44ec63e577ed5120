package gateway

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"scripter/objectdb"
)

// Setting is one row of the settings (specification, 2.2 and 7): the command
// line, the manual and the gateway read them from [Settings].
type Setting struct {
	Name    string // last part of the address, below user.webserver
	Default objectdb.Value
	Title   string // the specification's name for it, or ours
	Meaning string
	// Refused counts instead of Default if the root has an invalid value; nil means
	// Default. It is for settings where a mistake must not give more access.
	Refused objectdb.Value
	// Check refuses a value with a reason; the kind has been checked.
	Check func(objectdb.Value) error

	index int // in Settings
}

// Address is where the setting lies in the root.
func (s *Setting) Address() objectdb.Address {
	return objectdb.Address{"user", "webserver", s.Name}
}

// The settings.
var (
	flScriptTrap = &Setting{Name: "flScriptTrap", Default: objectdb.Boolean(true), Title: "Use Script-Based Trap",
		Meaning: "requests go first to the script at system.verbs.traps.<serverId>.sdoc"}
	serverPath = &Setting{Name: "serverPath", Default: objectdb.String(""), Title: "Set Path to Server",
		Meaning: "the web server's program, a file", Check: checkServerPath}
	websiteFolderPath = &Setting{Name: "websiteFolderPath", Default: objectdb.String(""), Title: "Set Website Folder Path",
		Meaning: "the web site's folder, for servers that do not tell DOCUMENT_ROOT", Check: checkWebsiteFolderPath}
	serverName = &Setting{Name: "serverName", Default: objectdb.String(""), Title: "Set Server Name",
		Meaning: `the name in the Server field; "" = what the web server calls itself in SERVER_SOFTWARE`, Check: checkServerName}
	chunkSize = &Setting{Name: "chunkSize", Default: objectdb.Number(24), Title: "Set Chunk Size",
		Meaning: "kilobytes that leave at once; 0 = a response is never cut into chunks", Check: whole(0, 1<<20)}
	flDebug = &Setting{Name: "flDebug", Default: objectdb.Boolean(false), Title: "Debugging",
		Meaning: "the parameters of the last request are kept at scratchpad.cgiparams, and the last maxRequests beside them"}
	flAutoSave = &Setting{Name: "flAutoSave", Default: objectdb.Boolean(false), Title: "Auto-Save Frontier-style agent",
		Meaning: "a saved copy of the root is made every saveInterval"}
	flUseDirtyRoot = &Setting{Name: "flUseDirtyRoot", Default: objectdb.Boolean(false), Title: "Use Dirty Root Flag",
		Meaning: "the auto-save agent saves only while flDirtyRoot is true"}
	saveInterval = &Setting{Name: "saveInterval", Default: objectdb.Number(10), Title: "Set Save Interval",
		Meaning: "minutes between two saved copies", Check: whole(1, 60*24*365)}
	flDirtyRoot = &Setting{Name: "flDirtyRoot", Default: objectdb.Boolean(false), Title: "Dirty root flag",
		Meaning: "set by webserver.setDirtyRoot (), cleared by a finished save"}
	maxSaves = &Setting{Name: "maxSaves", Default: objectdb.Number(5), Title: "Most saved copies",
		Meaning: "saved copies that are kept; the oldest beyond it are removed", Check: whole(1, 10000)}
	serverID = &Setting{Name: "serverId", Default: objectdb.String("httpd"), Title: "Server id",
		Meaning: "the table below system.verbs.traps whose sdoc script is the trap", Check: checkServerID}
	errorStatus = &Setting{Name: "errorStatus", Default: objectdb.Number(500), Title: "Error status",
		Meaning: "the status of a script error's page: 500, or 200 as it was in 1998", Check: checkErrorStatus}
	debugToken = &Setting{Name: "debugToken", Default: objectdb.String(""), Title: "Debug token",
		Meaning: `a request with this text in its Scripter-Token field, or in a cookie "scripterToken", sees errors in full; "" = none`}
	flAddCharset = &Setting{Name: "flAddCharset", Default: objectdb.Boolean(true), Title: "Name the charset",
		Meaning: "texts that are UTF-8 and name no charset are sent with \"; charset=utf-8\", " +
			"unless their script has made the header"}
	flPassAccel = &Setting{Name: "flPassAccel", Default: objectdb.Boolean(false), Title: "Pass X-Sendfile",
		Meaning: "X-Accel-* and X-Sendfile fields of a script are passed on: the web server then sends whatever file they name"}
	maxBody = &Setting{Name: "maxBody", Default: objectdb.Number(16), Title: "Largest body",
		Meaning: "megabytes of a request's body; more is answered 413", Check: between(0, 1<<12)}
	maxFields = &Setting{Name: "maxFields", Default: objectdb.Number(1000), Title: "Most form fields",
		Meaning: "fields and parts of a form; more is answered 413", Check: whole(1, 1<<20)}
	maxResponse = &Setting{Name: "maxResponse", Default: objectdb.Number(64), Title: "Largest response",
		Meaning: "megabytes of a response that is held until the commit; sendPartial is not bound by it", Check: between(1, 1<<12)}
	maxTime = &Setting{Name: "maxTime", Default: objectdb.Number(10), Title: "Longest run",
		Meaning: "seconds that all scripts of one request may take together", Check: between(0.01, 3600)}
	maxInstructions = &Setting{Name: "maxInstructions", Default: objectdb.Number(1000), Title: "Most instructions",
		Meaning: "millions of Lua instructions that all scripts of one request may take together", Check: between(0.001, 1<<20)}
	maxMemory = &Setting{Name: "maxMemory", Default: objectdb.Number(64), Title: "Most memory",
		Meaning: "megabytes that the scripts of one request may hold", Check: between(1, 1<<14)}
	maxString = &Setting{Name: "maxString", Default: objectdb.Number(16), Title: "Longest string",
		Meaning: "megabytes of the longest string that a script can make", Check: between(0.001, 1<<9)}
	maxDepth = &Setting{Name: "maxDepth", Default: objectdb.Number(10000), Title: "Deepest calls",
		Meaning: "calls of Lua functions within one another", Check: whole(10, 1<<20)}
	maxPatternSteps = &Setting{Name: "maxPatternSteps", Default: objectdb.Number(20), Title: "Most pattern steps",
		Meaning: "millions of steps that one search for a pattern may take", Check: between(0.001, 1<<14)}
	maxCoroutines = &Setting{Name: "maxCoroutines", Default: objectdb.Number(1000), Title: "Most coroutines",
		Meaning: "coroutines that the scripts of one request may have at a time; one that has ended does not count", Check: whole(1, 1<<20)}
	maxSource = &Setting{Name: "maxSource", Default: objectdb.Number(256), Title: "Longest source",
		Meaning: "kilobytes of the source of one script, or of a text for load", Check: between(1, 1<<10)}
	maxMacros = &Setting{Name: "maxMacros", Default: objectdb.Number(10000), Title: "Most markers",
		Meaning: "markers that one request may expand", Check: whole(1, 1<<24)}
	maxRunning = &Setting{Name: "maxRunning", Default: objectdb.Number(0), Title: "Most requests at once",
		Meaning: "requests that run at one time, others wait for their turn; 0 = what the program finds right", Check: whole(0, 1<<16)}
	maxWaiting = &Setting{Name: "maxWaiting", Default: objectdb.Number(256), Title: "Most requests waiting",
		Meaning: "requests that wait for their turn, at most maxTime seconds; more are answered 503", Check: whole(0, 1<<20)}
	maxRequests = &Setting{Name: "maxRequests", Default: objectdb.Number(50), Title: "Most kept requests",
		Meaning: "requests that Debugging keeps at scratchpad.cgiparamsLog; 0 = none", Check: whole(0, 1000)}
	debugMinutes = &Setting{Name: "debugMinutes", Default: objectdb.Number(30), Title: "Debugging ends after",
		Meaning: "minutes after which flDebug switches itself off, counted from when it was set; 0 = never", Check: between(0, 60*24*365)}
	flDebugSecrets = &Setting{Name: "flDebugSecrets", Default: objectdb.Boolean(false), Title: "Debugging keeps secrets",
		Meaning: "passwords, cookies and tokens of kept requests are not masked"}
	flRefuseConnections = &Setting{Name: "flRefuseConnections", Default: objectdb.Boolean(false), Title: "Refuse connections",
		Meaning: "maintenance: every request but the developer's is answered 503 with user.webserver.prefs.maintenancePage"}
	retryAfter = &Setting{Name: "retryAfter", Default: objectdb.Number(300), Title: "Retry after",
		Meaning: "seconds after which a refused visitor may come again", Check: whole(1, 1<<24)}
	slowLog = &Setting{Name: "slowLog", Default: objectdb.Number(0), Title: "Slow log",
		Meaning: "milliseconds after which a request is logged as slow, with the place in its scripts where it is; 0 = never", Check: between(0, 3600_000)}
	flSuspendLogging = &Setting{Name: "flSuspendLogging", Default: objectdb.Boolean(false), Title: "Suspend logging",
		Meaning: "nothing is logged of requests, failures included"}
	scriptFolders = &Setting{Name: "scriptFolders", Default: objectdb.String(allFolders), Title: "Script folders",
		Meaning: `the folders in which scripts have URLs, with blanks between them: "/" is the top folder only, ` +
			`"*" all folders, as in 1998`,
		Refused: objectdb.String("/"), Check: checkScriptFolders}
	flVerboseMessages = &Setting{Name: "flVerboseMessages", Default: objectdb.Boolean(false), Title: "Verbose messages",
		Meaning: "every request is logged, with its action, status and time"}
)

// Settings lists all settings, in the order of the specification's 2.2 and
// then ours. Other packages read it, nobody writes it.
var Settings = []*Setting{
	flScriptTrap, serverPath, websiteFolderPath, serverName, chunkSize, flDebug, flAutoSave, flUseDirtyRoot, saveInterval,
	flDirtyRoot, maxSaves, serverID, errorStatus, debugToken, flAddCharset, flPassAccel, maxBody, maxFields, maxResponse, maxTime,
	maxInstructions, maxMemory, maxString, maxDepth, maxPatternSteps, maxCoroutines, maxSource, maxMacros, maxRunning, maxWaiting, cacheServers, cacheFolders,
	maxRequests, debugMinutes, flDebugSecrets,
	flRefuseConnections, retryAfter, slowLog, flSuspendLogging, flVerboseMessages, scriptFolders,
}

func init() {
	for i, s := range Settings {
		s.index = i
	}
}

// between makes a check for a number's range.
func between(low, high float64) func(objectdb.Value) error {
	return func(v objectdb.Value) error {
		if n := float64(v.(objectdb.Number)); !(n >= low && n <= high) || math.IsInf(n, 0) {
			return fmt.Errorf("%s is not between %s and %s", decimal(n), decimal(low), decimal(high))
		}
		return nil
	}
}

// whole is between for what is counted: kilobytes and minutes are integers in the
// specification, 2.2.
func whole(low, high float64) func(objectdb.Value) error {
	inRange := between(low, high)
	return func(v objectdb.Value) error {
		if n := float64(v.(objectdb.Number)); n != math.Trunc(n) {
			return fmt.Errorf("%s is not a whole number", decimal(n))
		}
		return inRange(v)
	}
}

// decimal writes a number as people do, without an exponent.
func decimal(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

func checkServerPath(v objectdb.Value) error {
	p := string(v.(objectdb.String))
	if p == "" {
		return nil
	}
	info, err := os.Stat(p)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s is a folder; set the path of the program itself, not of its folder", p)
	}
	return nil
}

func checkWebsiteFolderPath(v objectdb.Value) error {
	p := string(v.(objectdb.String))
	if p == "" {
		return nil
	}
	info, err := os.Stat(p)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is a file; set the path of the web site's folder, not of the program", p)
	}
	return nil
}

func checkServerName(v objectdb.Value) error {
	for _, c := range []byte(v.(objectdb.String)) {
		if c < ' ' || c == 0x7f {
			return fmt.Errorf("a server name has no control characters")
		}
	}
	return nil
}

func checkServerID(v objectdb.Value) error {
	return objectdb.CheckName(string(v.(objectdb.String)))
}

func checkErrorStatus(v objectdb.Value) error {
	if n := v.(objectdb.Number); n != 200 && n != 500 {
		return fmt.Errorf("%v is neither 500 nor 200", float64(n))
	}
	return nil
}

// settings reads settings within one transaction. A setting that is missing,
// of another kind or out of range has its default: a slip of its owner must
// not take the site down.
type settings struct {
	tx      *objectdb.Tx
	home    *objectdb.Node // user.webserver; nil when it was not looked for
	rules   *rules         // what is known already; nil: nothing
	trouble *error         // gets what is more than a missing object, unless nil
}

func readSettings(tx *objectdb.Tx) settings {
	s := settings{tx: tx}
	s.home = s.findHome()
	return s
}

func (s settings) findHome() *objectdb.Node {
	if s.home != nil {
		return s.home
	}
	home, err := s.tx.Find(objectdb.Address{"user", "webserver"})
	if err != nil {
		s.note(err)
		return nil
	}
	return home
}

// node finds an object below user.webserver; nil when there is none.
func (s settings) node(names ...string) *objectdb.Node {
	n := s.findHome()
	for _, name := range names {
		if n == nil {
			return nil
		}
		c, err := s.tx.Child(n, name)
		if err != nil {
			s.note(err)
			return nil
		}
		n = c
	}
	return n
}

// table is node, nil when it is no table.
func (s settings) table(names ...string) *objectdb.Node {
	if n := s.node(names...); n != nil && n.Kind() == objectdb.KindTable {
		return n
	}
	return nil
}

// text gives the text of a string or text object, "" for anything else.
func (s settings) text(n *objectdb.Node) string {
	v, err := s.tx.Value(n)
	if err != nil {
		s.note(err)
		return ""
	}
	switch v := v.(type) {
	case objectdb.String:
		return string(v)
	case objectdb.Text:
		return string(v)
	}
	return ""
}

func (s settings) textAt(table *objectdb.Node, name string) string {
	n, err := s.tx.Child(table, name)
	if err != nil {
		s.note(err)
		return ""
	}
	return s.text(n)
}

// errNotSet is why a setting has its default: the root has none.
var errNotSet = errors.New("it is not set")

// read gives what the root has for a setting, or why its default counts.
func (s settings) read(set *Setting) (objectdb.Value, error) {
	n := s.node(set.Name)
	if n == nil {
		return nil, errNotSet
	}
	return s.checked(n, set)
}

// checked gives the value of an object that stands for a setting.
func (s settings) checked(n *objectdb.Node, set *Setting) (objectdb.Value, error) {
	if n.Kind() == objectdb.KindTable {
		return nil, errors.New("it is a table")
	}
	v, err := s.tx.Value(n)
	if err != nil {
		s.note(err)
		return nil, err
	}
	if t, ok := v.(objectdb.Text); ok {
		v = objectdb.String(t)
	}
	if v.Kind() != set.Default.Kind() {
		return nil, fmt.Errorf("it is a %s, not a %s", v.Kind(), set.Default.Kind())
	}
	if set.Check != nil && set.needsCheck() {
		if err := set.Check(v); err != nil {
			return nil, err
		}
	}
	return v, nil
}

func (s settings) value(set *Setting) objectdb.Value {
	if r := s.known(); r != nil {
		return r.values[set.index]
	}
	v, err := s.read(set)
	switch {
	case err == nil:
		return v
	case set.Refused != nil && !errors.Is(err, errNotSet):
		return set.Refused
	}
	return set.Default
}

// needsCheck is false for checks that look at the file system: those are
// made when a setting is set, not at each request.
func (s *Setting) needsCheck() bool { return !strings.HasSuffix(s.Name, "Path") }

func (s settings) flag(set *Setting) bool      { return bool(s.value(set).(objectdb.Boolean)) }
func (s settings) number(set *Setting) float64 { return float64(s.value(set).(objectdb.Number)) }
func (s settings) string(set *Setting) string  { return string(s.value(set).(objectdb.String)) }
