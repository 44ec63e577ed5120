package admin

import (
	"errors"
	"strings"
	"time"

	"scripter/objectdb"
	"scripter/requestlog"
	"scripter/valuetext"
)

// findRoutes lists the pages that find objects.
func (s *Server) findRoutes() {
	s.page("GET /find", readers, (*call).findPage)
}

// findRows is how many objects a page of results shows, and findTime how long one request searches.
// The rest is searched by the next request.
const (
	findRows = 50
	findTime = 10 * time.Millisecond
)

// findData is the page of results, and what the palette (Ctrl-K) gets.
type findData struct {
	Query    string    `json:"query"`
	In       string    `json:"in,omitempty"` // an address: only there and below
	Objects  []found   `json:"objects"`
	Commands []command `json:"commands"`
	Next     string    `json:"next,omitempty"` // where the next request begins; "" = everything was searched
	Percent  int       `json:"percent"`        // how much was searched
	Skipped  int       `json:"skipped,omitempty"`
}

// found is an object that was found.
type found struct {
	Address objectdb.Address `json:"-"`
	Dotted  string           `json:"address"`
	Kind    string           `json:"kind"`
	Href    string           `json:"href"`
	Match   string           `json:"match,omitempty"` // the line with the text
	Line    int              `json:"line,omitempty"`
	Before  string           `json:"-"`
	Hit     string           `json:"-"`
	After   string           `json:"-"`
}

// command is a page that the palette offers.
type command struct {
	Label string `json:"label"`
	Href  string `json:"href"`
}

// findPage finds objects by address, name and text.
func (c *call) findPage() (*result, error) {
	data := &findData{
		Query: strings.TrimSpace(c.query("q")), In: c.query("in"), Objects: []found{}, Commands: []command{},
	}
	in, err := c.parseAddress(data.In)
	if err != nil {
		return nil, err
	}
	from := c.query("from")
	if from == "" {
		data.Commands = c.commands(data.Query)
	}
	if data.Query != "" {
		err = c.view(func(tx *objectdb.Tx) error { return c.find(tx, in, from, data) })
	}
	if err != nil {
		return nil, err
	}
	return &result{template: "find", title: text("find.title"), data: data}, nil
}

// commands returns the pages of the menu whose names contain a text.
func (c *call) commands(q string) []command {
	list := []command{}
	for _, item := range c.nav() {
		if strings.Contains(strings.ToLower(item.Text), strings.ToLower(q)) {
			list = append(list, command{Label: item.Text, Href: c.link(item.Page)})
		}
	}
	return list
}

// find fills in the objects with the query in their name or text. An object whose address was typed
// comes first.
func (c *call) find(tx *objectdb.Tx, in objectdb.Address, from string, data *findData) error {
	var typed objectdb.Address
	if a, err := objectdb.ParseAddress(data.Query); err == nil && len(a) > 0 && from == "" {
		n, err := tx.Find(a)
		if err == nil && c.role.MaySee(a) {
			data.Objects = append(data.Objects, found{Address: a, Dotted: a.String(), Kind: n.Kind().String(),
				Href: c.linkTo("at", a)})
			typed = a
		} else if err != nil && !objectdb.IsMissing(err) {
			return err
		}
	}
	r, err := tx.Search(objectdb.SearchOptions{
		Below: in, Name: data.Query, Text: data.Query, From: from, Limit: findRows, Budget: findTime,
	})
	if errors.Is(err, objectdb.ErrValue) {
		return badInput(err)
	}
	if err != nil {
		return err
	}
	for _, f := range r.Found {
		hidden := requestlog.IsSecret(f.Address, f.Kind)
		if typed != nil && f.Address.Equal(typed) || !c.role.MaySee(f.Address) || hidden && !f.Name {
			continue // that a text is in a secret is not told
		}
		o := found{Address: f.Address, Dotted: f.Address.String(), Kind: f.Kind.String(),
			Href: c.linkTo("at", f.Address)}
		if f.Text && !hidden {
			o.Line, o.Before, o.Hit, o.After = f.Line, f.Before, f.Match, f.After
			o.Match = f.Before + f.Match + f.After
			if f.Kind == objectdb.KindScript || f.Kind == objectdb.KindText {
				o.Href += "#line-" + valuetext.Format(objectdb.Number(f.Line))
			}
		}
		data.Objects = append(data.Objects, o)
	}
	data.Next, data.Skipped, data.Percent = r.Next, r.Skipped, 100
	if r.Next != "" && r.Total > 0 {
		data.Percent = int(r.Searched * 100 / r.Total)
	}
	return nil
}
