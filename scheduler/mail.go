package scheduler

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/textproto"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"

	"scripter/objectdb"
	"scripter/outbox"
	"scripter/site"
)

// dialTime bounds the connection to a mail server, with TLS and log-in.
const dialTime = 30 * time.Second

// partly is what remains of a mail that only some of its recipients got.
type partly struct {
	message  *outbox.Message
	deferred []string          // recipients that the server takes later, perhaps
	refused  map[string]string // recipients that it refuses, and why
	refusal  error             // of the last of them
	delay    error             // why the last of the deferred ones must wait
}

// write writes a dead row for the refused recipients, and reduces the row of the mail to those that
// are tried again.
func (p *partly) write(tx *objectdb.Tx, r outbox.Row, cells map[string]objectdb.Value, now time.Time) error {
	if len(p.refused) > 0 {
		if err := outbox.Split(tx, r, cells, p.message, p.refusedTo(), now, p.refusal); err != nil {
			return err
		}
	}
	if len(p.deferred) > 0 {
		return outbox.Reduce(tx, r, p.message, p.deferred)
	}
	return nil
}

func (p *partly) refusedTo() []string { return slices.Sorted(maps.Keys(p.refused)) }

func (p *partly) refusedList() string { return strings.Join(p.refusedTo(), ", ") }

// sendMail gives a mail to its server. If only some recipients were refused or put off, it returns them.
func (a *Agent) sendMail(ctx context.Context, r outbox.Row, cells map[string]objectdb.Value) (*partly, error) {
	m, err := outbox.ReadMessage(cells)
	if err != nil {
		return nil, final(err)
	}
	if m.ID == "" {
		m.ID = r.Key
	}
	// scripter.conf may have been changed since the mail was written.
	server, err := a.o.Reach().MailServerFor(outbox.Bare(m.From))
	if err != nil {
		return nil, err
	}
	msg, err := compose(m, time.UnixMilli(r.Created))
	if err != nil {
		return nil, final(err)
	}
	ctx, cancel := context.WithTimeout(ctx, deliveryTime)
	defer cancel()
	p := &partly{message: m, refused: map[string]string{}}
	err = withMailServer(ctx, server, func(c *smtp.Client) error { return p.transact(c, msg) })
	switch {
	case err != nil:
		return nil, smtpFailure(err)
	case len(p.deferred) > 0:
		return p, &failure{err: fmt.Errorf("not yet to %s: %w", strings.Join(p.deferred, ", "), p.delay)}
	case len(p.refused) > 0:
		return p, nil
	}
	return nil, nil
}

// transact is one mail transaction. It returns an error if nobody gets the mail.
func (p *partly) transact(c *smtp.Client, msg *mail.Msg) error {
	if err := c.Mail("<" + outbox.Bare(p.message.From) + ">"); err != nil {
		return fmt.Errorf("the sender: %w", err)
	}
	accepted := 0
	for _, to := range p.message.Envelope() {
		err := c.Rcpt("<" + to + ">")
		reply := new(textproto.Error)
		switch {
		case err == nil:
			accepted++
		case !errors.As(err, &reply):
			return err
		case isFinal(reply.Code):
			p.refused[to], p.refusal = err.Error(), fmt.Errorf("%s: %w", to, err)
		default:
			p.deferred = append(p.deferred, to)
			p.delay = fmt.Errorf("%s: %w", to, err)
		}
	}
	if accepted == 0 && len(p.deferred) == 0 {
		return p.refusal // it is final: all are refused
	}
	if accepted == 0 {
		return nil
	}
	w, err := c.Data()
	if err != nil {
		return err
	}
	if _, err := msg.WriteTo(w); err != nil {
		return err
	}
	return w.Close()
}

// isFinal reports whether a reply says that it is no use to try again. A server that wants a log-in (530)
// or refuses one (535) must be mended, and then the mails go.
func isFinal(code int) bool { return code >= 500 && code != 530 && code != 535 && code != 538 }

// smtpFailure says whether the error of a transaction is final.
func smtpFailure(err error) error {
	reply := new(textproto.Error)
	return &failure{err: err, final: errors.As(err, &reply) && isFinal(reply.Code)}
}

// withMailServer calls fn with a connection to a server, encrypted and logged in as its line says.
func withMailServer(ctx context.Context, server site.MailServer, fn func(*smtp.Client) error) error {
	c, conn, err := dialMailServer(ctx, server)
	if err != nil {
		if conn != nil {
			conn.Close()
		}
		return fmt.Errorf("%s: %w", server.URL(), err)
	}
	defer conn.Close()
	if err := c.UpdateDeadline(deliveryTime - dialTime); err != nil {
		return err
	}
	if err := fn(c); err != nil {
		return fmt.Errorf("%s: %w", server.URL(), err)
	}
	_ = c.Quit() // the server has taken the mail, whatever it says now
	return nil
}

