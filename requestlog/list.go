package requestlog

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"scripter/objectdb"
	"scripter/site"
)

// ErrNotFound is the error for a request that is not recorded.
var ErrNotFound = errors.New("no such request is recorded")

// numberOf returns the number of the recorded request whose table has a name. Scripts may have put
// other objects there.
func numberOf(name string, k objectdb.Kind) (number int, ok bool) {
	n, err := strconv.Atoi(name)
	return n, err == nil && n > 0 && k == objectdb.KindTable && nameOf(n) == name
}

// numbers returns the numbers of the recorded requests in ascending order.
func numbers(tx *objectdb.Tx) ([]int, error) {
	list, err := tx.List(Log)
	if objectdb.IsMissing(err) {
		return nil, nil
	}
	var numbers []int
	for _, o := range list {
		if n, ok := numberOf(o.Name, o.Kind); ok {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, err
}

// All returns the recorded requests, the oldest first.
func All(tx *objectdb.Tx) ([]*Request, error) {
	numbers, err := numbers(tx)
	if err != nil {
		return nil, err
	}
	var list []*Request
	for _, n := range numbers {
		r, err := read(tx, n)
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

// Find returns the recorded request with a number; 0 means the last. If there is none,
// the error wraps [ErrNotFound] and gives the reason.
func Find(tx *objectdb.Tx, number int) (*Request, error) {
	if number > 0 {
		switch n, err := tx.Find(Log.Child(nameOf(number))); {
		case err == nil && n.Kind() == objectdb.KindTable:
			return read(tx, number)
		case err != nil && !objectdb.IsMissing(err):
			return nil, err
		}
	}
	last, err := findNewest(tx, 0)
	switch {
	case err != nil:
		return nil, err
	case last == 0:
		return nil, fmt.Errorf("%w: %s is empty", ErrNotFound, Log)
	case number == 0:
		return read(tx, last)
	}
	numbers, err := numbers(tx)
	if err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("%w: the recorded ones are %d to %d, not %d", ErrNotFound, numbers[0], last, number)
}

// findNewest returns the number of the last recorded request whose number is below before, or of the last
// one for 0. It returns 0 if there is none.
func findNewest(tx *objectdb.Tx, before int) (int, error) {
	for n, err := range newest(tx, before) {
		if err != nil {
			return 0, err
		}
		number, _ := numberOf(n.Name(), n.Kind())
		return number, nil
	}
	return 0, nil
}

// FindBefore returns the last recorded request whose number is below number.
func FindBefore(tx *objectdb.Tx, number int) (*Request, error) {
	if number <= 0 {
		return nil, fmt.Errorf("%w before this one", ErrNotFound)
	}
	last, err := findNewest(tx, number)
	if err != nil {
		return nil, err
	}
	if last == 0 {
		return nil, fmt.Errorf("%w before this one", ErrNotFound)
	}
	return read(tx, last)
}

// FindIncident returns the recorded request that failed with the incident number shown to
// the visitor. If there is none, the error wraps [ErrNotFound] and gives the reason.
func FindIncident(tx *objectdb.Tx, incident string) (*Request, error) {
	count := 0
	for table, err := range newest(tx, 0) {
		if err != nil {
			return nil, err
		}
		found, err := hasIncident(tx, table, incident)
		if err != nil {
			return nil, err
		}
		if found {
			number, _ := numberOf(table.Name(), table.Kind())
			return read(tx, number)
		}
		count++
	}
	s, err := site.Read(tx)
	switch {
	case err != nil:
		return nil, err
	case !s.Flag(site.FlDebug):
		return nil, fmt.Errorf("%w: Debugging is off", ErrNotFound)
	case count == 0:
		return nil, fmt.Errorf("%w: %s is empty", ErrNotFound, Log)
	}
	return nil, fmt.Errorf("%w: none of the last %d has incident %s", ErrNotFound, count, incident)
}

// hasIncident reports whether a recorded request failed with an incident number.
func hasIncident(tx *objectdb.Tx, table *objectdb.Node, incident string) (bool, error) {
	n, err := tx.Child(table, "incident")
	if objectdb.IsMissing(err) || err == nil && n.Kind() != objectdb.KindString {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	v, err := tx.Value(n)
	return v == objectdb.String(incident), err
}

// ServerNameWarning returns a warning if name differs from the web server's own name in
// the last recorded request (specification, 2.2), or "".
func ServerNameWarning(tx *objectdb.Tx, name string) string {
	r, err := Find(tx, 0)
	if err != nil || name == "" {
		return ""
	}
	if own := r.Variables["SERVER_SOFTWARE"]; own != "" && own != name {
		return fmt.Sprintf("the web server calls itself %q, by the last recorded request; \"\" takes this name", own)
	}
	return ""
}

// read reads a recorded request. The owner may have deleted parts of it.
func read(tx *objectdb.Tx, number int) (*Request, error) {
	return readCells(tx, number, func(string) bool { return true })
}

// readCells reads the cells of a recorded request whose names are wanted.
func readCells(tx *objectdb.Tx, number int, wanted func(name string) bool) (*Request, error) {
	r := &Request{Number: number, Variables: map[string]string{}}
	table, err := tx.Find(r.address())
	if err != nil {
		return nil, err
	}
	children, err := tx.Children(table)
	if err != nil {
		return nil, err
	}
	cells := make(map[string]objectdb.Value, len(children))
	for _, n := range children {
		if n.Kind() == objectdb.KindTable || !wanted(n.Name()) {
			continue
		}
		if cells[n.Name()], err = tx.Value(n); err != nil {
			return nil, err
		}
	}
	r.read(cells)
	return r, nil
}

func (r *Request) read(cells map[string]objectdb.Value) {
	text := func(name string) string { s, _ := cells[name].(objectdb.String); return string(s) }
	number := func(name string) float64 { n, _ := cells[name].(objectdb.Number); return float64(n) }
	flag := func(name string) bool { b, _ := cells[name].(objectdb.Boolean); return bool(b) }
	texts := func(name string) []string {
		var list []string
		l, _ := cells[name].(objectdb.List)
		for _, v := range l {
			if s, ok := v.(objectdb.String); ok {
				list = append(list, string(s))
			}
		}
		return list
	}
	if d, ok := cells["time"].(objectdb.Date); ok {
		r.Time = d.Time
	}
	r.Generation = int64(number("generation"))
	for _, v := range texts("variables") {
		if name, value, ok := strings.Cut(v, "="); ok {
			r.Variables[name] = value
		}
	}
	r.Body, r.BodySize = text("body"), int64(number("bodySize"))
	r.ConnectionID, r.Seed = uint64(number("connectionID")), int64(number("seed"))
	r.Developer, r.Secrets = flag("developer"), flag("secrets")
	r.HandlerNames, r.Masked, r.Cut = texts("handlerNames"), texts("masked"), texts("cut")
	r.Incident, r.Error = text("incident"), text("error")
	r.Fetches = parseFetches(texts("fetches"))
	if _, known := cells["read"]; known {
		r.Reads = &Reads{parseAddresses(texts("read")), parseAddresses(texts("readTables")), max(0, int(number("readMore")))}
	}
	if _, known := cells["status"]; known {
		r.Duration = time.Duration(math.Round(number("milliseconds") * float64(time.Millisecond)))
		r.Answer = &Answer{
			Status: int(number("status")), Head: text("responseHead"), Body: text("responseBody"),
			Size: int64(number("responseSize")), SHA256: text("responseSHA256"),
		}
	}
}
