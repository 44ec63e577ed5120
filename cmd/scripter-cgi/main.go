// Scripter-cgi answers one request as a CGI program.
//
// Install it in the web server's cgi-bin as Scripter.acgi, or write there a
// file of two lines, "#!/path/to/scripter-cgi" and "root: /path/to/scripter.root".
// If a resident scripter-fcgi serves the same root, the program hands the request over to
// it before Go begins: relay_linux.c. The manual is docs/web-servers.md.
//
// One request needs one processor: Go's runtime need not read the container's limits to
// learn how many there are.
//
//go:debug containermaxprocs=0
//go:debug updatemaxprocs=0
package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"scripter/admin"
	"scripter/autosave"
	"scripter/database"
	"scripter/database/sqlitedb"
	"scripter/gateway"
	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
	"scripter/rootname"
	"scripter/site"
)

func main() {
	// A client that closes the connection must not end the process in the middle of its
	// work: writes fail then, and the request is rolled back.
	signal.Ignore(syscall.SIGPIPE, syscall.SIGHUP)
	if root := os.Getenv(saveVariable); root != "" {
		os.Exit(saveAlone(root))
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	rest := io.Reader(os.Stdin)
	if bodyLate() {
		rest = lateReader{}
	}
	stdin := io.MultiReader(bytes.NewReader(bodyRead()), rest)
	code := run(ctx, startedFile(), os.Args, environment(), stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// environment returns the variables that the web server has set. os.Environ drops
// repeated ones, which the gateway must see.
func environment() []string {
	if strings.HasPrefix(os.Getenv("SERVER_SOFTWARE"), "lighttpd") {
		if text, err := os.ReadFile("/proc/self/environ"); err == nil {
			return strings.Split(string(text), "\x00")
		}
	}
	return os.Environ()
}

// lateReader is a body that did not arrive in time.
type lateReader struct{}

func (lateReader) Read([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }

// walBytes keeps the -wal file short: this program ends without closing the root, and
// the next one reads that file before it can answer.
const walBytes = 128 << 10

// run answers the request in env and stdin. started is the file that the system has
// started: this program, or a two-line file. args are not trusted, because a query may
// arrive in them.
func run(ctx context.Context, started string, args, env []string, stdin io.Reader, stdout, stderr io.Writer) int {
	log := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelWarn, ReplaceAttr: withoutTime}))
	requests := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{ReplaceAttr: withoutTime}))
	vars, _ := gateway.Variables(env)
	if err := rootname.HidePasswords(); err != nil {
		log.Error("no configuration", "err", err)
	}
	cgi := gateway.CGI{Environ: env, Stdin: stdin, Stdout: stdout}
	if len(args) > 0 {
		cgi.Program = args[0]
	}
	if says := byHand(args, vars); says != "" {
		io.WriteString(stdout, says)
		return 0
	}
	executable, err := os.Executable()
	if err != nil {
		executable = cgi.Program
	}
	script, _ := site.ScriptFile(started, executable)
	if script != "" {
		cgi.HandlerNames = append(cgi.HandlerNames, filepath.Base(script))
	}
	if rel := filepath.Base(executable); rel != "" {
		cgi.HandlerNames = append(cgi.HandlerNames, rel)
	}
	conf, err := site.FindConf(vars, script, beside(cgi.Program, executable))
	if err != nil {
		log.Error("no configuration", "err", err)
		return unavailable(ctx, cgi, log)
	}
	if conf.Passed != nil {
		log.Warn("configuration file skipped", "err", conf.Passed)
	}
	cgi.NPH = conf.NPH
	outcome, reason := relayed()
	switch outcome {
	case relayRefused:
		log.Warn("a resident server is not trusted, the request is answered without it", "root", conf.Root, "why", reason)
	case relayLost:
		log.Error("the resident server went away with the request", "root", conf.Root)
		return unavailable(ctx, cgi, log)
	}
	if rootname.IsURL(conf.Root) {
		return handOver(ctx, conf, cgi, script, executable, stderr, log)
	}
	db, err := sqlitestore.Open(conf.Root, objectdb.Options{
		Program: gateway.Program(), WALBytes: walBytes, History: site.History(),
	})
	if err != nil {
		log.Error("root not opened", "conf", conf.File, "err", err)
		return unavailable(ctx, cgi, log)
	}
	g := gateway.New(gateway.Options{
		DB: db, Log: log, Requests: requests, Reach: conf.Reach,
		Drivers: database.Drivers{SQLite: sqlitedb.Driver},
	})
	g.SetAdmin(admin.New(admin.Config{DB: db, Gateway: g, Log: log}))
	// The process ends without db.Close: what is committed is on the disk,
	// and the next opener goes on from there.
	out := g.ServeCGI(ctx, cgi)
	saver := autosave.New(autosave.Options{DB: db, Site: g.Site(), Log: log})
	if ctx.Err() == nil && saver.IsDue(ctx) {
		if err := saveLater(executable, conf.Root); err != nil {
			log.Warn("auto-save not started", "err", err)
		}
	}
	if outcome == relayNone && conf.Resident == "start" {
		if err := startResident(executable, conf); err != nil {
			log.Warn("resident server not started", "err", err)
		}
	}
	if out.Broken {
		return 1
	}
	return 0
}

// handOver answers a request for a root in PostgreSQL.
func handOver(
	ctx context.Context, conf site.Conf, cgi gateway.CGI, script, executable string, stderr io.Writer, log *slog.Logger,
) int {
	h, err := newHandover(conf, cgi, script, executable, stderr)
	if err == nil {
		var status int
		if status, err = h.run(ctx, log); err == nil {
			return status
		}
	}
	log.Error("no resident server answers from the root", "root", conf.Root, "err", err)
	return unavailable(ctx, cgi, log)
}

// byHand is what --version and --help print where a person has started the program:
// a web server always names the method, and what it gives as arguments is a query.
func byHand(args []string, vars map[string]string) string {
	if len(args) != 2 || vars["REQUEST_METHOD"] != "" || vars["GATEWAY_INTERFACE"] != "" {
		return ""
	}
	switch args[1] {
	case "--version":
		return gateway.Program() + "\n"
	case "--help", "-h":
		return "scripter-cgi answers one request as a CGI program: a web server starts it, and says all in variables.\n" +
			"\"scripter call /NAME.fcgi\" answers a request by hand.\n"
	}
	return ""
}

// unavailable answers while there is no root: the visitor gets a 503, the
// owner reads why in the web server's error log.
func unavailable(ctx context.Context, cgi gateway.CGI, log *slog.Logger) int {
	gateway.Unavailable(log).ServeCGI(ctx, cgi)
	return 1
}

// beside gives the executable whose folder may hold scripter.conf: the link
// in the cgi-bin folder, when the program was started by one.
func beside(program, executable string) string {
	if filepath.IsAbs(program) {
		if _, err := os.Stat(filepath.Join(filepath.Dir(program), "scripter.conf")); err == nil {
			return program
		}
	}
	return executable
}

// withoutTime leaves the time out: the web server's error log has its own.
func withoutTime(groups []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey && len(groups) == 0 {
		return slog.Attr{}
	}
	return a
}