// dialMailServer connects. The caller closes the connection, which may be there even after an error.
func dialMailServer(ctx context.Context, server site.MailServer) (c *smtp.Client, conn net.Conn, err error) {
	encryption, err := tlsConfig(server)
	if err != nil {
		return nil, nil, err
	}
	policy := mail.TLSOpportunistic
	if server.RequireTLS && !server.TLS {
		policy = mail.TLSMandatory
	}
	options := []mail.Option{
		mail.WithPort(server.Port), mail.WithTimeout(dialTime), mail.WithTLSPolicy(policy),
		mail.WithTLSConfig(encryption), mail.WithoutSMTPUTF8(),
	}
	if server.TLS {
		options = append(options, mail.WithSSL())
	}
	if server.User != "" {
		password, err := server.Password()
		if err != nil {
			return nil, nil, err
		}
		options = append(options, mail.WithSMTPAuth(mail.SMTPAuthAutoDiscover),
			mail.WithUsername(server.User), mail.WithPassword(password))
	}
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err = (&net.Dialer{}).DialContext(ctx, network, address)
		if err != nil || !server.TLS {
			return conn, err
		}
		encrypted := tls.Client(conn, encryption)
		return encrypted, encrypted.HandshakeContext(ctx)
	}
	client, err := mail.NewClient(server.Host, append(options, mail.WithDialContextFunc(dial))...)
	if err != nil {
		return nil, nil, err
	}
	c, err = client.DialToSMTPClientWithContext(ctx)
	return c, conn, err
}

func tlsConfig(server site.MailServer) (*tls.Config, error) {
	c := &tls.Config{ServerName: server.Host, MinVersion: tls.VersionTLS12, InsecureSkipVerify: server.TrustsAnybody()}
	if server.CAFile == "" {
		return c, nil
	}
	pem, err := os.ReadFile(server.CAFile)
	if err != nil {
		return nil, err
	}
	c.RootCAs = x509.NewCertPool()
	if !c.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s has no certificates", server.CAFile)
	}
	return c, nil
}

// CheckMailServer connects to a server, encrypted and logged in as its line says, and sends nothing.
func CheckMailServer(ctx context.Context, server site.MailServer) error {
	return withMailServer(ctx, server, func(c *smtp.Client) error { return c.Noop() })
}

// compose makes the text of a mail.
func compose(m *outbox.Message, date time.Time) (*mail.Msg, error) {
	msg := mail.NewMsg(mail.WithNoDefaultUserAgent())
	from := outbox.Bare(m.From)
	if err := msg.From(m.From); err != nil {
		return nil, err
	}
	if m.ReplyTo != "" {
		if err := msg.ReplyTo(m.ReplyTo); err != nil {
			return nil, err
		}
	}
	for _, list := range []struct {
		set func(...string) error
		to  []string
	}{{msg.To, m.To}, {msg.Cc, m.Cc}} {
		if len(list.to) > 0 {
			if err := list.set(list.to...); err != nil {
				return nil, err
			}
		}
	}
	if len(m.To)+len(m.Cc) == 0 {
		msg.SetGenHeaderPreformatted("To", "undisclosed-recipients:;")
	}
	msg.Subject(m.Subject)
	msg.SetDateWithValue(date)
	msg.SetMessageIDWithValue(m.ID + from[strings.LastIndexByte(from, '@'):])
	for _, name := range slices.Sorted(maps.Keys(m.Headers)) {
		msg.SetGenHeader(mail.Header(name), m.Headers[name])
	}
	switch {
	case m.Text == "":
		msg.SetBodyString(mail.TypeTextHTML, m.HTML)
	case m.HTML == "":
		msg.SetBodyString(mail.TypeTextPlain, m.Text)
	default:
		msg.SetBodyString(mail.TypeTextPlain, m.Text)
		msg.AddAlternativeString(mail.TypeTextHTML, m.HTML)
	}
	for _, file := range m.Attachments {
		err := msg.AttachReader(file.Name, strings.NewReader(file.Data),
			mail.WithFileContentType(mail.ContentType(file.Type)))
		if err != nil {
			return nil, err
		}
	}
	_, err := msg.WriteTo(io.Discard)
	return msg, err
}
