// Package mail has the verb mail.send.
package mail

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"scripter/objectdb"
	"scripter/outbox"
	"scripter/script"
)

// Verbs are the verbs of the group.
var Verbs = []script.Verb{
	{
		Name: "mail.send",
		Doc: "Writes a mail into the outbox, from where it is sent once the request's changes are committed. A " +
			"request that fails sends nothing.",
		Params: []script.Param{script.Arg("mail", "table", "to, cc, bcc: addresses, as a text or a list; from, "+
			"reply_to: one address; subject; text, html: at least one of them; attachments: values by their file "+
			"names, addresses of objects, or tables with name, data and type; headers: a table")},
		Results: script.Returns("string", "the key of the mail, which is also in its Message-ID"),
		Errors: "an address that is none, a sender that scripter.conf does not list, line ends in a header, a mail " +
			"larger than maxMail, more than 100 recipients, a full outbox",
		Example: `local ok, why = pcall (function ()
  return mail.send ({to = "ada@example.com", subject = "Hello", text = "Your order is on its way."})
end)
return ok and "it waits" or why:match ("no mail server")`,
		Gives: "no mail server",
		Func:  send,
	},
}

// names are the cells of the argument.
var names = []string{
	"to", "cc", "bcc", "from", "reply_to", "subject", "text", "html", "attachments", "headers",
}

func send(c *script.Call) error {
	t := c.Table(1)
	m, err := read(c, t)
	if err != nil {
		return err
	}
	host, ok := c.Thread().Host().(outbox.Host)
	if !ok {
		return errors.New("this verb works only while a request is answered")
	}
	if m.From == "" {
		if m.From, err = host.Reach().DefaultSender(); err != nil {
			return err
		}
	}
	if _, err := host.Reach().MailServerFor(outbox.Bare(m.From)); err != nil {
		return err
	}
	if err := m.Check(); err != nil {
		return err
	}
	row, cells, err := m.Row()
	if err != nil {
		return err
	}
	key, err := host.Batch().Add(c.Thread().Tx(), host.Site(), c.Thread().Now(), row, cells)
	c.Return(key)
	return err
}

// read returns the mail that a table describes.
func read(c *script.Call, t *script.Table) (m outbox.Message, err error) {
	for _, name := range t.Names() {
		if !slices.Contains(names, name) {
			return m, fmt.Errorf("%.60q is none of %s", name, strings.Join(names, ", "))
		}
	}
	for _, list := range []struct {
		name string
		to   *[]string
	}{{"to", &m.To}, {"cc", &m.Cc}, {"bcc", &m.Bcc}} {
		if *list.to, err = addresses(c, t.Get(list.name)); err != nil {
			return m, fmt.Errorf("%s: %w", list.name, err)
		}
	}
	for _, one := range []struct {
		name string
		to   *string
	}{{"from", &m.From}, {"reply_to", &m.ReplyTo}} {
		list, err := addresses(c, t.Get(one.name))
		if err == nil && len(list) > 1 {
			err = errors.New("it is more than one address")
		}
		if err != nil {
			return m, fmt.Errorf("%s: %w", one.name, err)
		}
		if len(list) == 1 {
			*one.to = list[0]
		}
	}
	for _, one := range []struct {
		name string
		to   *string
	}{{"subject", &m.Subject}, {"text", &m.Text}, {"html", &m.HTML}} {
		if *one.to, err = text(c, t.Get(one.name)); err != nil {
			return m, fmt.Errorf("%s: %w", one.name, err)
		}
	}
	if m.Headers, err = headers(c, t.Get("headers")); err != nil {
		return m, err
	}
	m.Attachments, err = attachments(c, t.Get("attachments"))
	return m, err
}

// text returns a text or number of a cell, "" for nil.
func text(c *script.Call, v script.Value) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string, float64, objectdb.Text, objectdb.Outline, objectdb.Date:
		return c.Thread().Text(v)
	}
	return "", fmt.Errorf("it is not a text")
}

