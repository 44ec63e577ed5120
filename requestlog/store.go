package requestlog

import (
	"fmt"
	"maps"
	"slices"

	"scripter/objectdb"
	"scripter/site"
)

// Log is the table of the last requests. Each is a table whose name is its number with 9
// digits, so that the order of the names is that of the requests.
var Log = site.RequestLog

func (r *Request) address() objectdb.Address { return Log.Child(nameOf(r.Number)) }

func nameOf(number int) string { return fmt.Sprintf("%09d", number) }

// Add numbers the request and stores it as one of the last max; if max is 0, it stores
// nothing. The transaction holds the writer's lock, so each request gets its own number.
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

// maxLine bounds the first line of a request where requests are listed, in bytes.
const maxLine = 1000

// rows returns the objects that record a request before its run.
func (r *Request) rows() []row {
	var variables objectdb.List
	for _, name := range slices.Sorted(maps.Keys(r.Variables)) {
		variables = append(variables, objectdb.String(name+"="+r.Variables[name]))
	}
	rows := []row{
		{"time", objectdb.Date{Time: r.Time.UTC()}},
		r.generationRow(),
		{"request", objectdb.String(cutText(r.Line(), maxLine))},
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

func (r *Request) generationRow() row { return row{"generation", objectdb.Number(r.Generation)} }

func listOfTexts(texts []string) objectdb.List {
	list := make(objectdb.List, len(texts))
	for i, s := range texts {
		list[i] = objectdb.String(s)
	}
	return list
}

// AddOutcome stores the outcome of the request, if the request is still recorded.
func (r *Request) AddOutcome(tx *objectdb.Tx) error {
	seed, err := tx.Get(r.address().Child("seed"))
	switch {
	case objectdb.IsMissing(err):
		return nil
	case err != nil:
		return err
	case seed != objectdb.Number(r.Seed):
		return nil // the log was emptied and the number used again
	}
	rows := []row{
		r.generationRow(),
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
	rows = append(rows, r.fetchRows()...)
	return r.put(tx, append(rows, r.Reads.rows()...))
}
