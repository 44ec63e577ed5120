package corpus

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A Want has the checks of one answer, and what later requests of the case take from it.
type Want struct {
	checks []check
	keeps  []keep
}

// keep takes a text from an answer: what the first group of a pattern matches in the body, or in a field. {NAME} stands
// for it in the requests and checks of later steps.
type keep struct {
	name, field string // field "" is the body
	pattern     *regexp.Regexp
}

func (k keep) take(r *Response) (string, bool) {
	text := r.Body
	if k.field != "" {
		text, _ = r.Field(k.field)
	}
	m := k.pattern.FindStringSubmatch(text)
	if m == nil {
		return "", false
	}
	return m[1], true
}

// keep reads "NAME body REGEXP" or "NAME field FIELD REGEXP".
func (w *Want) keep(rest string) error {
	name, rest, _ := strings.Cut(rest, " ")
	from, pattern, _ := strings.Cut(rest, " ")
	k := keep{name: name}
	switch from {
	case "body":
	case "field":
		k.field, pattern, _ = strings.Cut(pattern, " ")
	default:
		return fmt.Errorf("%q is neither body nor field", from)
	}
	var err error
	if k.pattern, err = regexp.Compile(pattern); err != nil {
		return err
	}
	if k.pattern.NumSubexp() != 1 || name == "" {
		return fmt.Errorf("needs a name, and a pattern with one group")
	}
	w.keeps = append(w.keeps, k)
	return nil
}

// A check checks one aspect of an answer: "status", "reason", "body", or "field" and the
// field's name in lower case. look returns what the answer has and, if that is wrong, why.
type check struct {
	aspect string
	look   func(r *Response, fill func(string) string) (got, wrong string)
}

func (w *Want) parse(text string) error {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if line == "" {
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		var err error
		switch word {
		case "status":
			err = w.status(rest)
		case "field":
			err = w.field(rest)
		case "body":
			err = w.body(rest)
		case "keep":
			err = w.keep(rest)
		default:
			err = fmt.Errorf("begins with %q, not status, field, body or keep", word)
		}
		if err != nil {
			return fmt.Errorf("line %q: %w", line, err)
		}
	}
	return nil
}

// status reads "200", "200 OK" or "400 or 404".
func (w *Want) status(rest string) error {
	code, reason, _ := strings.Cut(rest, " ")
	codes := []string{code}
	if strings.HasPrefix(reason, "or ") {
		codes, reason = strings.Split(rest, " or "), ""
	}
	for _, c := range codes {
		if n, err := strconv.Atoi(c); err != nil || n < 200 || n > 599 {
			return fmt.Errorf("%q is not a status", c)
		}
	}
	w.add("status", func(r *Response, _ func(string) string) (string, string) {
		got := strconv.Itoa(r.Status)
		for _, c := range codes {
			if c == got {
				return got, ""
			}
		}
		return got, "want " + strings.Join(codes, " or ")
	})
	if reason != "" {
		w.add("reason", func(r *Response, _ func(string) string) (string, string) {
			return r.Reason, unequal(reason, r.Reason)
		})
	}
	return nil
}

// field reads "Name: value", "Name ~ regexp" or "Name absent".
func (w *Want) field(rest string) error {
	if name, ok := strings.CutSuffix(rest, " absent"); ok {
		w.add(fieldAspect(name), func(r *Response, _ func(string) string) (string, string) {
			if v, has := r.Field(name); has {
				return v, "want no such field"
			}
			return "", ""
		})
		return nil
	}
	if name, pattern, ok := strings.Cut(rest, " ~ "); ok && !strings.Contains(name, ":") {
		re, err := regexp.Compile(pattern)
		if err != nil {
			return err
		}
		w.add(fieldAspect(name), func(r *Response, _ func(string) string) (string, string) {
			v, has := r.Field(name)
			if !has {
				return "", "the field is missing"
			}
			return v, unmatched(re, v)
		})
		return nil
	}
	name, value, ok := strings.Cut(rest, ": ")
	if !ok {
		return fmt.Errorf("needs a colon, a tilde or the word absent")
	}
	w.add(fieldAspect(name), func(r *Response, fill func(string) string) (string, string) {
		v, has := r.Field(name)
		if !has {
			return "", "the field is missing"
		}
		return v, unequal(fill(value), v)
	})
	return nil
}

// body reads "contains TEXT", "lacks TEXT", "= QUOTED", "~ REGEXP",
// "length N" or "sha256 HEX".
func (w *Want) body(rest string) error {
	word, arg, _ := strings.Cut(rest, " ")
	switch word {
	case "contains":
		w.add("body", func(r *Response, fill func(string) string) (string, string) {
			if !strings.Contains(r.Body, fill(arg)) {
				return r.Body, fmt.Sprintf("want it to contain %q", fill(arg))
			}
			return r.Body, ""
		})
	case "lacks":
		w.add("body", func(r *Response, fill func(string) string) (string, string) {
			if strings.Contains(r.Body, fill(arg)) {
				return r.Body, fmt.Sprintf("want it to lack %q", fill(arg))
			}
			return r.Body, ""
		})
	case "=":
		text, err := strconv.Unquote(arg)
		if err != nil {
			return err
		}
		w.wholeBody(text)
	case "~":
		re, err := regexp.Compile(arg)
		if err != nil {
			return err
		}
		w.add("body", func(r *Response, _ func(string) string) (string, string) {
			return r.Body, unmatched(re, r.Body)
		})
	case "length":
		w.add("body", func(r *Response, _ func(string) string) (string, string) {
			n := strconv.Itoa(len(r.Body))
			return n + " bytes", unequal(arg, n)
		})
	case "sha256":
		w.add("body", func(r *Response, _ func(string) string) (string, string) {
			sum := sha256.Sum256([]byte(r.Body))
			got := hex.EncodeToString(sum[:])
			return got, unequal(arg, got)
		})
	default:
		return fmt.Errorf("%q is not a check of a body", word)
	}
	return nil
}

func (w *Want) wholeBody(text string) {
	w.add("body", func(r *Response, fill func(string) string) (string, string) {
		return r.Body, unequal(fill(text), r.Body)
	})
}

func (w *Want) add(aspect string, look func(*Response, func(string) string) (string, string)) {
	w.checks = append(w.checks, check{aspect, look})
}

func fieldAspect(name string) string { return "field " + strings.ToLower(name) }

func unequal(want, got string) string {
	if want == got {
		return ""
	}
	return fmt.Sprintf("want %q", clip(want))
}

func unmatched(re *regexp.Regexp, got string) string {
	if re.MatchString(got) {
		return ""
	}
	return "want a match of " + re.String()
}

// clip shortens a long text for a message.
func clip(s string) string {
	const most = 600
	if len(s) <= most {
		return s
	}
	return fmt.Sprintf("%s... (%d bytes)", s[:most], len(s))
}
