package gateway

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"scripter/httpheader"
	"scripter/objectdb"
	"scripter/script"
	"scripter/site"
)

// httpheaderScript is the script that builds the head of a response without one (specification,
// 2.3 and 4.3.7).
var httpheaderScript = objectdb.Address{"suites", "webserver", "httpheader"}

// header returns what webserver.httpheader (status, modifier) returns.
func (c *attempt) header(status, modifier string) (string, error) {
	if c.supplied().header {
		return httpheader.Build(status, modifier, c.server())
	}
	if n, err := c.Tx.Find(httpheaderScript); err == nil && n.Kind() == objectdb.KindScript {
		v, err := c.Thread.Run(httpheaderScript, status, modifier)
		if err != nil {
			return "", err
		}
		return c.Thread.Text(v)
	}
	return httpheader.Build(status, modifier, c.server())
}

// responseValue is a response as the result of an action. It becomes text only if a script
// gets it.
type responseValue struct {
	resp   *httpheader.Response
	ranged bool // it is a binary, of which a request may want a part
}

// newResponse returns a response with the header that the verb webserver.httpHeader makes.
func (c *attempt) newResponse(status, modifier string) (*httpheader.Response, error) {
	resp, err := httpheader.New(status, modifier, c.server())
	if err == nil {
		err = resp.Check()
	}
	return resp, err
}

// forScript returns the text of a responseValue, and any other value unchanged.
func forScript(v script.Value) (script.Value, error) {
	r, ok := v.(responseValue)
	if !ok {
		return v, nil
	}
	return nphText(r.resp)
}

// nphText returns a response as scripts see it: a complete head and the body.
func nphText(resp *httpheader.Response) (string, error) {
	head, err := resp.AppendNPH(make([]byte, 0, 256+len(resp.Body)))
	return string(append(head, resp.Body...)), err
}

// reply makes a response of what the script returned and holds it until the commit.
func (c *attempt) reply(v script.Value) error {
	if c.out.started {
		return c.endStream(v)
	}
	resp, err := c.response(v)
	if err != nil {
		return err
	}
	if resp == nil {
		file, err := c.passOn()
		if err != nil {
			return c.noFile(v, err)
		}
		if err := c.storeVisit(); err != nil {
			return err
		}
		c.hold(held{
			file:    func() (*os.File, os.FileInfo, error) { return c.g.openFile(file) },
			kind:    typingOf(c.Site(), c.target.Path),
			fields:  c.fields,
			private: c.private,
		})
		return nil
	}
	if limit := c.Size(site.MaxResponse); int64(len(resp.Body)) > limit.Most {
		return fmt.Errorf("%w; webserver.sendPartial has no such limit",
			limit.Error("the response has %d bytes, the limit is %d", len(resp.Body), limit.Most))
	}
	if err := c.completeType(resp, c.Output(), false); err != nil {
		return err
	}
	c.completeTargets(resp)
	if resp.Body == "" && c.Output().InMemory() {
		linkRedirect(resp)
	}
	if err := c.finish(resp); err != nil {
		return err
	}
	c.hold(held{resp: resp, rest: c.TakeOutput(), ranged: c.ranged && resp.Status == 200})
	return nil
}

// noFile returns the error for a script that left its URL to the web server, if err says that
// there is no file. A script that returned "" meant that; one that returned nothing probably
// lacks a return.
func (c *attempt) noFile(v script.Value, err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	message := c.answerer() + ` returned "", and ` + e.Message
	forgotten := v == nil && c.Output() == nil
	if forgotten {
		message = c.answerer() + " returned nothing, and " + e.Message + "; does it lack a return?"
	}
	return &Error{Status: e.Status, Allow: e.Allow, Message: message, Err: err, warns: forgotten || e.warns}
}

// answerer returns the address of the object that answers the request, for messages.
func (c *attempt) answerer() string {
	if a := c.answering(); a != nil {
		return a.String()
	}
	return "the script"
}

// checkReturned returns an error for a return value that cannot be a response. Scripts
// of 1998 returned true after they had sent their page elsewhere.
func (c *attempt) checkReturned(v script.Value) error {
	what := ""
	if b, ok := v.(bool); ok {
		what = fmt.Sprint(b)
	} else if what = unsendable(v); what == "" {
		return nil
	}
	return &Error{Status: 500, Message: fmt.Sprintf("%s returned %s, which is not a response: "+
		"return a text, or a table of status, headers and body; \"\" leaves the URL to the web server", c.answerer(), what)}
}

// unsendable returns what a value is if its text is not for visitors: a table of the root,
// whose text would publish all that is below it, or code. It returns "" for other values.
func unsendable(v script.Value) string {
	switch v := v.(type) {
	case *script.Object:
		return fmt.Sprintf("the %s %s of the root", v.Kind(), v.Address())
	case *script.Function:
		return "a function"
	}
	return ""
}

// textForVisitor returns the text of argument i of a verb, which sends it to the visitor.
func textForVisitor(v *script.Call, i int) (string, error) {
	if v.IsString(i) {
		return v.Text(i), nil
	}
	if what := unsendable(v.Value(i)); what != "" {
		return "", fmt.Errorf("argument %d is %s, which is not for visitors", i, what)
	}
	return v.Text(i), nil
}

var errWritten = errors.New("a response table has its own body: write and a table cannot go together")

