package requestlog

import (
	"iter"
	"slices"
	"strings"
	"time"

	"scripter/objectdb"
)

// A Head is what a list shows of a recorded request. Its secrets are masked, also those that were
// recorded as they are.
type Head struct {
	Number   int
	Time     time.Time
	Line     string // method and URL, cut if they are long
	User     string // who has logged in by the web server, or ""
	Address  string // of the client
	Answered bool   // the outcome is recorded
	Status   int
	Duration time.Duration
	Incident string
}

// Milliseconds returns how long the request took.
func (h *Head) Milliseconds() float64 { return float64(h.Duration) / float64(time.Millisecond) }

// Heads yields what a list shows of the recorded requests, the newest first; if before is not 0,
// of those with a lower number. Of each it reads neither the body nor the answer.
func Heads(tx *objectdb.Tx, before int) iter.Seq2[*Head, error] {
	return func(yield func(*Head, error) bool) {
		for n, err := range newest(tx, before) {
			if err != nil {
				yield(nil, err)
				return
			}
			number, _ := numberOf(n.Name(), n.Kind())
			h, err := readHead(tx, number)
			if !yield(h, err) || err != nil {
				return
			}
		}
	}
}

// newest yields the tables of the recorded requests with a number below before, or of all for 0, the
// newest first. It reads some at a time.
func newest(tx *objectdb.Tx, before int) iter.Seq2[*objectdb.Node, error] {
	return func(yield func(*objectdb.Node, error) bool) {
		const some = 64
		log, err := tx.Find(Log)
		if objectdb.IsMissing(err) || err == nil && log.Kind() != objectdb.KindTable {
			return
		}
		end := ""
		if before > 0 {
			end = nameOf(before)
		}
		for more := true; more; {
			var list []*objectdb.Node
			if err == nil {
				list, err = tx.Page(log, "", end, true, some)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			for _, n := range slices.Backward(list) {
				if _, ok := numberOf(n.Name(), n.Kind()); ok && !yield(n, nil) {
					return
				}
			}
			if more = len(list) == some; more {
				end = objectdb.Fold(list[0].Name())
			}
		}
	}
}

func readHead(tx *objectdb.Tx, number int) (*Head, error) {
	r, err := readCells(tx, number, func(name string) bool {
		switch name {
		case "time", "variables", "status", "milliseconds", "incident":
			return true
		}
		return false
	})
	if err != nil {
		return nil, err
	}
	h := &Head{Number: number, Time: r.Time, User: r.Variables["REMOTE_USER"], Address: r.Variables["REMOTE_ADDR"],
		Line: r.Line(), Duration: r.Duration, Incident: r.Incident}
	if r.Answer != nil {
		h.Answered, h.Status = true, r.Answer.Status
	}
	if path, query, ok := strings.Cut(h.Line, "?"); ok {
		h.Line = path + "?" + MaskForm(query)
	}
	h.Line = cutText(h.Line, maxLine)
	return h, nil
}
