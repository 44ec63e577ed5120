package gateway

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"scripter/objectdb"
)

// cgiparamsLog is the table of the last requests, beside scratchpad.cgiparams:
// each a table under its number, 9 digits, so that they lie in their order.
var cgiparamsLog = objectdb.Address{"scratchpad", "cgiparamsLog"}

// keptVariables bounds the variables of a kept request, in bytes.
const keptVariables = 64 << 10

// ErrNotKept is the reason why a kept request is not found.
var ErrNotKept = errors.New("no such request is kept")

// Kept is a request that Debugging has kept, with what became of it.
type Kept struct {
	Number       int
	Time         time.Time
	Variables    map[string]string // CGI variables, secrets masked
	Body         string
	BodySize     int64 // as it arrived, in bytes
	HandlerNames []string
	Developer    bool // errors were shown in full

	// Masked says what was masked, Cut what was too long to be kept: names of
	// variables, "field NAME" for one of a form, "body".
	Masked, Cut []string
	// Secrets is true when nothing was masked (flDebugSecrets).
	Secrets bool

	Answer   *Recorded // nil when it is not known: the run goes on, or was killed
	Duration time.Duration
	Incident string
	Error    string // of a failure, in full

	connection uint64
	seed       int64
}

// Line is the first line of the request: method and URL.
func (k *Kept) Line() string {
	url := k.Variables["REQUEST_URI"]
	if url == "" {
		url = k.Variables["SCRIPT_NAME"] + k.Variables["PATH_INFO"]
		if q := k.Variables["QUERY_STRING"]; q != "" {
			url += "?" + q
		}
	}
	return k.Variables["REQUEST_METHOD"] + " " + url
}

// newKept makes what is kept of a request. r and body have no secrets, unless
// m is nil.
func newKept(r *Request, m *masking, body string) *Kept {
	k := &Kept{
		Body: body, HandlerNames: r.HandlerNames, Secrets: m == nil, seed: newSeed(),
	}
	if m != nil {
		k.Masked = slices.Sorted(slices.Values(m.names))
	}
	k.Variables, k.Cut = boundVariables(r.Params)
	if len(k.Body) > keptBody {
		k.Body = k.Body[:keptBody]
		k.Cut = append(k.Cut, bodyItem)
	}
	return k
}

// boundVariables leaves out what would make the variables longer than
// keptVariables: fields of the client first, long ones before short ones.
func boundVariables(all map[string]string) (kept map[string]string, cut []string) {
	names := slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		fieldA, fieldB := strings.HasPrefix(a, "HTTP_"), strings.HasPrefix(b, "HTTP_")
		switch {
		case fieldA != fieldB && fieldB:
			return -1
		case fieldA != fieldB:
			return 1
		}
		return cmp.Or(len(all[a])-len(all[b]), strings.Compare(a, b))
	})
	kept, left := make(map[string]string, len(all)), keptVariables
	for _, name := range names {
		size := len(name) + len(all[name]) + 8
		if left -= size; left < 0 {
			cut = append(cut, name)
			continue
		}
		kept[name] = all[name]
	}
	slices.Sort(cut)
	return kept, cut
}

func (k *Kept) address() objectdb.Address {
	return cgiparamsLog.Child(fmt.Sprintf("%09d", k.Number))
}

// add gives the request its number and keeps it, as one of the last max; 0
// keeps none.
func (k *Kept) add(tx *objectdb.Tx, max int) error {
	if n, err := tx.Find(cgiparamsLog); err == nil && n.Kind() != objectdb.KindTable {
		if err := tx.Delete(cgiparamsLog); err != nil {
			return err
		}
	}
	numbers, err := keptNumbers(tx)
	if err != nil {
		return err
	}
	if len(numbers) > 0 {
		k.Number = numbers[len(numbers)-1]
	}
	k.Number++
	if max > 0 {
		if err := k.put(tx, k.rows()); err != nil {
			return err
		}
	}
	for i := 0; i < len(numbers)-(max-1) && i < len(numbers); i++ {
		if err := tx.Delete((&Kept{Number: numbers[i]}).address()); err != nil {
			return err
		}
	}
	if max == 0 {
		k.Number = 0
	}
	return nil
}

type row struct {
	name  string
	value objectdb.Value
}

func (k *Kept) put(tx *objectdb.Tx, rows []row) error {
	table := k.address()
	for _, r := range rows {
		if err := tx.Put(table.Child(r.name), r.value); err != nil {
			return err
		}
	}
	return nil
}

