// Package mailtest starts Exim, a mail server, for tests: on a port of this machine, with a folder of its own.
package mailtest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/mail"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"scripter/internal/servertest"
	"scripter/internal/testlog"
)

// The user who can log in, over TLS only.
const (
	User     = "ada"
	Password = "correct horse"
)

// A Server is a running Exim. It takes mails for all addresses but refused@…, for which it says 550, and
// later@…, for which it says 451.
type Server struct {
	Port   int
	CAFile string // the certificate that it has, for the name localhost
	folder string
	t      *testing.T
}

const configuration = `
exim_user = %[1]s
exim_group = %[2]s
primary_hostname = mail.example.com
spool_directory = %[3]s/spool
log_file_path = %[3]s/log-%%s
pid_file_path = %[3]s/pid
local_interfaces = 127.0.0.1
daemon_smtp_ports = %[4]d
rfc1413_query_timeout = 0s
host_lookup =
smtp_accept_max = 0
tls_advertise_hosts = *
tls_certificate = %[3]s/cert.pem
tls_privatekey = %[3]s/key.pem
acl_smtp_rcpt = check
message_size_limit = 50M
keep_environment =
begin acl
check:
  deny    local_parts = refused
          message = no such mailbox here
  defer   local_parts = later
          message = try again later
  defer   condition = ${if exists{%[3]s/defer}}
          message = the disk is full
  accept
begin routers
all:
  driver = accept
  transport = store
begin transports
store:
  driver = appendfile
  file = %[3]s/mbox
  batch_max = 100
  envelope_to_add
  return_path_add
  user = %[1]s
  group = %[2]s
begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  server_prompts = :
  server_set_id = $auth2
  server_condition = ${if and{{eq{$auth2}{ada}}{eq{$auth3}{correct horse}}}}
  server_advertise_condition = ${if def:tls_in_cipher}
`

// Start starts a server that ends with the test. Without Exim the test is skipped, or fails if
// SCRIPTER_REQUIRE_SERVERS is set.
func Start(t *testing.T) *Server {
	t.Helper()
	s := &Server{t: t, folder: folder(t), Port: freePort(t)}
	servertest.Need(t, "exim4")
	program, err := servertest.Find("exim4")
	require.NoError(t, err)
	as, group := owner(t)
	s.writeCertificate()
	conf := filepath.Join(s.folder, "exim.conf")
	text := fmt.Sprintf(configuration, as.Username, group.Name, s.folder, s.Port)
	require.NoError(t, os.WriteFile(conf, []byte(text), 0o644))
	require.NoError(t, os.Mkdir(filepath.Join(s.folder, "spool"), 0o755))
	s.give(as)
	s.run(program, conf)
	return s
}

// folder returns a folder that the server's user can reach. One of t.TempDir cannot be reached by others.
func folder(t *testing.T) string {
	dir, err := os.MkdirTemp("", "scripter-exim-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o755))
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func freePort(t *testing.T) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// owner returns who the server runs as: this user, or Exim's own if this user is root, as whom it stores
// no mail.
func owner(t *testing.T) (*user.User, *user.Group) {
	u, err := user.Current()
	require.NoError(t, err)
	if u.Uid == "0" {
		u, err = user.Lookup("Debian-exim")
		require.NoError(t, err)
	}
	g, err := user.LookupGroupId(u.Gid)
	require.NoError(t, err)
	return u, g
}

// give gives all files to a user.
func (s *Server) give(u *user.User) {
	if os.Getuid() != 0 {
		return
	}
	uid, err := strconv.Atoi(u.Uid)
	require.NoError(s.t, err)
	gid, err := strconv.Atoi(u.Gid)
	require.NoError(s.t, err)
	for _, name := range []string{"", "spool", "key.pem", "cert.pem"} {
		require.NoError(s.t, os.Chown(filepath.Join(s.folder, name), uid, gid))
	}
	require.NoError(s.t, os.Chown(filepath.Join(s.folder, "exim.conf"), 0, 0))
}

func (s *Server) writeCertificate() {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(s.t, err)
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore:   time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key)
	require.NoError(s.t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(s.t, err)
	s.CAFile = filepath.Join(s.folder, "cert.pem")
	write := func(file, kind string, bytes []byte, mode os.FileMode) {
		text := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes})
		require.NoError(s.t, os.WriteFile(file, text, mode))
	}
	write(s.CAFile, "CERTIFICATE", der, 0o644)
	write(filepath.Join(s.folder, "key.pem"), "PRIVATE KEY", private, 0o600)
}

func (s *Server) run(program, conf string) {
	c := exec.Command(program, "-C", conf, "-bdf")
	var said testlog.Buffer
	c.Stdout, c.Stderr = &said, &said
	require.NoError(s.t, c.Start())
	s.t.Cleanup(func() {
		c.Process.Kill()
		c.Wait()
	})
	require.Eventually(s.t, func() bool {
		conn, err := net.Dial("tcp", fmt.Sprint("127.0.0.1:", s.Port))
		if err != nil {
			return false
		}
		defer conn.Close()
		var greeting [3]byte
		conn.SetReadDeadline(time.Now().Add(time.Second))
		n, _ := conn.Read(greeting[:])
		return string(greeting[:n]) == "220"
	}, 20*time.Second, 50*time.Millisecond, "exim does not answer: %s", &said)
}

// Defer makes the server say 451 to everybody, or take mails again.
func (s *Server) Defer(on bool) {
	file := filepath.Join(s.folder, "defer")
	if on {
		require.NoError(s.t, os.WriteFile(file, nil, 0o644))
	} else {
		require.NoError(s.t, os.Remove(file))
	}
}

// A Mail is a mail that the server has stored.
type Mail struct {
	*mail.Message
	To   string // the recipients in the envelope
	Body string
}

// Mails returns the stored mails.
func (s *Server) Mails() (list []Mail) {
	text, err := os.ReadFile(filepath.Join(s.folder, "mbox"))
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(s.t, err)
	for _, one := range strings.Split("\n"+string(text), "\nFrom ")[1:] {
		_, one, _ = strings.Cut(one, "\n")
		m, err := mail.ReadMessage(strings.NewReader(one))
		if err != nil {
			continue // it is being written
		}
		var body bytes.Buffer
		_, err = body.ReadFrom(m.Body)
		require.NoError(s.t, err)
		list = append(list, Mail{m, m.Header.Get("Envelope-To"), body.String()})
	}
	return list
}

// Log returns what the server has logged.
func (s *Server) Log() string {
	var all strings.Builder
	files, _ := filepath.Glob(filepath.Join(s.folder, "log-*"))
	for _, f := range files {
		text, _ := os.ReadFile(f)
		all.Write(text)
	}
	return all.String()
}
