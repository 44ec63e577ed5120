package json

import (
	"encoding/json"
	"slices"
	"strings"

	"scripter/httpheader"
	"scripter/script"
)

// The types of JSON that replies have.
const (
	Type        = "application/json"
	ProblemType = "application/problem+json"
)

// IsType reports whether a MIME type without parameters, in lower case, is one of JSON.
func IsType(media string) bool {
	return media == Type || strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json")
}

func reply(v *script.Call) error {
	status := v.OptInt(2, 200)
	if status < 200 || status > 599 {
		v.Bad(2, "the status %d is not between 200 and 599", status)
	}
	return respond(v, status, Type, v.Value(1), v.OptTable(3))
}

func problem(v *script.Call) error {
	status := v.Int(1)
	if status < 400 || status > 599 {
		v.Bad(1, "the status %d is not between 400 and 599", status)
	}
	detail, more := v.OptString(2, ""), v.OptTable(3)
	t := script.NewTable()
	t.Set("title", httpheader.ReasonText(status))
	t.Set("status", float64(status))
	if detail != "" {
		t.Set("detail", detail)
	}
	if more != nil {
		if more.Len() > 0 {
			v.Bad(3, "it has items without names")
		}
		names := more.Names()
		if slices.Contains(names, "status") {
			v.Bad(3, "status is argument 1")
		}
		for _, name := range names {
			t.Set(name, more.Get(name))
		}
	}
	return respond(v, status, ProblemType, t, v.OptTable(4))
}

// respond returns a response table with a value as JSON.
func respond(v *script.Call, status int, kind string, value script.Value, headers *script.Table) error {
	body, err := Encode(v.Thread(), value)
	if err != nil {
		return err
	}
	fields := script.NewTable()
	fields.Set("Content-Type", kind)
	if headers != nil {
		for _, name := range headers.Names() {
			if strings.EqualFold(name, "Content-Type") {
				fields.Delete("Content-Type")
			}
			fields.Set(name, headers.Get(name))
		}
	}
	t := script.NewTable()
	t.Set("status", float64(status))
	t.Set("headers", fields)
	t.Set("body", string(body))
	v.Return(t)
	return nil
}

// A Problem says what went wrong in the answer to a program (RFC 9457).
type Problem struct {
	Title    string `json:"title"`
	Status   int    `json:"status"`
	Detail   string `json:"detail,omitempty"`
	Incident string `json:"incident,omitempty"`
}

// Text returns the problem as JSON.
func (p Problem) Text() string {
	b, err := json.Marshal(p)
	if err != nil {
		panic("json: " + err.Error()) // strings and a number
	}
	return string(b) + "\n"
}
