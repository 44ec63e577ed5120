package site

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A MailServer is a server to which the agent gives mails. It is written as a URL and words:
//
//	smtp://user@mail.example.com:587 from=*@example.com password-file=/etc/scripter/mail
//
// Neither the line nor this value has the password.
type MailServer struct {
	Host string
	Port int
	User string // "" = no log-in
	// TLS says that the whole connection is encrypted (smtps). Else the agent asks for STARTTLS, and
	// sends nothing without it if RequireTLS is set.
	TLS, RequireTLS bool
	From            []string // addresses, or *@ and a domain, that mails may come from
	PasswordFile    string   // "" = the variable SCRIPTER_MAIL_PASSWORD
	CAFile          string   // certificates that are trusted instead of the system's; "" = the system's
}

// MailPassword is the variable that may have the password of mail servers.
const MailPassword = "SCRIPTER_MAIL_PASSWORD"

// The words of a line.
const (
	mailFrom     = "from"
	mailPassword = "password-file"
	mailCA       = "ca-file"
	mailTLS      = "tls"
)

// senders is what a line may name as the sender of mails. The relay knows it too: see is_mail in
// cmd/scripter-cgi/site_linux.c.
var senders = regexp.MustCompile(`^(\*|[A-Za-z0-9._+-]+)@[A-Za-z0-9.-]+$`)

var mailHost = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

var errMailLine = errors.New("write it as smtp://user@mail.example.com:587 from=*@example.com")

// ParseMailServer reads a line.
func ParseMailServer(line string) (MailServer, error) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return MailServer{}, fmt.Errorf("it is empty: %w", errMailLine)
	}
	m, err := parseMailURL(words[0])
	if err != nil {
		return m, err
	}
	m.RequireTLS = !isLoopback(m.Host)
	for _, w := range words[1:] {
		name, value, _ := strings.Cut(w, "=")
		switch {
		case name == mailFrom:
			for _, from := range strings.Split(value, ",") {
				if !senders.MatchString(from) {
					return m, fmt.Errorf("from=%.100q is neither an address nor *@ and a domain", from)
				}
				m.From = addOnce(m.From, strings.ToLower(from))
			}
		case name == mailPassword && filepath.IsAbs(value):
			m.PasswordFile = value
		case name == mailCA && filepath.IsAbs(value):
			m.CAFile = value
		case name == mailPassword, name == mailCA:
			return m, fmt.Errorf("%s=%.100q is not an absolute path", name, value)
		case name == mailTLS && (value == "on" || value == "off"):
			m.RequireTLS = value == "on"
		case name == mailTLS:
			return m, fmt.Errorf("tls=%.40q is neither on nor off", value)
		default:
			return m, fmt.Errorf("%.40q is none of from=, password-file=, ca-file= and tls=", w)
		}
	}
	if len(m.From) == 0 {
		return m, fmt.Errorf("it names no senders: add from=*@%s", cmp.Or(m.domain(), "example.com"))
	}
	return m, nil
}

func parseMailURL(text string) (m MailServer, err error) {
	u, err := url.Parse(text)
	if err != nil {
		return m, errMailLine // the error would have the whole URL
	}
	if _, has := u.User.Password(); has {
		return m, fmt.Errorf("it has the password, where others can read it: "+
			"put that into a file and add password-file=/path, or into the variable %s", MailPassword)
	}
	if u.Scheme != "smtp" && u.Scheme != "smtps" || u.Path != "" || u.RawQuery != "" || u.Fragment != "" {
		return m, fmt.Errorf("%.100q is no mail server: %w", text, errMailLine)
	}
	m.Host, m.User, m.TLS = u.Hostname(), u.User.Username(), u.Scheme == "smtps"
	if !mailHost.MatchString(m.Host) && net.ParseIP(m.Host) == nil {
		return m, fmt.Errorf("%.100q has no host: %w", text, errMailLine)
	}
	port := "587"
	switch {
	case m.TLS:
		port = "465"
	case m.User == "":
		port = "25"
	}
	if m.Port, err = strconv.Atoi(cmp.Or(u.Port(), port)); err != nil || m.Port < 1 || m.Port > 65535 {
		return m, fmt.Errorf("%.100q has no port from 1 to 65535", text)
	}
	return m, nil
}

