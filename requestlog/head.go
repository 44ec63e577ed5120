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
		numbers, err := numbers(tx)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, n := range slices.Backward(numbers) {
			if before > 0 && n >= before {
				continue
			}
			h, err := readHead(tx, n)
			if !yield(h, err) || err != nil {
				return
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
