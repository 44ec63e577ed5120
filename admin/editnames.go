package admin

import (
	"io"
	"net/http"
	"strings"

	"scripter/gateway"
	"scripter/objectdb"
	"scripter/requestlog"
	"scripter/runner"
	"scripter/script/lint"
)

// finding is a finding as the editor shows it.
type finding struct {
	lint.Finding
	Level string `json:"level"` // "error" if the script does not compile, else "warning"
}

// lintTyped looks for likely mistakes in a script that is typed and need not be stored. The text is
// the body, or the field "value" of the form, which is then shown again with what was found.
func (c *call) lintTyped() (*result, error) {
	a, err := c.address()
	if err != nil {
		return nil, err
	}
	isForm := !strings.HasPrefix(c.r.Header.Get("Content-Type"), "text/plain")
	source := c.lines("value")
	if !isForm {
		body, err := io.ReadAll(c.r.Body)
		if err != nil {
			return nil, badInput(err)
		}
		source = string(body)
	}
	found, err := c.Gateway.Runner().LintSource(c.ctx(), a, source)
	if err != nil {
		return nil, err
	}
	if isForm && !c.json {
		return c.typedPage(a, http.StatusOK, func(d *valueData) { d.Findings, d.Checked = found, true })
	}
	list := make([]finding, len(found))
	for i, f := range found {
		list[i] = finding{f, "warning"}
		if f.Rule == "syntax" {
			list[i].Level = "error"
		}
	}
	c.json = true
	return &result{data: map[string]any{"findings": list}}, nil
}

// option is a name that the editor offers, as CodeMirror has them.
type option struct {
	Label  string `json:"label"`
	Type   string `json:"type"`
	Detail string `json:"detail,omitempty"`
}

// maxOptions is how many names the editor offers.
const maxOptions = 200

// completeName returns the names with which an address that was typed in part may go on.
func (c *call) completeName() (*result, error) {
	prefix := strings.ReplaceAll(c.query("prefix"), ":", ".")
	options := []option{}
	err := c.viewNames(func(run *runner.Run) error {
		if i := strings.LastIndexByte(prefix, '.'); i >= 0 {
			m, err := lint.Find(run.Thread, strings.Split(prefix[:i], ".")...)
			if err != nil || m != nil && m.Node != nil && !c.role.MaySee(m.Address) {
				return err
			}
		}
		found, err := lint.Complete(run.Thread, prefix, maxOptions)
		for _, f := range found {
			kind := f.Kind
			switch kind {
			case "table", "library":
				kind = "namespace"
			case "script":
				kind = "function"
			case "keyword", "function":
			default:
				kind = "variable"
			}
			detail := f.Detail
			if detail == "" && f.Kind != "keyword" {
				detail = f.Kind
			}
			options = append(options, option{f.Name, kind, detail})
		}
		return err
	})
	c.json = true
	return &result{data: map[string]any{"from": strings.LastIndexByte(prefix, '.') + 1, "options": options}}, err
}

// viewNames calls fn with the names that a script sees at the address of the URL, if it has one.
func (c *call) viewNames(fn func(*runner.Run) error) error {
	a, err := c.address()
	if err != nil {
		return err
	}
	return c.Gateway.Runner().View(c.ctx(), a, fn)
}

// explainName says what a dotted name means in a script, and where it leads.
func (c *call) explainName() (*result, error) {
	name := strings.ReplaceAll(c.query("name"), ":", ".")
	data := map[string]any{}
	err := c.viewNames(func(run *runner.Run) error {
		m, err := lint.Find(run.Thread, strings.Split(name, ".")...)
		if m == nil || err != nil {
			return err
		}
		data["title"], data["text"] = m.Title, m.Text
		if m.Node == nil {
			return nil
		}
		data["href"], data["address"] = c.linkTo("at", m.Address), m.Address.String()
		data["text"], err = c.beginning(run.Tx, m.Address, m.Node)
		return err
	})
	if err != nil {
		return nil, err
	}
	c.json = true
	return &result{data: data}, nil
}

// beginning returns what an object is, and the beginning of its value.
func (c *call) beginning(tx *objectdb.Tx, a objectdb.Address, n *objectdb.Node) (string, error) {
	kind := text("kind." + n.Kind().String())
	switch {
	case n.Kind() == objectdb.KindTable:
		count, err := tx.CountUpTo(n, "", "", 10_000)
		return text("hover.table", kind, thousands(int64(count))), err
	case !c.role.MaySee(a) || requestlog.IsSecret(a, n.Kind()):
		return kind + ", " + text("object.masked"), nil
	case n.Size() > maxPreview:
		return kind + ", " + byteSize(n.Size()), nil
	}
	v, err := tx.Value(n)
	if err != nil {
		return "", err
	}
	source, ok := v.(objectdb.Script)
	if !ok {
		return kind + ": " + preview(v), nil
	}
	var lines []string
	for line := range strings.Lines(string(source)) { // what the author says of it
		comment, ok := strings.CutPrefix(line, "--")
		if !ok || len(lines) == 10 {
			break
		}
		lines = append(lines, strings.ToValidUTF8(strings.TrimSpace(comment), "�"))
	}
	return strings.Join(append([]string{kind}, lines...), "\n"), nil
}

// previewPolicy is the Content-Security-Policy of a preview: pictures and styles, but no script, no
// form, no cookie of this site and no frame of another page.
const previewPolicy = "sandbox; default-src 'none'; img-src data: 'self'; style-src 'unsafe-inline'; " +
	"form-action 'none'; frame-ancestors 'none'; base-uri 'none'"

// previewPage shows a page as it would be, with its markers replaced. What they change in the root is
// undone.
func (c *call) previewPage() (*result, error) {
	a, err := c.address()
	if err != nil {
		return nil, err
	}
	if err := c.mayChange(a); err != nil { // markers run scripts
		return nil, err
	}
	r := &gateway.Request{Params: map[string]string{
		"REQUEST_METHOD": "GET", "SCRIPT_NAME": "/", "HTTP_HOST": c.r.Host, "SERVER_NAME": "localhost",
		"REMOTE_ADDR": "127.0.0.1",
	}}
	page, err := c.Gateway.ExpandText(c.ctx(), r, a.String(), c.lines("value"))
	if err != nil {
		return nil, newProblem(http.StatusUnprocessableEntity, "preview.failed", gateway.Describe(err))
	}
	return otherPage(previewPolicy, page), nil
}
