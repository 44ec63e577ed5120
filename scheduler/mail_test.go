package scheduler

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/mailtest"
	"scripter/objectdb"
	"scripter/outbox"
	"scripter/site"
)

// mailLine lets the agent send by a server.
func (r *testRoot) mailLine(line string) {
	r.t.Helper()
	m, err := site.ParseMailServer(line)
	require.NoError(r.t, err)
	r.reach.MailServers = []site.MailServer{m}
}

// send writes a mail into the outbox and returns its key.
func (r *testRoot) send(m outbox.Message) (key string) {
	r.t.Helper()
	if m.From == "" {
		m.From = "shop@example.com"
	}
	require.NoError(r.t, m.Check())
	row, cells, err := m.Row()
	require.NoError(r.t, err)
	r.update(func(tx *objectdb.Tx) error {
		key, err = outbox.Add(tx, r.now(), row, cells)
		return err
	})
	return key
}

// once lets the agent do what is due.
func (r *testRoot) once() {
	r.t.Helper()
	require.NoError(r.t, r.agent().Once(r.t.Context()))
}

func (r *testRoot) row(key string) (row outbox.Row, state outbox.State) {
	r.t.Helper()
	r.view(func(tx *objectdb.Tx) (err error) {
		row, state, err = outbox.Find(tx, key)
		return err
	})
	return row, state
}

// eventually waits for mails that the server stores after it has taken them.
func eventually(t *testing.T, s *mailtest.Server, n int) []mailtest.Mail {
	t.Helper()
	require.Eventually(t, func() bool { return len(s.Mails()) >= n }, 20*time.Second, 50*time.Millisecond, "%s", s.Log())
	return s.Mails()
}

// TestMail checks a mail with everything, over STARTTLS with a log-in.
func TestMail(t *testing.T) {
	s := mailtest.Start(t)
	r := newRoot(t)
	t.Setenv(site.MailPassword, mailtest.Password)
	r.mailLine(fmt.Sprintf("smtp://%s@localhost:%d from=*@example.com tls=on ca-file=%s", mailtest.User, s.Port, s.CAFile))
	key := r.send(outbox.Message{
		From: `Jörg Müller <shop@example.com>`, ReplyTo: "help@example.com",
		To: []string{"ada@example.org", "Grace <grace@example.org>"}, Bcc: []string{"boss@example.com"},
		Subject: "Über Grüße ✓ " + strings.Repeat("lang ", 30), Text: "Zeile 1\n.\n..\nFrom here\n" + strings.Repeat("x", 2000),
		HTML: "<p>Grüße</p>", Headers: map[string]string{"List-Unsubscribe": "<https://example.com/u>"},
		Attachments: []outbox.Attachment{{Name: "Rechnung ü.pdf", Type: "application/pdf", Data: "\x00\x01%PDF"}},
	})
	r.once()
	_, state := r.row(key)
	require.Equal(t, outbox.Sent, state, r.log.String())
	mails := eventually(t, s, 1)
	require.Len(t, mails, 1)
	m := mails[0]
	assert.Equal(t, "<"+key+"@example.com>", m.Header.Get("Message-ID"))
	assert.NotContains(t, fmt.Sprint(m.Header), "boss@example.com; ", "bcc stays secret")
	assert.Empty(t, m.Header.Get("Bcc"))
	for _, to := range []string{"ada@example.org", "grace@example.org", "boss@example.com"} {
		assert.Contains(t, m.To, to)
	}
	from, err := m.Header.AddressList("From")
	require.NoError(t, err)
	assert.Equal(t, "Jörg Müller", from[0].Name)
	assert.Equal(t, "<shop@example.com>", m.Header.Get("Return-Path"))
	assert.Contains(t, m.Body, "multipart/alternative")
	assert.Contains(t, m.Body, "application/pdf")
	assert.Contains(t, s.Log(), "A=plain:ada", "logged in")
	assert.NotContains(t, r.log.String(), mailtest.Password)
}

