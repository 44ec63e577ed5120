package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"scripter/admin"
	"scripter/autosave"
	"scripter/devserver"
	"scripter/foldersync"
	"scripter/gateway"
	"scripter/metrics"
	"scripter/objectdb"
	"scripter/objectdb/roots"
	"scripter/rootname"
)

func (t *tool) serveCommand() *cobra.Command {
	var addr, site, scripts, errorsIn string
	var hosts []string
	var quiet bool
	c := &cobra.Command{
		Annotations: map[string]string{makesRoot: "yes"},

		Use:   "serve",
		Short: "serve the root and a folder of pages over HTTP",
		Long: `Serve answers HTTP requests from the root and a folder of pages, without another
web server. What is missing of the two is made: the root with the supplied
objects, the folder with a small sample site. It is for work at the desk and
for trying things out: no TLS, one response for each connection.

The Host field of a request must name localhost, serve's own address, or a name of
--host; other requests are answered 421. Hidden files, scripter.conf, and a root
with the files that belong to it are not sent, wherever the site lies.

On a terminal, serve shows errors and failing markers in the page, for requests
that come directly from this machine. --errors page does so without a terminal;
with --errors log the page has only an incident number, as behind a web server, and
the error is in the log.`,
		Args: args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			show, err := t.showsErrors(errorsIn)
			if err != nil {
				return err
			}
			return t.serve(c.Context(), addr, site, scripts, hosts, quiet, show)
		},
	}
	c.Flags().StringVar(&addr, "addr", "127.0.0.1:8080", "address to listen on; port 0 picks a free one")
	c.Flags().StringArrayVar(&hosts, "host", nil,
		"`NAME` that the Host field may have, beside localhost and the address; may be repeated")
	c.Flags().StringVar(&site, "site", "www", "folder of the pages")
	c.Flags().StringVar(&scripts, "scripts", "",
		"keep the files in the folder `DIR` and the root the same, as sync --watch does")
	t.flag(c, "scripts", folders)
	c.Flags().StringVar(&errorsIn, "errors", "", "where errors are shown: page or log; page on a terminal")
	t.flag(c, "addr", nothing)
	t.flag(c, "host", nothing)
	t.flag(c, "site", folders)
	t.flag(c, "errors", words("page", "log"))
	c.Flags().BoolVarP(&quiet, "quiet", "q", false, "log failures only")
	return c
}

// showsErrors reports whether errors are shown in the page; where is the value of --errors.
func (t *tool) showsErrors(where string) (bool, error) {
	switch where {
	case "":
		return isTerminal(t.screen), nil
	case "page", "log":
		return where == "page", nil
	}
	return false, usageError{fmt.Errorf("--errors is page or log, not %q", where)}
}

