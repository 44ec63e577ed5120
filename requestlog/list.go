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

// numbers returns the numbers of the recorded requests in ascending order.
func numbers(tx *objectdb.Tx) ([]int, error) {
	list, err := tx.List(Log)
	if errors.Is(err, objectdb.ErrNotFound) || errors.Is(err, objectdb.ErrNotTable) {
		return nil, nil
	}
	var numbers []int
	for _, o := range list {
		n, err := strconv.Atoi(o.Name)
		if err == nil && n > 0 && o.Kind == objectdb.KindTable && (&Request{Number: n}).address().Name() == o.Name {
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
	numbers, err := numbers(tx)
	switch {
	case err != nil:
		return nil, err
	case len(numbers) == 0:
		return nil, fmt.Errorf("%w: %s is empty", ErrNotFound, Log)
	case number == 0:
		number = numbers[len(numbers)-1]
	case !slices.Contains(numbers, number):
		first, last := numbers[0], numbers[len(numbers)-1]
		return nil, fmt.Errorf("%w: the recorded ones are %d to %d, not %d", ErrNotFound, first, last, number)
	}
	return read(tx, number)
}

// FindBefore returns the last recorded request whose number is below number.
func FindBefore(tx *objectdb.Tx, number int) (*Request, error) {
	list, err := numbers(tx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(list, func(n int) bool { return n >= number })
	if i < 0 {
		i = len(list)
	}
	if i == 0 {
		return nil, fmt.Errorf("%w before this one", ErrNotFound)
	}
	return read(tx, list[i-1])
}

// FindIncident returns the recorded request that failed with the incident number shown to
// the visitor. If there is none, the error wraps [ErrNotFound] and gives the reason.
func FindIncident(tx *objectdb.Tx, incident string) (*Request, error) {
	count := 0
	for h, err := range Heads(tx, 0) {
		if err != nil {
			return nil, err
		}
		if h.Incident == incident {
			return read(tx, h.Number)
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
	if _, known := cells["status"]; known {
		r.Duration = time.Duration(math.Round(number("milliseconds") * float64(time.Millisecond)))
		r.Answer = &Answer{
			Status: int(number("status")), Head: text("responseHead"), Body: text("responseBody"),
			Size: int64(number("responseSize")), SHA256: text("responseSHA256"),
		}
	}
}