// TestMailFailures checks what becomes of mails that a server does not take.
func TestMailFailures(t *testing.T) {
	s := mailtest.Start(t)
	r := newRoot(t)
	line := func(more string) { r.mailLine(fmt.Sprintf("smtp://localhost:%d from=*@example.com%s", s.Port, more)) }

	// Encryption is required and cannot be had with this certificate.
	line(" tls=on")
	key := r.send(outbox.Message{To: []string{"ada@example.org"}, Subject: "1", Text: "x"})
	r.once()
	row, state := r.row(key)
	assert.Equal(t, outbox.Waiting, state)
	assert.Contains(t, row.Error, "certificate")
	assert.Equal(t, 1, row.Tries)
	assert.InDelta(t, 10, row.Due().Sub(r.now()).Seconds(), 3)

	// The server says no for a while. Nothing is tried before its time.
	line(" tls=off")
	s.Defer(true)
	r.once()
	again, _ := r.row(key)
	assert.Equal(t, row, again)
	r.pass(15 * time.Second)
	r.once()
	row, _ = r.row(key)
	assert.Equal(t, 2, row.Tries)
	assert.Contains(t, row.Error, "the disk is full")
	assert.InDelta(t, 30, row.Due().Sub(r.now()).Seconds(), 8)
	s.Defer(false)
	r.pass(40 * time.Second)
	r.once()
	_, state = r.row(key)
	assert.Equal(t, outbox.Sent, state)
	mails := eventually(t, s, 1)
	assert.Equal(t, "<"+key+"@example.com>", mails[0].Header.Get("Message-ID"))

	// One recipient is refused, one must wait, one gets it.
	key = r.send(outbox.Message{
		To: []string{"refused@example.org", "later@example.org", "grace@example.org"}, Subject: "2", Text: "x",
	})
	r.once()
	mails = eventually(t, s, 2)
	assert.Equal(t, "grace@example.org", mails[1].To)
	row, state = r.row(key)
	assert.Equal(t, outbox.Waiting, state)
	assert.Contains(t, row.Error, "not yet to later@example.org")
	dead := r.rows(outbox.Dead)
	require.Len(t, dead, 1)
	assert.Equal(t, "refused@example.org", dead[0].To)
	assert.Contains(t, dead[0].Error, `550 "no such mailbox here"`)

	// The next try is only for the one who waits.
	r.pass(20 * time.Second)
	r.once()
	assert.Len(t, s.Mails(), 2)
	r.update(func(tx *objectdb.Tx) error {
		cells, err := outbox.Content(tx, key)
		require.NoError(t, err)
		m, err := outbox.ReadMessage(cells)
		require.NoError(t, err)
		assert.Equal(t, []string{"later@example.org"}, m.Envelope())
		return err
	})

	// All are refused: a dead letter at once, which can be sent again.
	key = r.send(outbox.Message{To: []string{"refused@example.org"}, Subject: "3", Text: "x"})
	r.once()
	_, state = r.row(key)
	assert.Equal(t, outbox.Dead, state)
	r.update(func(tx *objectdb.Tx) error {
		_, err := outbox.Resend(tx, key, r.now())
		return err
	})
	row, state = r.row(key)
	assert.Equal(t, outbox.Waiting, state)
	assert.Zero(t, row.Tries)

	// The sender is not listed any more.
	r.mailLine(fmt.Sprintf("smtp://localhost:%d from=*@example.net", s.Port))
	r.once()
	row, _ = r.row(key)
	assert.Contains(t, row.Error, "does not let mails come from \"shop@example.com\"")

	// No tries are left.
	for range 20 {
		r.pass(8 * time.Hour)
		r.once()
	}
	_, state = r.row(key)
	assert.Equal(t, outbox.Dead, state)
}

// TestMailCut checks a server that dies while it gets a mail: the mail is sent again, and has its key.
func TestMailCut(t *testing.T) {
	s := mailtest.Start(t)
	r := newRoot(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	go cutOnce(l, fmt.Sprint("127.0.0.1:", s.Port), 2000)
	r.mailLine(fmt.Sprintf("smtp://127.0.0.1:%d from=shop@example.com tls=off ca-file=%s", l.Addr().(*net.TCPAddr).Port, s.CAFile))
	key := r.send(outbox.Message{To: []string{"ada@example.org"}, Subject: "cut", Text: strings.Repeat("line\n", 100_000)})
	r.once()
	row, state := r.row(key)
	require.Equal(t, outbox.Waiting, state)
	t.Log(row.Error)
	r.pass(20 * time.Second)
	r.once()
	_, state = r.row(key)
	assert.Equal(t, outbox.Sent, state)
	mails := eventually(t, s, 1)
	require.Len(t, mails, 1)
	assert.Equal(t, "<"+key+"@example.com>", mails[0].Header.Get("Message-ID"))
}

// cutOnce passes connections on, and cuts the first one after so many bytes.
func cutOnce(l net.Listener, to string, most int64) {
	for first := true; ; first = false {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", to)
		if err != nil {
			conn.Close()
			continue
		}
		go func() {
			defer conn.Close()
			io.Copy(conn, server)
		}()
		go func() {
			defer server.Close()
			if first {
				io.CopyN(server, conn, most)
				conn.Close()
				return
			}
			io.Copy(server, conn)
		}()
	}
}