func (t *tool) serve(ctx context.Context, addr, site, scripts string, hosts []string, quiet, showErrors bool) error {
	if info, err := os.Stat(site); err == nil && !info.IsDir() {
		return usageError{fmt.Errorf("%s is a file; --site names the folder of the pages", site)}
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return hintError{err, "--addr 127.0.0.1:0 picks a free port"}
	}
	defer l.Close()
	if err := t.makeMissing(ctx, site); err != nil {
		return err
	}
	db, err := t.open(forRequests)
	if err != nil {
		return err
	}
	defer db.Close()
	folder, err := filepath.Abs(site)
	if err != nil {
		return err
	}
	if folder, err = filepath.EvalSymlinks(folder); err != nil {
		return err
	}
	level := slog.LevelInfo
	if quiet {
		level = slog.LevelWarn
	}
	log := t.log(level)
	g, err := t.gateway(db, log)
	if err != nil {
		return err
	}
	people := admin.New(admin.Config{DB: db, Gateway: g, Log: log, Local: true})
	g.SetAdmin(people)
	pages := &devserver.Server{Gateway: g, Folder: folder, Software: "Scripter/" + version,
		Hosts: append(hosts, addr), ShowErrors: showErrors, Log: log}
	s := &http.Server{
		Handler:           pages,
		ReadHeaderTimeout: 15 * time.Second,
		ReadTimeout:       time.Minute,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	defer autosave.New(autosave.Options{DB: db, Site: g.Site(), Log: log}).Start()()
	agent, err := t.agent(g, log)
	if err != nil {
		return err
	}
	defer agent.Start()()
	defer recordHour(ctx, db, g, log)()
	link, err := people.Link(ctx, userName(os.Geteuid()))
	if err != nil {
		return err
	}
	t.welcome(l.Addr().String(), site, link, showErrors)
	if scripts != "" {
		stop, err := t.syncScripts(ctx, scripts)
		if err != nil {
			return err
		}
		defer stop()
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err = s.Shutdown(end)
	pages.Wait(end)
	return err
}

// recordHour records the last hour for the web page until the returned function is called.
func recordHour(ctx context.Context, db *objectdb.DB, g *gateway.Gateway, log *slog.Logger) (stop func()) {
	path, err := rootname.MakeLocalPath(db.Path())
	if err != nil {
		log.Warn("the web page shows no minutes", "err", err)
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	sum := metrics.Counts{}
	h := metrics.HourRecorder{Root: func() string { return path }, Read: func() metrics.Reading {
		sum.Add(g.TakeCounts())
		load := g.Load()
		return metrics.Reading{Counts: sum.Copy(), Running: load.Running, Waiting: load.Waiting}
	}}
	ended := make(chan bool)
	go func() {
		defer close(ended)
		h.Run(ctx, func(err error) { log.Warn("the web page shows no minutes", "err", err) })
	}()
	return func() {
		cancel()
		<-ended
	}
}

// syncScripts keeps a folder the same as the root until the returned function is called.
func (t *tool) syncScripts(ctx context.Context, dir string) (stop func(), err error) {
	db, err := t.open(forWork) // requests may hold the lock for a short time only
	if err != nil {
		return nil, err
	}
	f, err := t.openFolder(db, foldersync.Options{Dir: dir})
	if err != nil {
		db.Close()
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan bool)
	go func() {
		defer close(ended)
		if err := t.watchFolder(ctx, f, foldersync.Round{}); err != nil {
			t.warn("%v; the server goes on without --scripts", err)
		}
	}()
	return func() {
		cancel()
		<-ended
		f.Close()
		db.Close()
	}, nil
}

// makeMissing makes the root and the site where there are none.
func (t *tool) makeMissing(ctx context.Context, site string) error {
	exists, err := roots.Exists(t.rootName())
	if err != nil {
		return err
	}
	if !exists {
		if err := t.makeRoot(ctx); err != nil {
			return err
		}
		fmt.Fprintf(t.out, "made %s with the supplied objects\n", t.rootName())
	}
	if _, err := os.Stat(site); errors.Is(err, fs.ErrNotExist) {
		return t.makeSample(ctx, site)
	}
	return nil
}

// welcome prints what can be done now. link is the path that logs in on the web page, or "".
func (t *tool) welcome(addr, site, link string, showErrors bool) {
	program := typed(os.Args[0])
	if t.root != "" {
		program += " --root " + shellWord(t.root)
	}
	if link != "" {
		link = fmt.Sprintf("\nThe web page, to see and edit everything (this link works once, for 10 minutes):\n"+
			"  http://%s%s\n", addr, link)
	}
	fmt.Fprintf(t.out, `serving %s and %s at http://%s/
%s
Try next:
  curl http://%s/samples.tellTime.fcgi
  %s put suites.webserverScripts.hello --kind script 'return "Hello, world.\n"'
  curl http://%s/hello.fcgi
  edit %s, reload the page
%s
Stop with Ctrl-C.
`, t.rootName(), site, addr, link, addr, program, addr, filepath.Join(site, "default.mcro"), whereErrors(showErrors))
}

func whereErrors(inPage bool) string {
	if inPage {
		return "Errors are shown in the page; --errors log shows it as visitors see it."
	}
	return "Errors are in the log; --errors page shows them in the page."
}

// typed returns the command that starts this program again from the same folder. "go run"
// starts it in a folder of its own, go-build, which is gone afterwards.
func typed(program string) string {
	if strings.Contains(filepath.ToSlash(program), "/go-build") {
		return "go run ./cmd/scripter"
	}
	return program
}
