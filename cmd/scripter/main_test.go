package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"scripter/internal/htmlcheck"
	"scripter/internal/testlog"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"scripter": func() { os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// patience is how long a test waits for something that should happen at once: a
// busy machine may stop for seconds.
const patience = time.Minute

// TestScripts runs what a user types, and compares what appears.
func TestScripts(t *testing.T) {
	runScripts(t, testscript.Params{Dir: "testdata"}, func(e *testscript.Env) {
		e.Setenv("SCRIPTER_ROOT", "")
		e.Setenv("FROM_BELOW", "../scripter.root")
	})
}

// runScripts runs scripts. setup sets the root.
func runScripts(t *testing.T, p testscript.Params, setup func(e *testscript.Env)) {
	testscript.Run(t, testscript.Params{
		Dir: p.Dir, Files: p.Files,
		Deadline: time.Now().Add(5 * time.Minute), // a script that hangs is ended, and its name is printed
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"serve": serve,
			"http":  httpGet,
			"bytes": writeBytes,
			"valid": validPages,
		},
		Setup: func(e *testscript.Env) error {
			setup(e)
			return nil
		},
	})
}

// serve starts "scripter serve" with the arguments on a free port and puts
// the address into $ADDR; stdout is what it has printed by then. It is stopped when the script ends.
func serve(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("serve cannot be negated")
	}
	exe, err := os.Executable()
	ts.Check(err)
	dir := ts.Getenv("WORK")
	bin := filepath.Join(dir, "scripter-serve")
	ts.Check(os.RemoveAll(bin))
	// testscript.Main chooses the command by the name of the program.
	ts.Check(os.Mkdir(bin, 0o755))
	ts.Check(os.Symlink(exe, filepath.Join(bin, "scripter")))
	cmd := exec.Command(filepath.Join(bin, "scripter"), append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)
	cmd.Dir = ts.Getenv("WORK")
	cmd.Env = append(os.Environ(), "SCRIPTER_ROOT="+ts.Getenv("SCRIPTER_ROOT"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	var log testlog.Buffer
	cmd.Stderr = &log
	ts.Check(cmd.Start())
	found, ended := make(chan string, 1), make(chan bool)
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			fmt.Fprintln(&log, lines.Text())
			if _, addr, ok := strings.Cut(lines.Text(), " at http://"); ok {
				found <- strings.TrimSuffix(addr, "/")
			}
		}
		cmd.Wait()
	}()
	ts.Defer(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-ended
		ts.Logf("[serve]\n%s", log.String())
	})
	select {
	case addr := <-found:
		ts.Setenv("ADDR", addr)
		fmt.Fprint(ts.Stdout(), log.String())
	case <-ended:
		ts.Fatalf("serve ended:\n%s", log.String())
	case <-time.After(patience):
		ts.Fatalf("serve did not print its address:\n%s", log.String())
	}
}

// httpGet asks the server that serve started: http PATH [FORM]. The response
// is printed as it came, head and body.
func httpGet(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 1 {
		ts.Fatalf("usage: http PATH [FORM]")
	}
	url := "http://" + ts.Getenv("ADDR") + args[0]
	client := &http.Client{Timeout: patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	var resp *http.Response
	var err error
	if len(args) > 1 {
		resp, err = client.Post(url, "application/x-www-form-urlencoded", strings.NewReader(args[1]))
	} else {
		resp, err = client.Get(url)
	}
	ts.Check(err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	ts.Check(err)
	if neg == (resp.StatusCode < 400) {
		ts.Fatalf("%s: %s", args[0], resp.Status)
	}
	fmt.Fprintf(ts.Stdout(), "%s %s\n", resp.Proto, resp.Status)
	resp.Header.Write(ts.Stdout())
	fmt.Fprintf(ts.Stdout(), "\n%s", body)
}

// validPages checks that pages of the server are valid HTML and load nothing from elsewhere:
// valid PATH...
func validPages(ts *testscript.TestScript, _ bool, args []string) {
	client := &http.Client{Timeout: patience}
	for _, path := range args {
		resp, err := client.Get("http://" + ts.Getenv("ADDR") + path)
		ts.Check(err)
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		ts.Check(err)
		problems := append(htmlcheck.Check(string(body)), htmlcheck.External(string(body))...)
		if resp.StatusCode != 200 || len(problems) > 0 {
			ts.Fatalf("%s: %s\n%s", path, resp.Status, strings.Join(problems, "\n"))
		}
	}
}

// writeBytes makes a file of N bytes X: bytes FILE N.
func writeBytes(ts *testscript.TestScript, _ bool, args []string) {
	var n int
	_, err := fmt.Sscan(args[1], &n)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Repeat("X", n)), 0o644))
}
