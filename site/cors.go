package site

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"scripter/objectdb"
)

// CORSRows is the table that lets pages of other sites call URLs of this one (Cross-Origin Resource
// Sharing). The name of a row is the prefix of a path; the row with the longest prefix applies. A row is a
// text or list of origins, or a table with the cells origins, methods, headers, expose, credentials and
// maxAge. A row with a mistake lets nobody in.
var CORSRows = home.Child("cors")

// A CORS is a row of [CORSRows].
type CORS struct {
	Prefix      string
	Origins     []string // such as https://app.example:8080, in lower case; or only "*"
	Methods     []string
	Headers     []string // that requests may have
	Expose      []string // of responses, that scripts of the page may read
	Credentials bool     // requests may have cookies and log-ins
	MaxAge      int      // seconds for which a browser may remember the answer to a preflight
	Why         error    // why the row has no effect
}

// The cells that a row of [CORSRows] does not have.
var (
	corsMethods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}
	corsHeaders = []string{"Content-Type", "Authorization", "If-Match", "If-None-Match"}
)

const corsMaxAge = 600

// Admits reports whether pages of an origin may call the URLs of the row.
func (c *CORS) Admits(origin string) bool {
	return c.Why == nil && origin != "" && (c.AnyOrigin() || slices.Contains(c.Origins, strings.ToLower(origin)))
}

// AnyOrigin reports whether the pages of every site may call the URLs of the row.
func (c *CORS) AnyOrigin() bool { return slices.Contains(c.Origins, "*") }

// CORS returns the row for a path, or nil.
func (s *Snapshot) CORS(path string) *CORS {
	var nearest *CORS
	for i := range s.cors {
		row := &s.cors[i]
		if hasPathPrefix(path, row.Prefix) && (nearest == nil || len(row.Prefix) > len(nearest.Prefix)) {
			nearest = row
		}
	}
	return nearest
}

// ReadCORSRows returns all rows, with their errors.
func ReadCORSRows(tx *objectdb.Tx) ([]CORS, error) {
	r := reader{tx: tx}
	return r.corsRows(), r.err
}

func (r *reader) corsRows() []CORS {
	var rows []CORS
	for _, n := range r.children(CORSRows.Name()) {
		c := CORS{Prefix: n.Name(), Methods: corsMethods, Headers: corsHeaders, MaxAge: corsMaxAge}
		c.Why = r.cors(n, &c)
		rows = append(rows, c)
	}
	return rows
}

// cors reads a row into c, and returns why the row has no effect.
func (r *reader) cors(n *objectdb.Node, c *CORS) (err error) {
	if !strings.HasPrefix(n.Name(), "/") {
		return fmt.Errorf("the path prefix %.200q does not begin with /", n.Name())
	}
	if n.Kind() != objectdb.KindTable {
		c.Origins, err = r.words(n)
		if err != nil {
			return err
		}
		return c.check()
	}
	for _, cell := range r.in(n) {
		switch objectdb.Fold(cell.Name()) {
		case "origins":
			c.Origins, err = r.words(cell)
		case "methods":
			c.Methods, err = r.words(cell)
		case "headers":
			c.Headers, err = r.words(cell)
		case "expose":
			c.Expose, err = r.words(cell)
		case "credentials":
			c.Credentials, err = r.truth(cell)
		case "maxage":
			c.MaxAge, err = r.seconds(cell)
		default:
			err = errors.New("there is no such cell: a row has origins, methods, headers, expose, credentials and maxAge")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", cell.Name(), err)
		}
	}
	return c.check()
}

// check returns an error for a row that would let in others than its author means. It writes the methods in
// upper case.
func (c *CORS) check() error {
	if len(c.Origins) == 0 {
		return errors.New("it names no origins")
	}
	for i, origin := range c.Origins {
		c.Origins[i] = strings.ToLower(origin)
		if err := checkOrigin(c.Origins[i]); err != nil {
			return err
		}
	}
	if c.AnyOrigin() && len(c.Origins) > 1 {
		return errors.New("* stands for every origin: it cannot stand beside others")
	}
	if c.AnyOrigin() && c.Credentials {
		return errors.New("credentials cannot go with the origin *: any site could act as the visitor; name the origins")
	}
	for _, list := range [...]struct {
		what  string
		words []string
	}{{"method", c.Methods}, {"header", c.Headers}, {"header", c.Expose}} {
		for _, word := range list.words {
			if strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
				return fmt.Errorf("%.60q is no %s", word, list.what)
			}
		}
	}
	methods := make([]string, len(c.Methods))
	for i, m := range c.Methods {
		methods[i] = strings.ToUpper(m)
	}
	c.Methods = methods
	return nil
}

// checkOrigin returns an error for a text that is neither * nor an origin as browsers send it.
func checkOrigin(origin string) error {
	if origin == "*" {
		return nil
	}
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" || !IsHost(u.Host) || u.Scheme+"://"+u.Host != origin {
		return fmt.Errorf("%.200q is no origin such as https://app.example or http://localhost:5173, nor *", origin)
	}
	if port := u.Port(); u.Scheme == "http" && port == "80" || u.Scheme == "https" && port == "443" {
		return fmt.Errorf("browsers send the origin %s without the port %s", origin, port)
	}
	return nil
}

// words returns the words of a text, with blanks or commas between them, or the texts of a list.
func (r *reader) words(n *objectdb.Node) ([]string, error) {
	switch n.Kind() {
	case objectdb.KindString, objectdb.KindText:
		return strings.FieldsFunc(r.text(n), func(c rune) bool { return c == ',' || c == ' ' || c == '\t' || c == '\n' }), nil
	case objectdb.KindList:
		v, err := r.tx.Value(n)
		r.note(err)
		list, _ := v.(objectdb.List)
		var words []string
		for _, item := range list {
			word, ok := item.(objectdb.String)
			if !ok {
				return nil, errors.New("the list has an item that is no text")
			}
			words = append(words, string(word))
		}
		return words, nil
	}
	return nil, fmt.Errorf("it is a %s, not a text or a list", n.Kind())
}

// truth returns the value of a boolean.
func (r *reader) truth(n *objectdb.Node) (bool, error) {
	if n.Kind() == objectdb.KindBoolean {
		v, err := r.tx.Value(n)
		r.note(err)
		yes, _ := v.(objectdb.Boolean)
		return bool(yes), nil
	}
	return false, fmt.Errorf("it is a %s, not a boolean", n.Kind())
}

// maxCORSAge is the longest time that any browser remembers a preflight, in seconds.
const maxCORSAge = 86400

func (r *reader) seconds(n *objectdb.Node) (int, error) {
	if n.Kind() != objectdb.KindNumber {
		return 0, fmt.Errorf("it is a %s, not a number", n.Kind())
	}
	v, err := r.tx.Value(n)
	r.note(err)
	number, _ := v.(objectdb.Number)
	if err := whole(0, maxCORSAge)(number); err != nil {
		return 0, errors.New(strconv.FormatFloat(float64(number), 'f', -1, 64) + " is not between 0 and 86400 seconds")
	}
	return int(number), nil
}
