package corpus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"scripter/gateway"
	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
)

func TestMain(m *testing.M) {
	code := m.Run()
	RemovePrograms()
	os.Exit(code)
}

// TestTransports puts every case through the transports that need no web server. Those
// that do are in conf-examples.
func TestTransports(t *testing.T) {
	for _, transport := range []Transport{
		gatewayTransport{},
		cgiTransport{name: "cgi-parsed", program: "Scripter.acgi", wiring: actionWiring},
		cgiTransport{name: "cgi-nph", program: "nph-Scripter.acgi", wiring: nphWiring, nph: true},
		cgiTransport{name: "cgi-relay", program: "Scripter.acgi", wiring: actionWiring, resident: true},
		cgiTransport{name: "cgi-relay-nph", program: "nph-Scripter.acgi", wiring: nphWiring, nph: true, resident: true},
		fcgiTransport{name: "fcgi"},
		fcgiTransport{name: "fcgi-std", args: []string{"--responder=std"}},
		serveTransport{},
	} {
		t.Run(transport.Name(), func(t *testing.T) { Run(t, transport) })
	}
}

// gatewayTransport calls the gateway in this process.
type gatewayTransport struct{}

func (gatewayTransport) Name() string { return "gateway" }

func (gatewayTransport) Start(t *testing.T, s *Site) Client {
	db, err := sqlitestore.Open(s.Root, objectdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	g := gateway.New(gateway.Options{DB: db})
	m := &model{site: s, wiring: actionWiring, handler: func(vars map[string]string, body io.Reader, out io.Writer) error {
		o := g.Answer(context.Background(), &gateway.Request{Params: vars, Body: body}, out)
		if o.Broken {
			return fmt.Errorf("the answer broke off: %w", o.Err)
		}
		return nil
	}}
	return m.serve(t)
}

// cgiTransport starts scripter-cgi for each request, under the name that its place
// in a cgi-bin folder would give it.
type cgiTransport struct {
	name    string
	program string
	wiring  func(m *model, docRoot, url, action string) map[string]string
	nph     bool
	// resident: a scripter-fcgi runs, and the programs hand their requests over.
	resident bool
}

func (r cgiTransport) Name() string { return r.name }

func (r cgiTransport) Start(t *testing.T, s *Site) Client {
	program := s.Program(r.program)
	CopyProgram(t, s.Program("scripter-cgi"), program)
	if r.resident {
		StartResident(t, s, false)
	}
	m := &model{site: s, wiring: r.wiring, nph: r.nph, handler: func(vars map[string]string, body io.Reader, out io.Writer) error {
		ctx, cancel := context.WithTimeout(context.Background(), answerTime)
		defer cancel()
		cmd := exec.CommandContext(ctx, program)
		cmd.Dir = filepath.Dir(program)
		cmd.Env = []string{"SCRIPTER_ROOT=" + s.Root}
		for name, value := range vars {
			// A server cannot put a NUL byte into a program's environment
			// either; Go would refuse to start it.
			if !bytes.Contains([]byte(value), []byte{0}) {
				cmd.Env = append(cmd.Env, name+"="+value)
			}
		}
		var log bytes.Buffer
		cmd.Stdin, cmd.Stdout, cmd.Stderr = body, out, &log
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s: %w: %s", r.program, err, log.String())
		}
		return nil
	}}
	return m.serve(t)
}

// fcgiTransport runs scripter-fcgi behind a Unix socket.
type fcgiTransport struct {
	name string
	args []string
}

func (r fcgiTransport) Name() string { return r.name }

func (r fcgiTransport) Start(t *testing.T, s *Site) Client {
	socket := filepath.Join(OpenTempDir(t), "s")
	args := append([]string{"--root", s.Root, "--listen", "unix:" + socket}, r.args...)
	p := StartProcess(t, false, nil, s.Program("scripter-fcgi"), args...)
	p.WaitFor(t, "unix", socket)
	m := &model{site: s, wiring: directWiring, handler: func(vars map[string]string, body io.Reader, out io.Writer) error {
		return fcgiCall(socket, vars, body, out)
	}}
	return m.serve(t)
}

// serveTransport runs "scripter serve", which is a web server itself.
type serveTransport struct{}

func (serveTransport) Name() string { return "serve" }

var printedAddress = regexp.MustCompile(`127\.0\.0\.1:[0-9]+`)

func (serveTransport) Start(t *testing.T, s *Site) Client {
	p := StartProcess(t, false, nil, s.Program("scripter"), "--root", s.Root, "serve", "--addr", "127.0.0.1:0", "--site", s.WWW,
		"--host", "scripter.example", "--host", "second.example")
	addr, err := waitForAddress(p)
	if err != nil {
		t.Fatal(err)
	}
	p.WaitFor(t, "tcp", addr)
	return Client{Addr: addr}
}

func waitForAddress(p *Process) (string, error) {
	for end := time.Now().Add(startTime); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if addr := printedAddress.FindString(p.Output()); addr != "" {
			return addr, nil
		}
	}
	return "", errors.New("scripter serve printed no address:\n" + p.Output())
}
