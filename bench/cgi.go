package main

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// cgiSource and goCGI are the smallest CGI programs in C and in Go. They show what each
// language costs at least.
//
//go:embed peers/cgi.c
var cgiSource string

//go:embed peers/gocgi/main.go
var goCGI string

// cgiProgram is one program that answers one request and ends.
type cgiProgram struct {
	name string
	args []string
	env  []string
	form string
	want string // part of the answer
}

// measureCGI times programs from exec to exit, one after the other, in turns.
func (s *stage) measureCGI(ctx context.Context) error {
	programs, err := s.cgiPrograms(ctx)
	if err != nil {
		return err
	}
	times := map[string][]time.Duration{}
	for range s.o.rounds {
		for _, p := range programs {
			for range s.o.cgiRuns {
				d, err := p.run(ctx)
				if err != nil {
					return err
				}
				times[p.name] = append(times[p.name], d)
			}
		}
	}
	fmt.Println("CGI: one process for each request, from exec to exit")
	for _, d := range times {
		slices.Sort(d)
	}
	floor := times["static Go"]
	for _, p := range programs {
		d := times[p.name]
		fmt.Printf("  %-26s min %6.2f ms  median %6.2f ms   / static Go %5.2f\n",
			p.name, ms(d[0]), ms(d[len(d)/2]), ms(d[len(d)/2])/ms(floor[len(floor)/2]))
	}
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func (p cgiProgram) run(ctx context.Context) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, p.args[0], p.args[1:]...)
	cmd.Env = p.env
	cmd.Stdin = strings.NewReader(p.form)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	start := time.Now()
	err := cmd.Run()
	d := time.Since(start)
	if err != nil || !strings.Contains(out.String(), p.want) {
		return d, fmt.Errorf("%s: %v: %.300s%.300s", p.name, err, out.String(), errs.String())
	}
	return d, nil
}

// cgiPrograms builds and lists the programs.
func (s *stage) cgiPrograms(ctx context.Context) ([]cgiProgram, error) {
	for name, text := range map[string]string{
		"cgi.c": cgiSource, "gocgi/main.go": goCGI, "gocgi/go.mod": "module gocgi\n\ngo 1.26.0\n",
		"hello.lua": "#!/usr/bin/lua5.1\nio.write(\"Content-Type: text/html\\r\\n\\r\\n\", " + luaString(hello) + ")\n",
		// Haserl refuses a page without a script.
		"hello.haserl": "#!/usr/bin/haserl\nContent-Type: text/html\n\n" + hello + "<% : %>\n"} {
		if err := s.write(name, text); err != nil {
			return nil, err
		}
	}
	for _, args := range [][]string{
		{"gcc", "-O2", "-static", "-o", s.path("cgi-c"), s.path("cgi.c")},
		{"go", "build", "-C", s.path("gocgi"), "-ldflags=-s -w", "-o", s.path("cgi-go"), "."},
	} {
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w: %s", args[0], err, out)
		}
	}
	if err := os.Chmod(s.path("hello.haserl"), 0o755); err != nil {
		return nil, err
	}
	env := func(path, form string) []string {
		method := "GET"
		if form != "" {
			method = "POST"
		}
		return []string{
			"GATEWAY_INTERFACE=CGI/1.1", "REQUEST_METHOD=" + method,
			"SERVER_PROTOCOL=HTTP/1.1", "SERVER_SOFTWARE=bench",
			"SCRIPT_NAME=/" + path, "REQUEST_URI=/" + path,
			"SCRIPT_FILENAME=" + s.path("site", path), "DOCUMENT_ROOT=" + s.path("site"),
			"QUERY_STRING=", "REDIRECT_STATUS=200",
			"CONTENT_TYPE=application/x-www-form-urlencoded", fmt.Sprintf("CONTENT_LENGTH=%d", len(form)),
			"SCRIPTER_ROOT=" + s.path("bench.root"), "REMOTE_ADDR=127.0.0.1", "PATH=/usr/local/bin:/usr/bin:/bin"}
	}
	page := env("W1", "")
	programs := []cgiProgram{
		{"static C", []string{s.path("cgi-c")}, page, "", "Hello"},
		{"static Go", []string{s.path("cgi-go")}, page, "", "Hello"},
		{"lua5.1", []string{"lua5.1", s.path("hello.lua")}, page, "", "Hello"},
		{"haserl", []string{s.path("hello.haserl")}, page, "", "Hello"}, // must be started by its #! line
		{"php-cgi W1", []string{"php-cgi"}, env("W1.php", ""), "", "Hello"},
	}
	for _, w := range works[:4] {
		path := w.name + ".fcgi"
		if w.page != "" {
			path = w.name + ".mcro"
		}
		program := []string{filepath.Join(s.o.bin, "scripter-cgi")}
		alone := append(env(path, w.form), "SCRIPTER_RESIDENT=off")
		programs = append(programs,
			cgiProgram{"scripter-cgi " + w.name + ", alone", program, alone, w.form, "200 OK"},
			cgiProgram{"scripter-cgi " + w.name + ", resident", program, env(path, w.form), w.form, "200 OK"})
	}
	return programs, nil
}
