package admin

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
)

// confirmation is a question that is asked before a change. It is an error of the transaction
// that makes the change, so that nothing is stored until the form is sent again with confirm=yes.
type confirmation struct {
	Title  string      `json:"title"`
	Lines  []string    `json:"confirm"` // what would happen
	Button string      `json:"-"`
	Cancel string      `json:"-"` // the page to go back to
	Danger bool        `json:"-"`
	Action string      `json:"-"`
	Fields []formField `json:"-"`
}

// formField is a hidden field of a form.
type formField struct{ Name, Value string }

func (q *confirmation) Error() string { return q.Title }

// orConfirm returns the page with the question, if err is one.
func (c *call) orConfirm(err error) (*result, error) {
	var q *confirmation
	if !errors.As(err, &q) {
		return nil, err
	}
	if c.json {
		return nil, &problem{Status: http.StatusConflict, Text: q.Title, Data: map[string]any{"confirm": q.Lines}}
	}
	for name, values := range c.r.PostForm {
		if name == "csrf" || name == "confirm" {
			continue
		}
		for _, v := range values {
			q.Fields = append(q.Fields, formField{name, v})
		}
	}
	slices.SortStableFunc(q.Fields, func(a, b formField) int { return cmp.Compare(a.Name, b.Name) })
	q.Action = c.path()
	return &result{template: "confirm", title: q.Title, data: q}, nil
}