// addresses returns the addresses of a text, or of a list of texts.
func addresses(c *script.Call, v script.Value) (list []string, err error) {
	t, ok := v.(*script.Table)
	if !ok {
		line, err := text(c, v)
		if err != nil || strings.TrimSpace(line) == "" {
			return nil, err
		}
		return outbox.ParseAddresses(line)
	}
	for i := 1; i <= t.Len(); i++ {
		more, err := addresses(c, t.Index(i))
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	if t.Len() == 0 && len(t.Names()) > 0 {
		return nil, errors.New("it is a table with names, not a list of addresses")
	}
	return list, nil
}

func headers(c *script.Call, v script.Value) (map[string]string, error) {
	if v == nil {
		return nil, nil
	}
	t, ok := v.(*script.Table)
	if !ok {
		return nil, errors.New("headers: it is not a table")
	}
	m := map[string]string{}
	for _, name := range t.Names() {
		value, err := text(c, t.Get(name))
		if err != nil {
			return nil, fmt.Errorf("headers: %s: %w", name, err)
		}
		m[name] = value
	}
	return m, nil
}

// attachments returns the files of a table: values by their names, addresses of objects, or tables
// with name, data and type.
func attachments(c *script.Call, v script.Value) (list []outbox.Attachment, err error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case *script.Table:
		v.Each(func(k, item script.Value) bool {
			var a outbox.Attachment
			if name, named := k.(string); named {
				a, err = file(c, name, "", item)
			} else {
				a, err = listed(c, item)
			}
			list = append(list, a)
			return err == nil
		})
	default:
		err = errors.New("it is not a table")
	}
	if err != nil {
		return nil, fmt.Errorf("attachments: %w", err)
	}
	slices.SortStableFunc(list, func(a, b outbox.Attachment) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// listed returns an attachment that is written as an address or as a table.
func listed(c *script.Call, item script.Value) (a outbox.Attachment, err error) {
	switch item := item.(type) {
	case objectdb.Address:
		return file(c, item.Name(), "", item)
	case *script.Table:
		name, err := text(c, item.Get("name"))
		if err != nil || name == "" {
			return a, errors.New("an entry has no name")
		}
		kind, err := text(c, item.Get("type"))
		if err != nil {
			return a, fmt.Errorf("%s: type: %w", name, err)
		}
		return file(c, name, kind, item.Get("data"))
	}
	return a, errors.New("an entry is neither the address of an object nor a table with name, data and type")
}

// file returns an attachment with the present value of an object, or with a value itself.
func file(c *script.Call, name, kind string, v script.Value) (a outbox.Attachment, err error) {
	at := ""
	if address, ok := v.(objectdb.Address); ok {
		at = " at " + address.String()
		if v, err = c.Thread().Tx().Get(address); err != nil {
			return a, fmt.Errorf("%s: %w", name, err)
		}
	}
	a.Name, a.Type = name, kind
	switch v := v.(type) {
	case objectdb.Binary:
		a.Data = v.Data
		if a.Type == "" {
			a.Type = v.Type
		}
	case objectdb.String:
		a.Data = string(v)
	case string, objectdb.Text, objectdb.Outline:
		a.Data, err = c.Thread().Text(v)
	default:
		err = fmt.Errorf("%s: there is no text or binary%s", name, at)
	}
	if a.Type == "" {
		a.Type = typeOf(name, a.Data)
	}
	return a, err
}

// types are those of files by their suffixes. The system's table differs from host to host.
var types = map[string]string{
	".css": "text/css", ".csv": "text/csv", ".gif": "image/gif", ".htm": "text/html", ".html": "text/html",
	".ics": "text/calendar", ".jpeg": "image/jpeg", ".jpg": "image/jpeg", ".json": "application/json",
	".md": "text/markdown", ".pdf": "application/pdf", ".png": "image/png", ".svg": "image/svg+xml",
	".txt": "text/plain", ".vcf": "text/vcard", ".webp": "image/webp", ".xml": "application/xml",
	".zip": "application/zip",
}

func typeOf(name, data string) string {
	switch t := types[strings.ToLower(path.Ext(name))]; {
	case t != "":
		return t
	case utf8.ValidString(data):
		return "text/plain"
	}
	return "application/octet-stream"
}
