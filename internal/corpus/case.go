package corpus

import (
	"embed"
	"encoding/hex"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

//go:embed testdata/*.txtar
var testdata embed.FS

// A Case is one file of testdata: the files that it needs, and its requests.
type Case struct {
	Name  string // of its file, without the suffix
	About string
	Files []File
	Steps []Step
}

// A File is an object or a page of a case. Its Name begins with "root/", "site/" or
// "second/".
type File struct {
	Name string
	Data []byte
}

// A Step is one request and the checks of its answer. The steps of a case run one after
// the other.
type Step struct {
	SameConn bool   // sent on the connection of the step before, if the server keeps it open
	Head     string // request line and fields, with LF as line end and with placeholders
	Body     string
	Want     Want
}

// Load reads all cases, in the order of their names, and the files that they share. It
// returns an error if two cases write the same file, because all share one site.
func Load() (cases []Case, shared []File, err error) {
	entries, err := testdata.ReadDir("testdata")
	if err != nil {
		return nil, nil, err
	}
	owner := map[string]string{}
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".txtar")
		text, err := testdata.ReadFile(path.Join("testdata", e.Name()))
		if err != nil {
			return nil, nil, err
		}
		c, err := parseCase(name, text)
		if err != nil {
			return nil, nil, fmt.Errorf("case %s: %w", name, err)
		}
		for _, f := range c.Files {
			// Names of objects ignore case.
			key := strings.ToLower(f.Name)
			if other, taken := owner[key]; taken {
				return nil, nil, fmt.Errorf("case %s: case %s writes %s too", name, other, f.Name)
			}
			owner[key] = name
		}
		if len(c.Steps) == 0 {
			shared = append(shared, c.Files...)
			continue
		}
		cases = append(cases, c)
	}
	return cases, shared, nil
}

func parseCase(name string, text []byte) (Case, error) {
	a := txtar.Parse(text)
	c := Case{Name: name, About: strings.TrimSpace(string(a.Comment))}
	if c.About == "" {
		return c, fmt.Errorf("does not say what it checks")
	}
	for _, f := range a.Files {
		if err := c.section(f.Name, string(f.Data)); err != nil {
			return c, fmt.Errorf("section %q: %w", f.Name, err)
		}
	}
	for i, s := range c.Steps {
		if len(s.Want.checks) == 0 {
			return c, fmt.Errorf("request %d has no checks", i+1)
		}
	}
	return c, nil
}

func (c *Case) section(name, data string) error {
	var step *Step
	if len(c.Steps) > 0 {
		step = &c.Steps[len(c.Steps)-1]
	}
	switch {
	case name == "request", name == "request kept" && step != nil:
		c.Steps = append(c.Steps, Step{SameConn: name != "request", Head: unescape(strings.TrimRight(data, "\n"))})
	case step == nil && isSiteFile(name):
		f, err := siteFile(name, data)
		if err != nil {
			return err
		}
		c.Files = append(c.Files, f)
	case step == nil:
		return fmt.Errorf("is neither a file of the site nor a request")
	case name == "request body":
		step.Body = unescape(strings.TrimSuffix(data, "\n"))
	case name == "want":
		return step.Want.parse(data)
	case name == "want body":
		step.Want.wholeBody(strings.TrimSuffix(data, "\n"))
	default:
		return fmt.Errorf("is unknown")
	}
	return nil
}

func isSiteFile(name string) bool {
	top, rest, ok := strings.Cut(name, "/")
	return ok && rest != "" && (top == "root" || top == "site" || top == "second")
}

func siteFile(name, data string) (File, error) {
	if plain, ok := strings.CutSuffix(name, ".hex"); ok {
		raw, err := hex.DecodeString(strings.Join(strings.Fields(data), ""))
		return File{plain, raw}, err
	}
	// The value of a string is the whole file; the last line end belongs to the archive.
	if strings.HasSuffix(name, ".str") {
		data = strings.TrimSuffix(data, "\n")
	}
	return File{name, []byte(data)}, nil
}

var escapedByte = regexp.MustCompile(`\\x[0-9a-fA-F]{2}`)

func unescape(s string) string {
	return escapedByte.ReplaceAllStringFunc(s, func(e string) string {
		b, _ := strconv.ParseUint(e[2:], 16, 8) // two hexadecimal digits always parse
		return string([]byte{byte(b)})
	})
}