// rows are the objects of a request before its run.
func (k *Kept) rows() []row {
	var variables objectdb.List
	for _, name := range slices.Sorted(maps.Keys(k.Variables)) {
		variables = append(variables, objectdb.String(name+"="+k.Variables[name]))
	}
	rows := []row{
		{"time", objectdb.Date{Time: k.Time.UTC()}},
		{"request", objectdb.String(cutText(k.Line(), 1000))},
		{"variables", variables},
		{"body", objectdb.String(k.Body)},
		{"bodySize", objectdb.Number(k.BodySize)},
		{"connectionID", objectdb.Number(k.connection)},
		{"seed", objectdb.Number(k.seed)},
		{"developer", objectdb.Boolean(k.Developer)},
		{"secrets", objectdb.Boolean(k.Secrets)},
	}
	for _, l := range []struct {
		name string
		list []string
	}{{"handlerNames", k.HandlerNames}, {"masked", k.Masked}, {"cut", k.Cut}} {
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

// addOutcome keeps what became of the request, if it is still kept.
func (k *Kept) addOutcome(tx *objectdb.Tx) error {
	seed, err := tx.Get(k.address().Child("seed"))
	switch {
	case errors.Is(err, objectdb.ErrNotFound), errors.Is(err, objectdb.ErrNotTable):
		return nil
	case err != nil:
		return err
	case seed != objectdb.Number(k.seed):
		return nil // the log was emptied, and the number given again
	}
	rows := []row{
		{"status", objectdb.Number(k.Answer.Status)},
		{"milliseconds", objectdb.Number(float64(k.Duration.Microseconds()) / 1000)},
		{"responseHead", objectdb.String(k.Answer.Head)},
		{"responseSize", objectdb.Number(k.Answer.Size)},
	}
	if k.Answer.Whole() {
		rows = append(rows, row{"responseBody", objectdb.String(k.Answer.Body)})
	} else {
		rows = append(rows, row{"responseSHA256", objectdb.String(k.Answer.SHA256)})
	}
	if k.Incident != "" {
		rows = append(rows, row{"incident", objectdb.String(k.Incident)})
	}
	if k.Error != "" {
		rows = append(rows, row{"error", objectdb.String(k.Error)})
	}
	return k.put(tx, rows)
}

// keptNumbers gives the numbers of the kept requests, in their order.
func keptNumbers(tx *objectdb.Tx) ([]int, error) {
	list, err := tx.List(cgiparamsLog)
	if errors.Is(err, objectdb.ErrNotFound) || errors.Is(err, objectdb.ErrNotTable) {
		return nil, nil
	}
	var numbers []int
	for _, o := range list {
		if n, err := strconv.Atoi(o.Name); err == nil && n > 0 && o.Kind == objectdb.KindTable && (&Kept{Number: n}).address().Name() == o.Name {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, err
}

// KeptRequests gives the requests that Debugging has kept, the oldest first.
func KeptRequests(tx *objectdb.Tx) ([]*Kept, error) {
	numbers, err := keptNumbers(tx)
	if err != nil {
		return nil, err
	}
	var list []*Kept
	for _, n := range numbers {
		k, err := readKept(tx, n)
		if err != nil {
			return nil, err
		}
		list = append(list, k)
	}
	return list, nil
}

// KeptRequest gives the kept request with a number; 0 is the last. Its error
// is ErrNotKept when there is none.
func KeptRequest(tx *objectdb.Tx, number int) (*Kept, error) {
	numbers, err := keptNumbers(tx)
	switch {
	case err != nil:
		return nil, err
	case len(numbers) == 0:
		return nil, fmt.Errorf("%w: %s is empty", ErrNotKept, cgiparamsLog)
	case number == 0:
		number = numbers[len(numbers)-1]
	case !slices.Contains(numbers, number):
		return nil, fmt.Errorf("%w: the kept ones are %d to %d, not %d", ErrNotKept, numbers[0], numbers[len(numbers)-1], number)
	}
	return readKept(tx, number)
}

// IsIncident reports whether text has the form of an incident's number.
func IsIncident(text string) bool {
	return len(text) == incidentLength && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz234567") == ""
}

// KeptIncident returns the kept request whose failure has the number that a visitor
// reads. If there is none, the error wraps ErrNotKept and says why.
func KeptIncident(tx *objectdb.Tx, incident string) (*Kept, error) {
	list, err := KeptRequests(tx)
	if err != nil {
		return nil, err
	}
	for _, k := range list {
		if k.Incident == incident {
			return k, nil
		}
	}
	s := readSettings(tx)
	switch {
	case !s.flag(flDebug):
		return nil, fmt.Errorf("%w: Debugging is off", ErrNotKept)
	case len(list) == 0:
		return nil, fmt.Errorf("%w: %s is empty", ErrNotKept, cgiparamsLog)
	}
	return nil, fmt.Errorf("%w: none of the last %d has incident %s", ErrNotKept, len(list), incident)
}

// readKept reads a kept request. What its owner took out is missing.
func readKept(tx *objectdb.Tx, number int) (*Kept, error) {
	k := &Kept{Number: number, Variables: map[string]string{}}
	table, err := tx.Find(k.address())
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
	k.read(cells)
	return k, nil
}

func (k *Kept) read(cells map[string]objectdb.Value) {
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
		k.Time = d.Time
	}
	for _, v := range texts("variables") {
		if name, value, ok := strings.Cut(v, "="); ok {
			k.Variables[name] = value
		}
	}
	k.Body, k.BodySize = text("body"), int64(number("bodySize"))
	k.connection, k.seed = uint64(number("connectionID")), int64(number("seed"))
	k.Developer, k.Secrets = flag("developer"), flag("secrets")
	k.HandlerNames, k.Masked, k.Cut = texts("handlerNames"), texts("masked"), texts("cut")
	k.Incident, k.Error = text("incident"), text("error")
	if _, known := cells["status"]; known {
		k.Duration = time.Duration(number("milliseconds") * float64(time.Millisecond))
		k.Answer = &Recorded{
			Status: int(number("status")), Head: text("responseHead"), Body: text("responseBody"),
			Size: int64(number("responseSize")), SHA256: text("responseSHA256"),
		}
	}
}
