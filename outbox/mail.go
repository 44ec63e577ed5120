package outbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/mail"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"scripter/objectdb"
)

// A Message is a mail.
type Message struct {
	From, ReplyTo string // addresses as a header has them
	To, Cc, Bcc   []string
	Subject       string
	Text, HTML    string // "" = it has no such part
	Headers       map[string]string
	Attachments   []Attachment

	// ID is in the Message-ID; "" stands for the key of the row.
	ID string `json:",omitempty"`
	// Rest are the recipients that have not got the mail yet; nil stands for all.
	Rest []string `json:",omitempty"`
}

// An Attachment is a file of a mail.
type Attachment struct {
	Name, Type string
	Data       string `json:"-"`
}

// Limits of a mail.
const (
	maxRecipients  = 100
	maxSubjectLine = 900 // bytes
	maxAttachments = 50
	maxHeaders     = 20
)

// message is the cell of the content that has all but the attachments, which are in file1, file2 …
const message = "message"

// ParseAddresses reads a list of addresses as a header has it: Ada <ada@example.com>, b@example.com.
// It returns each in the one form in which it can be sent.
func ParseAddresses(text string) ([]string, error) {
	if err := checkLine(text); err != nil {
		return nil, err
	}
	list, err := mail.ParseAddressList(text)
	if err != nil {
		return nil, fmt.Errorf("%.100q is no address: %s", text, strings.TrimPrefix(err.Error(), "mail: "))
	}
	addresses := make([]string, len(list))
	for i, a := range list {
		if err := checkAddress(a); err != nil {
			return nil, err
		}
		addresses[i] = a.Address
		if a.Name != "" {
			addresses[i] = a.String()
		}
	}
	return addresses, nil
}

// checkAddress returns an error for an address that cannot go to a server as it is. net/mail accepts
// control characters in quotes.
func checkAddress(a *mail.Address) error {
	for _, r := range a.Address {
		switch {
		case r > 0x7e:
			return fmt.Errorf("%.100q has characters that are not ASCII; a domain has such a form too: xn--…", a.Address)
		case r <= ' ', r == '<', r == '>':
			return fmt.Errorf("%.100q has characters that no address needs", a.Address)
		}
	}
	if strings.ContainsAny(a.Name, "\r\n\x00") {
		return errors.New("the name of an address has a line end")
	}
	if len(a.Address) > 254 { // RFC 5321, 4.5.3.1.3
		return fmt.Errorf("the address %.60q is too long", a.Address)
	}
	return nil
}

// Bare returns the address without its name.
func Bare(address string) string {
	a, err := mail.ParseAddress(address)
	if err != nil {
		return ""
	}
	return a.Address
}

// checkLine returns an error for a text that cannot be in one line of a header.
func checkLine(text string) error {
	for _, r := range text {
		if r < ' ' && r != '\t' || r == 0x7f {
			return fmt.Errorf("%.60q has a line end or another control character", text)
		}
	}
	if !utf8.ValidString(text) {
		return fmt.Errorf("%.60q is not UTF-8", text)
	}
	return nil
}

// Check returns an error for a mail that cannot be sent.
func (m *Message) Check() error {
	n := len(m.To) + len(m.Cc) + len(m.Bcc)
	switch {
	case n == 0:
		return errors.New("it has no recipients: to, cc or bcc")
	case n > maxRecipients:
		return fmt.Errorf("it has %d recipients, more than %d", n, maxRecipients)
	case m.Text == "" && m.HTML == "":
		return errors.New("it has neither text nor html")
	case len(m.Subject) > maxSubjectLine:
		return fmt.Errorf("the subject has more than %d bytes", maxSubjectLine)
	case len(m.Attachments) > maxAttachments:
		return fmt.Errorf("it has more than %d attachments", maxAttachments)
	case len(m.Headers) > maxHeaders:
		return fmt.Errorf("it has more than %d headers", maxHeaders)
	}
	for what, text := range map[string]string{"text": m.Text, "html": m.HTML} {
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return fmt.Errorf("%s is not UTF-8", what)
		}
	}
	if err := checkLine(m.Subject); err != nil {
		return fmt.Errorf("subject: %w", err)
	}
	for name, value := range m.Headers {
		if err := checkHeader(name, value); err != nil {
			return err
		}
	}
	for _, a := range m.Attachments {
		if err := checkAttachment(a); err != nil {
			return err
		}
	}
	return nil
}

