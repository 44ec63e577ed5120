package login

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"scripter/objectdb"
	"scripter/site"
)

// Failed tries are counted in user.webserver.failedLogins. After the free ones of a rule, the next try
// is answered after 1 s, then 2 s, 4 s and so on, up to the longest wait. One try of each forgetTime
// is forgotten. A try is counted before its password is checked, so that many at
// once do not pass; a try during a wait is refused unchecked and not counted.
//
// Who may wait for whom:
//
//   - A client from which the person has logged in lately has a counter for that name and client
//     alone. So nobody elsewhere can lock the person out there.
//   - All other clients share a counter of the name: many clients do not get more tries than
//     one. And each has a counter for all names that it tries, with more free tries, because
//     many people may share an address, but with longer waits than those of a name: so
//     one client that keeps on trying cannot keep a name locked for the others.
type rule struct {
	free    int
	longest time.Duration
}

var (
	nameRule   = rule{3, 300 * time.Second}
	clientRule = rule{20, time.Hour}
)

const (
	forgetTime = 10 * time.Minute
	// maxFailed is how many counters are kept. The ones with the fewest tries are dropped first,
	// so that tries with many made-up names do not drop those of one name.
	maxFailed = 1000
)

// counter is a place where tries are counted.
type counter struct {
	key  string // the name of its row: a digest, because people type passwords as names
	rule rule
}

func nameCounter(name string) counter {
	return counter{digest("name", objectdb.Fold(name)), nameRule}
}

func ownCounter(name, client string) counter {
	return counter{digest("own", objectdb.Fold(name), client), nameRule}
}

func clientCounter(client string) counter { return counter{digest("client", client), clientRule} }

// counters returns the counters of a try.
func (l *Login) counters(tx *objectdb.Tx, name, address string) ([]counter, error) {
	client := clientOf(address)
	known, err := l.knows(tx, name, client)
	if known {
		return []counter{ownCounter(name, client)}, err
	}
	return []counter{nameCounter(name), clientCounter(client)}, err
}

// failedRow is a row of user.webserver.failedLogins: JSON text.
type failedRow struct {
	Tries float64 `json:"tries"` // at the time of the last one
	Last  int64   `json:"last"`  // milliseconds since 1970
}

// left returns how many tries are not forgotten.
func (r failedRow) left(now time.Time) float64 {
	since := max(0, now.Sub(time.UnixMilli(r.Last))) // 0: a clock was set back
	return max(0, r.Tries-float64(since)/float64(forgetTime))
}

// wait returns how long the next try must wait.
func (r failedRow) wait(now time.Time, rule rule) time.Duration {
	more := int(math.Ceil(min(r.Tries, 1000))) - rule.free
	if more < 0 {
		return 0
	}
	wait := min(time.Second<<min(more, 20), rule.longest)
	return wait - max(0, now.Sub(time.UnixMilli(r.Last)))
}

// countTry counts a try. If it must wait, it is not counted, and the error is a [*WaitError].
func (l *Login) countTry(tx *objectdb.Tx, name, address string) error {
	counters, err := l.counters(tx, name, address)
	if err != nil {
		return err
	}
	now := l.Now()
	var longest time.Duration
	rows := make([]failedRow, len(counters))
	for i, c := range counters {
		if _, err := readRow(tx, site.FailedLogins, c.key, &rows[i]); err != nil {
			return err
		}
		longest = max(longest, rows[i].wait(now, c.rule))
	}
	if longest > 0 {
		return &WaitError{longest}
	}
	if err := l.dropCounters(tx, len(counters)); err != nil {
		return err
	}
	for i, c := range counters {
		row := failedRow{min(rows[i].left(now), 1000) + 1, now.UnixMilli()}
		if err := writeRow(tx, site.FailedLogins, c.key, row); err != nil {
			return err
		}
	}
	return nil
}

// forgetTry takes back a try that was not answered. It does little harm if that fails.
func (l *Login) forgetTry(ctx context.Context, name, address string) {
	_ = l.DB.Update(ctx, func(tx *objectdb.Tx) error {
		tx.Origin = origin("log in")
		counters, err := l.counters(tx, name, address)
		for _, c := range counters {
			if err == nil {
				err = takeBack(tx, c)
			}
		}
		return err
	})
}

// takeBack takes back one try of a counter.
func takeBack(tx *objectdb.Tx, c counter) error {
	var row failedRow
	if ok, err := readRow(tx, site.FailedLogins, c.key, &row); !ok || err != nil {
		return err
	}
	if row.Tries--; row.Tries <= 0 {
		return deleteRow(tx, site.FailedLogins, c.key)
	}
	return writeRow(tx, site.FailedLogins, c.key, row)
}

// succeeded resets the counter of the name, takes back the try of the client, and notes the
// log-in. The client's other tries count on: who has a password of an own could else reset them.
func (l *Login) succeeded(tx *objectdb.Tx, name, address string) error {
	counters, err := l.counters(tx, name, address)
	if err != nil {
		return err
	}
	client := clientOf(address)
	for _, c := range counters {
		if c == clientCounter(client) {
			err = takeBack(tx, c)
		} else {
			err = deleteRow(tx, site.FailedLogins, c.key)
		}
		if err != nil {
			return err
		}
	}
	return l.noteLogin(tx, name, client)
}

// ForgetTries ends the waits for a name, wherever it was tried.
func ForgetTries(tx *objectdb.Tx, name string) error {
	if objectdb.CheckName(name) != nil {
		return nil
	}
	var row lastRow
	if _, err := readRow(tx, site.LastLogins, name, &row); err != nil {
		return err
	}
	counters := []counter{nameCounter(name)}
	for _, p := range row.From {
		counters = append(counters, ownCounter(name, p.Client))
	}
	for _, c := range counters {
		if err := deleteRow(tx, site.FailedLogins, c.key); err != nil {
			return err
		}
	}
	return nil
}

// dropCounters makes room for more counters.
func (l *Login) dropCounters(tx *objectdb.Tx, more int) error {
	table, err := tx.Find(site.FailedLogins)
	if err != nil || table.Kind() != objectdb.KindTable {
		return nil //nolint:nilerr // writing a row says what is wrong
	}
	if n, err := tx.Len(table); err != nil || n+more <= maxFailed {
		return err
	}
	keys, err := rowNames(tx, site.FailedLogins)
	if err != nil {
		return err
	}
	now := l.Now()
	left := map[string]float64{}
	for _, key := range keys {
		var row failedRow
		if _, err := readRow(tx, site.FailedLogins, key, &row); err != nil {
			return err
		}
		left[key] = row.left(now)
	}
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(left[a], left[b]) })
	for i, key := range keys {
		// A tenth more than needed, so that this is not done at each try.
		if left[key] > 0 && i >= len(keys)-maxFailed*9/10 {
			break
		}
		if err := deleteRow(tx, site.FailedLogins, key); err != nil {
			return err
		}
	}
	return nil
}