// domain returns what is probably the domain of the senders, or "".
func (m *MailServer) domain() string {
	if _, domain, ok := strings.Cut(m.User, "@"); ok {
		return domain
	}
	_, domain, _ := strings.Cut(m.Host, ".")
	return domain
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Address returns host:port.
func (m MailServer) Address() string { return net.JoinHostPort(m.Host, strconv.Itoa(m.Port)) }

// URL returns the server as a URL, which is also its name in messages.
func (m MailServer) URL() string {
	u := url.URL{Scheme: "smtp", Host: m.Address()}
	if m.TLS {
		u.Scheme = "smtps"
	}
	if m.User != "" {
		u.User = url.User(m.User)
	}
	return u.String()
}

// Line returns the line that ParseMailServer reads.
func (m MailServer) Line() string {
	words := []string{m.URL(), mailFrom + "=" + strings.Join(m.From, ",")}
	if m.PasswordFile != "" {
		words = append(words, mailPassword+"="+m.PasswordFile)
	}
	if m.CAFile != "" {
		words = append(words, mailCA+"="+m.CAFile)
	}
	tls := "off"
	if m.RequireTLS {
		tls = "on"
	}
	return strings.Join(append(words, mailTLS+"="+tls), " ")
}

// TrustsAnybody reports whether any certificate of the server will do: where a connection without encryption would
// do, too, and no password goes to another machine. Mail servers of one's own machine have as a rule a certificate
// that they have signed themselves.
func (m MailServer) TrustsAnybody() bool {
	return !m.TLS && !m.RequireTLS && m.CAFile == "" && (m.User == "" || isLoopback(m.Host))
}

// Password returns the password of the user. It is asked for at each mail, so that a new one counts
// at once.
func (m MailServer) Password() (string, error) {
	if m.PasswordFile == "" {
		if p := os.Getenv(MailPassword); p != "" {
			return p, nil
		}
		return "", fmt.Errorf("there is no password for %s: add password-file=/path to its line, or set %s",
			m.URL(), MailPassword)
	}
	b, err := os.ReadFile(m.PasswordFile)
	if err != nil {
		return "", fmt.Errorf("the password for %s: %w", m.URL(), err)
	}
	p := strings.TrimRight(string(b), "\r\n")
	if p == "" || strings.ContainsAny(p, "\r\n") {
		return "", fmt.Errorf("the password for %s: %s does not have one line", m.URL(), m.PasswordFile)
	}
	return p, nil
}

// MaySend reports whether mails may come from an address such as ada@example.com.
func (m MailServer) MaySend(from string) bool {
	from = strings.ToLower(from)
	at := strings.LastIndexByte(from, '@')
	return at >= 0 && (slices.Contains(m.From, from) || slices.Contains(m.From, "*"+from[at:]) ||
		slices.Contains(m.From, anybody))
}

// anybody is a sender that no line can name.
const anybody = "*"

// TestMailServer is the server of tests, whose mails are thrown away: where scripter.conf lists none, they can
// write mails nevertheless.
var TestMailServer = MailServer{Host: "localhost", Port: 25, From: []string{anybody, "site@example.com"}}

// MailServerFor returns the first server that may send mails from an address.
func (r Reach) MailServerFor(from string) (MailServer, error) {
	var listed []string
	for _, m := range r.MailServers {
		if m.MaySend(from) {
			return m, nil
		}
		listed = append(listed, m.From...)
	}
	if len(listed) == 0 {
		return MailServer{}, errors.New("scripter.conf lists no mail server: add a line such as " +
			`"mail: smtp://localhost from=*@example.com" there`)
	}
	return MailServer{}, fmt.Errorf("scripter.conf does not let mails come from %.100q: its mail lines allow %s",
		from, strings.Join(listed, ", "))
}

// DefaultSender returns the address that mails come from if their script names none: the first one
// that is listed without "*".
func (r Reach) DefaultSender() (string, error) {
	for _, m := range r.MailServers {
		for _, from := range m.From {
			if from[0] != '*' {
				return from, nil
			}
		}
	}
	if len(r.MailServers) == 0 {
		_, err := r.MailServerFor("")
		return "", err
	}
	return "", errors.New(`it has no "from", and no mail line of scripter.conf lists a whole address`)
}