// freeHeaders are the fields of a mail that scripts may set, beside those that begin with X- and List-.
var freeHeaders = map[string]bool{
	"auto-submitted": true, "in-reply-to": true, "references": true, "precedence": true, "importance": true,
}

func checkHeader(name, value string) error {
	lower := strings.ToLower(name)
	if !freeHeaders[lower] && !strings.HasPrefix(lower, "x-") && !strings.HasPrefix(lower, "list-") {
		return fmt.Errorf("headers: %.60q is not Auto-Submitted, Importance, In-Reply-To, Precedence, References, "+
			"X-… or List-…", name)
	}
	for _, c := range []byte(name) {
		if c != '-' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return fmt.Errorf("headers: %.60q is not the name of a header", name)
		}
	}
	if err := checkLine(value); err != nil || len(value) > maxSubjectLine {
		return fmt.Errorf("headers: the value of %s is longer than %d bytes, or has a line end", name, maxSubjectLine)
	}
	return nil
}

func checkAttachment(a Attachment) error {
	if a.Name == "" || len(a.Name) > 200 || strings.ContainsAny(a.Name, `/\"`) || checkLine(a.Name) != nil {
		return fmt.Errorf(`attachments: %.60q is not the name of a file: 1 to 200 bytes without / \ and "`, a.Name)
	}
	if checkLine(a.Type) != nil || !strings.Contains(a.Type, "/") {
		return fmt.Errorf("attachments: %.60q is no MIME type", a.Type)
	}
	return nil
}

// Row returns the row and the content of a mail that was checked.
func (m *Message) Row() (Row, map[string]objectdb.Value, error) {
	text, err := json.Marshal(m)
	if err != nil {
		return Row{}, nil, err
	}
	cells := map[string]objectdb.Value{message: objectdb.String(text)}
	for i, a := range m.Attachments {
		cells[fileCell(i)] = objectdb.Binary{Type: a.Type, Data: a.Data}
	}
	var to []string
	for _, list := range [][]string{m.To, m.Cc, m.Bcc} {
		for _, address := range list {
			to = append(to, Bare(address))
		}
	}
	return Row{Kind: Mail, To: strings.Join(to, ", "), Subject: m.Subject}, cells, nil
}

func fileCell(i int) string { return fmt.Sprint("file", i+1) }

// ReadMessage returns the mail in the content of a row.
func ReadMessage(cells map[string]objectdb.Value) (*Message, error) {
	m := new(Message)
	if err := readJSON(cells, message, m); err != nil {
		return nil, err
	}
	for i := range m.Attachments {
		b, ok := cells[fileCell(i)].(objectdb.Binary)
		if !ok {
			return nil, fmt.Errorf("the content has no %s", fileCell(i))
		}
		m.Attachments[i].Data = b.Data
	}
	return m, nil
}

func readJSON(cells map[string]objectdb.Value, name string, to any) error {
	text, ok := cells[name].(objectdb.String)
	if !ok {
		return fmt.Errorf("the content of the row has no %s", name)
	}
	if err := json.Unmarshal([]byte(text), to); err != nil {
		return fmt.Errorf("the content of the row: %s: %w", name, err)
	}
	return nil
}

// Envelope returns the addresses that the mail is still to be given to.
func (m *Message) Envelope() []string {
	if m.Rest != nil {
		return m.Rest
	}
	var all []string
	for _, list := range [][]string{m.To, m.Cc, m.Bcc} {
		for _, address := range list {
			if bare := Bare(address); !slices.Contains(all, bare) {
				all = append(all, bare)
			}
		}
	}
	return all
}

// Reduce says that only these recipients have not got a mail yet.
func Reduce(tx *objectdb.Tx, r Row, m *Message, rest []string) error {
	reduced := *m
	reduced.Rest = rest
	text, err := json.Marshal(&reduced)
	if err != nil {
		return err
	}
	return tx.Put(content.Child(r.Key).Child(message), objectdb.String(text))
}

// Split writes a dead row for recipients who were refused. It has the content of the mail, and its
// Message-ID.
func Split(
	tx *objectdb.Tx, r Row, cells map[string]objectdb.Value, m *Message, refused []string, now time.Time, why error,
) error {
	key := NewKey(now)
	for name, v := range cells {
		if err := tx.Put(content.Child(key).Child(name), v); err != nil {
			return err
		}
	}
	r.Key, r.To = key, strings.Join(refused, ", ")
	r.By, r.Lease, r.Next, r.Error = "", 0, now.UnixMilli(), why.Error()
	if err := Reduce(tx, r, m, refused); err != nil {
		return err
	}
	return put(tx, Dead, r)
}