// response makes a response of what a script wrote and returned: a complete response, a text
// without a header, or a table {status=, headers=, body=}. It returns nil if the script leaves
// the URL to the web server.
func (c *attempt) response(v script.Value) (*httpheader.Response, error) {
	c.ranged = false
	if err := c.checkReturned(v); err != nil {
		return nil, err
	}
	if t, ok := v.(*script.Table); ok {
		if c.Output() != nil {
			return nil, errWritten
		}
		c.ownType = true
		return c.tableResponse(t)
	}
	if b, ok := v.(objectdb.Binary); ok && c.Output() == nil {
		c.ownType = true
		resp, err := c.typedResponse(typeOf(b), b.Data)
		if err == nil {
			c.binaryFields(resp)
		}
		return resp, err
	}
	if r, ok := v.(responseValue); ok && c.Output() == nil {
		c.ownType, c.ranged = true, r.ranged
		return r.resp, nil
	}
	v, err := forScript(v)
	if err != nil {
		return nil, err
	}
	text, err := c.Thread.Text(v)
	if err != nil {
		return nil, err
	}
	if written := c.Output(); written != nil {
		if err := written.Write(text); err != nil {
			return nil, err
		}
		text = written.Head()
	}
	if text == "" {
		return nil, nil
	}
	return c.textResponse(text)
}

// textResponse parses a complete response, or adds a header to a text without one.
func (c *attempt) textResponse(text string) (*httpheader.Response, error) {
	if strings.HasPrefix(text, "HTTP/") {
		resp, err := httpheader.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("the script's response: %w", err)
		}
		if resp.Body != "" && !resp.Has("Content-Type") {
			// Without a type some web servers send none, and others guess one.
			resp.Add("Content-Type", c.defaultType())
			c.ownType = true
		}
		return resp, nil
	}
	c.ownType = true
	return c.typedResponse(c.defaultType(), text)
}

// typedResponse makes the response for a text without a header or for an object that is
// served.
func (c *attempt) typedResponse(kind, body string) (*httpheader.Response, error) {
	if c.supplied().header {
		resp, err := httpheader.New("200 OK", kind, c.server()) // finish checks it
		if err == nil {
			resp.Body = body
		}
		return resp, err
	}
	head, err := c.header("200 OK", kind)
	if err != nil {
		return nil, err
	}
	resp, err := httpheader.Parse(head)
	if err != nil {
		return nil, fmt.Errorf("what %s returned: %w", httpheaderScript, err)
	}
	resp.Body += body
	return resp, nil
}

// tableResponse reads {status=200 | "404 NOT FOUND", headers={name=value | list}, body=}.
func (c *attempt) tableResponse(t *script.Table) (*httpheader.Response, error) {
	var odd script.Value
	t.Each(func(k, _ script.Value) bool {
		if k != "status" && k != "headers" && k != "body" {
			odd = k
		}
		return odd == nil
	})
	if odd != nil {
		return nil, fmt.Errorf("a response table has status, headers and body, not %v", odd)
	}
	resp := &httpheader.Response{Status: 200}
	switch s := t.Get("status").(type) {
	case nil:
	case float64:
		resp.Status = int(s)
		if float64(resp.Status) != s {
			return nil, fmt.Errorf("the response's status is %v", s)
		}
	case string:
		code, reason, _ := strings.Cut(s, " ")
		if _, err := fmt.Sscanf(code, "%d", &resp.Status); err != nil || len(code) != 3 {
			return nil, fmt.Errorf("the response's status is %.40q, which begins with no number of three digits", s)
		}
		resp.Reason = reason
	default:
		return nil, errors.New("the response's status is neither a number nor a text")
	}
	if resp.Reason == "" {
		resp.Reason = httpheader.ReasonText(resp.Status)
	}
	resp.Add("Server", c.server())
	resp.Add("MIME-Version", "1.0")
	if err := c.tableFields(resp, t.Get("headers")); err != nil {
		return nil, err
	}
	body := t.Get("body")
	binary, isBinary := body.(objectdb.Binary)
	switch {
	case resp.Has("Content-Type"):
	case isBinary:
		resp.Add("Content-type", typeOf(binary))
	default:
		resp.Add("Content-type", c.defaultType())
	}
	if what := unsendable(body); what != "" {
		return nil, fmt.Errorf("the response's body is %s, which is not for visitors", what)
	}
	var err error
	if resp.Body, err = c.Thread.Text(body); err == nil && isBinary {
		c.binaryFields(resp)
	}
	return resp, err
}

// tableFields adds the headers of a response table.
func (c *attempt) tableFields(resp *httpheader.Response, v script.Value) error {
	if v == nil {
		return nil
	}
	t, ok := v.(*script.Table)
	if !ok {
		return errors.New("the response's headers are no table")
	}
	for _, name := range t.Names() {
		values := []script.Value{t.Get(name)}
		if list, ok := values[0].(*script.Table); ok {
			values = values[:0]
			list.Each(func(_, v script.Value) bool { values = append(values, v); return true })
		}
		if len(values) == 1 {
			resp.Del(name)
		}
		for _, v := range values {
			text, err := c.Thread.Text(v)
			if err != nil {
				return err
			}
			resp.Add(name, text)
		}
	}
	return nil
}

// htmlType is the default MIME type.
const htmlType = "text/html"

// defaultType returns the MIME type of the path's extension, from the mime table
// (specification, 2.1).
func (c *attempt) defaultType() string {
	p := c.target.Path
	if c.page != "" {
		p = c.page
	}
	if e, ok := c.Site().MimeType(path.Ext(p)); ok && e.Type != "" {
		return e.Type
	}
	return htmlType
}
