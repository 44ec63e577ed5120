package requestlog

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"scripter/objectdb"
)

// Log is the table of the last requests, beside [LastParams]: each a table under its
// number, with 9 digits, so that they are in their order.
var Log = objectdb.Address{"scratchpad", "cgiparamsLog"}

// ErrNotFound is the reason why a recorded request is not found.
var ErrNotFound = errors.New("no such request is kept")

func (r *Request) address() objectdb.Address {
	return Log.Child(fmt.Sprintf("%09d", r.Number))
}

// Add gives the request its number and stores it as one of the last max; if max is 0, it
// stores none. The transaction holds the writer's lock: no two requests get one number.
func (r *Request) Add(tx *objectdb.Tx, max int) error {
	if n, err := tx.Find(Log); err == nil && n.Kind() != objectdb.KindTable {
		if err := tx.Delete(Log); err != nil {
			return err
		}
	}
	numbers, err := numbers(tx)
	if err != nil {
		return err
	}
	if len(numbers) > 0 {
		r.Number = numbers[len(numbers)-1]
	}
	r.Number++
	if max > 0 {
		if err := r.put(tx, r.rows()); err != nil {
			return err
		}
	}
	for i := 0; i < len(numbers)-(max-1) && i < len(numbers); i++ {
		if err := tx.Delete((&Request{Number: numbers[i]}).address()); err != nil {
			return err
		}
	}
	if max == 0 {
		r.Number = 0
	}
	return nil
}

type row struct {
	name  string
	value objectdb.Value
}

func (r *Request) put(tx *objectdb.Tx, rows []row) error {
	table := r.address()
	for _, c := range rows {
		if err := tx.Put(table.Child(c.name), c.value); err != nil {
			return err
		}
	}
	return nil
}

// rows are the objects of a request before its run.
func (r *Request) rows() []row {
	var variables objectdb.List
	for _, name := range slices.Sorted(maps.Keys(r.Variables)) {
		variables = append(variables, objectdb.String(name+"="+r.Variables[name]))
	}
	rows := []row{
		{"time", objectdb.Date{Time: r.Time.UTC()}},
		{"request", objectdb.String(cutText(r.Line(), 1000))},
		{"variables", variables},
		{"body", objectdb.String(r.Body)},
		{"bodySize", objectdb.Number(r.BodySize)},
		{"connectionID", objectdb.Number(r.ConnectionID)},
		{"seed", objectdb.Number(r.Seed)},
		{"developer", objectdb.Boolean(r.Developer)},
		{"secrets", objectdb.Boolean(r.Secrets)},
	}
	for _, l := range []struct {
		name string
		list []string
	}{{"handlerNames", r.HandlerNames}, {"masked", r.Masked}, {"cut", r.Cut}} {
		if len(l.list) > 0 {
			rows = append(rows, row{l.name, listOfTexts(l.list)})
		}
	}
	return rows
}

func listOfTexts(texts []string) objectdb.List {
	list := make(objectdb.List, len(texts))
	for i, s := range texts {
		list[i] = objectdb.String(s)
	}
	return list
}

// AddOutcome stores what became of the request, if the request is still recorded.
func (r *Request) AddOutcome(tx *objectdb.Tx) error {
	seed, err := tx.Get(r.address().Child("seed"))
	switch {
	case errors.Is(err, objectdb.ErrNotFound), errors.Is(err, objectdb.ErrNotTable):
		return nil
	case err != nil:
		return err
	case seed != objectdb.Number(r.Seed):
		return nil // the log was emptied, and the number given again
	}
	rows := []row{
		{"status", objectdb.Number(r.Answer.Status)},
		{"milliseconds", objectdb.Number(float64(r.Duration.Microseconds()) / 1000)},
		{"responseHead", objectdb.String(r.Answer.Head)},
		{"responseSize", objectdb.Number(r.Answer.Size)},
	}
	if r.Answer.Whole() {
		rows = append(rows, row{"responseBody", objectdb.String(r.Answer.Body)})
	} else {
		rows = append(rows, row{"responseSHA256", objectdb.String(r.Answer.SHA256)})
	}
	if r.Incident != "" {
		rows = append(rows, row{"incident", objectdb.String(r.Incident)})
	}
	if r.Error != "" {
		rows = append(rows, row{"error", objectdb.String(r.Error)})
	}
	return r.put(tx, rows)
}

// numbers returns the numbers of the recorded requests, in their order.
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

// Find returns the recorded request with a number; 0 is the last. If there is none, the
// error wraps [ErrNotFound] and says why.
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
		return nil, fmt.Errorf("%w: the kept ones are %d to %d, not %d", ErrNotFound, first, last, number)
	}
	return read(tx, number)
}

// FindBefore returns the last recorded request before that with a number.
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

// FindIncident returns the recorded request whose failure has the number that a visitor
// reads. If there is none, the error wraps [ErrNotFound] and says why.
func FindIncident(tx *objectdb.Tx, incident string) (*Request, error) {
	list, err := All(tx)
	if err != nil {
		return nil, err
	}
	for _, r := range list {
		if r.Incident == incident {
			return r, nil
		}
	}
	debugging, _ := tx.Get(objectdb.Address{"user", "webserver", "flDebug"})
	switch {
	case debugging != objectdb.Boolean(true):
		return nil, fmt.Errorf("%w: Debugging is off", ErrNotFound)
	case len(list) == 0:
		return nil, fmt.Errorf("%w: %s is empty", ErrNotFound, Log)
	}
	return nil, fmt.Errorf("%w: none of the last %d has incident %s", ErrNotFound, len(list), incident)
}

// read reads a recorded request. What its owner has taken out is missing.
func read(tx *objectdb.Tx, number int) (*Request, error) {
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
		if n.Kind() == objectdb.KindTable {
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
		r.Duration = time.Duration(number("milliseconds") * float64(time.Millisecond))
		r.Answer = &Answer{
			Status: int(number("status")), Head: text("responseHead"), Body: text("responseBody"),
			Size: int64(number("responseSize")), SHA256: text("responseSHA256"),
		}
	}
}
