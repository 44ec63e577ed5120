package outbox

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"scripter/objectdb"
	"scripter/site"
)

var (
	// ErrNone is returned for a key without a row.
	ErrNone = errors.New("there is no such row in the outbox")
	// ErrFull is returned if the agent has found that too many rows wait.
	ErrFull = errors.New("the outbox is full: too many rows wait (user.webserver.maxOutbox); scripter outbox lists them")
	// ErrLost is returned if another agent has the row now, or nobody: it was dropped, or sent again.
	ErrLost = errors.New("the row was taken over, dropped or sent again meanwhile")
)

// content is the table of what is sent, and full is there while too many rows wait: see [MarkFull].
var (
	content = site.Outbox.Child("content")
	full    = site.Outbox.Child("full")
)

func (s State) table() objectdb.Address { return site.Outbox.Child(string(s)) }

// Add writes a row and its content, and returns the key. The row is to be delivered at r.Next, or at
// once if that is 0. It reads nothing that another request writes.
func Add(tx *objectdb.Tx, now time.Time, r Row, cells map[string]objectdb.Value) (key string, err error) {
	if is, err := IsFull(tx); err != nil || is {
		return "", cmp.Or(err, ErrFull)
	}
	r.Key, r.Created = NewKey(now), now.UnixMilli()
	r.Next = max(r.Next, r.Created)
	for name, v := range cells {
		if err := tx.Put(content.Child(r.Key).Child(name), v); err != nil {
			return "", err
		}
	}
	return r.Key, put(tx, Waiting, r)
}

func put(tx *objectdb.Tx, s State, r Row) error {
	v, err := r.value()
	if err != nil {
		return err
	}
	return tx.Put(s.table().Child(r.Key), v)
}

// remove deletes what is at a, if there is anything.
func remove(tx *objectdb.Tx, a objectdb.Address) error {
	err := tx.Delete(a)
	if objectdb.IsMissing(err) {
		return nil
	}
	return err
}

// nodes returns the rows of a state in the order of their keys.
func nodes(tx *objectdb.Tx, s State) ([]*objectdb.Node, error) {
	t, err := tx.Find(s.table())
	if objectdb.IsMissing(err) || err == nil && t.Kind() != objectdb.KindTable {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return tx.Children(t)
}

// List returns the rows of a state, the oldest first. What cannot be read is left out.
func List(tx *objectdb.Tx, s State) ([]Row, error) {
	list, err := nodes(tx, s)
	if err != nil {
		return nil, err
	}
	rows := make([]Row, 0, len(list))
	for _, n := range list {
		if n.Kind() == objectdb.KindTable {
			continue
		}
		v, err := tx.Value(n)
		if err != nil {
			return nil, err
		}
		if r, err := parseRow(n.Name(), v); err == nil {
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// Find returns the row with a key. The beginning of a key will do if it names one row.
func Find(tx *objectdb.Tx, key string) (Row, State, error) {
	key = strings.ToLower(key)
	if IsKey(key) {
		for _, s := range States {
			if r, err := get(tx, s, key); !errors.Is(err, ErrNone) {
				return r, s, err
			}
		}
		return Row{}, "", fmt.Errorf("%s: %w", key, ErrNone)
	}
	var found []Row
	var state State
	for _, s := range States {
		rows, err := List(tx, s)
		if err != nil {
			return Row{}, "", err
		}
		for _, r := range rows {
			if key != "" && (strings.HasPrefix(r.Key, key) || strings.HasSuffix(r.Key, key)) {
				found, state = append(found, r), s
			}
		}
	}
	switch len(found) {
	case 0:
		return Row{}, "", fmt.Errorf("%.40s: %w", key, ErrNone)
	case 1:
		return found[0], state, nil
	}
	return Row{}, "", fmt.Errorf("%.40s is a part of the keys of %d rows: write more of the key", key, len(found))
}

func get(tx *objectdb.Tx, s State, key string) (Row, error) {
	v, err := tx.Get(s.table().Child(key))
	if objectdb.IsMissing(err) || errors.Is(err, objectdb.ErrIsTable) {
		return Row{}, ErrNone
	}
	if err != nil {
		return Row{}, err
	}
	return parseRow(key, v)
}

// Content returns the cells of a row's content by their names.
func Content(tx *objectdb.Tx, key string) (map[string]objectdb.Value, error) {
	t, err := tx.Find(content.Child(key))
	if objectdb.IsMissing(err) || err == nil && t.Kind() != objectdb.KindTable {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	list, err := tx.Children(t)
	if err != nil {
		return nil, err
	}
	cells := make(map[string]objectdb.Value, len(list))
	for _, n := range list {
		if n.Kind() == objectdb.KindTable {
			continue
		}
		if cells[n.Name()], err = tx.Value(n); err != nil {
			return nil, err
		}
	}
	return cells, nil
}

// Claim gives a row to an agent, until the lease ends. It reports false if the row is not due, or
// another agent has it.
func Claim(tx *objectdb.Tx, key, by string, now time.Time, lease time.Duration) (Row, bool, error) {
	r, err := get(tx, Waiting, key)
	if errors.Is(err, ErrNone) || err == nil && (r.Claimed(now) || r.Next > now.UnixMilli()) {
		return r, false, nil
	}
	if err != nil {
		return r, false, err
	}
	r.By, r.Lease = by, now.Add(lease).UnixMilli()
	r.Tries++
	return r, true, put(tx, Waiting, r)
}

// held returns the row if the agent still has it.
func held(tx *objectdb.Tx, key, by string) (Row, error) {
	r, err := get(tx, Waiting, key)
	if errors.Is(err, ErrNone) || err == nil && r.By != by {
		err = ErrLost
	}
	return r, err
}

// Delivered moves a row to the sent ones and removes its content.
func Delivered(tx *objectdb.Tx, key, by string, now time.Time) error {
	r, err := held(tx, key, by)
	if err != nil {
		return err
	}
	r.By, r.Lease, r.Next, r.Error = "", 0, now.UnixMilli(), ""
	if err := move(tx, r, Waiting, Sent); err != nil {
		return err
	}
	return remove(tx, content.Child(key))
}

func move(tx *objectdb.Tx, r Row, from, to State) error {
	if err := remove(tx, from.table().Child(r.Key)); err != nil {
		return err
	}
	return put(tx, to, r)
}

// Retry gives a row back, to be tried again at next.
func Retry(tx *objectdb.Tx, key, by string, next time.Time, why error) error {
	r, err := held(tx, key, by)
	if err != nil {
		return err
	}
	r.By, r.Lease, r.Next, r.Error = "", 0, next.UnixMilli(), why.Error()
	return put(tx, Waiting, r)
}

// Bury moves a row to the dead ones.
func Bury(tx *objectdb.Tx, key, by string, now time.Time, why error) error {
	r, err := held(tx, key, by)
	if err != nil {
		return err
	}
	r.By, r.Lease, r.Next, r.Error = "", 0, now.UnixMilli(), why.Error()
	return move(tx, r, Waiting, Dead)
}

// Resend makes a dead or waiting row one that is due now, with all its tries. A row that is being
// delivered at this moment stays as it is.
func Resend(tx *objectdb.Tx, key string, now time.Time) (Row, error) {
	r, s, err := Find(tx, key)
	switch {
	case err != nil:
		return r, err
	case s == Sent:
		return r, fmt.Errorf("%s was sent; its content is not kept", r.Key)
	case s == Waiting && r.Claimed(now):
		return r, fmt.Errorf("%s is being delivered now", r.Key)
	}
	r.By, r.Lease, r.Next, r.Tries, r.Error = "", 0, now.UnixMilli(), 0, ""
	if s == Waiting {
		return r, put(tx, s, r)
	}
	return r, move(tx, r, s, Waiting)
}

// Drop removes a row and its content.
func Drop(tx *objectdb.Tx, key string) (Row, error) {
	r, s, err := Find(tx, key)
	if err != nil {
		return r, err
	}
	if err := remove(tx, s.table().Child(r.Key)); err != nil {
		return r, err
	}
	return r, remove(tx, content.Child(r.Key))
}

// IsFull reports whether too many rows wait, as MarkFull has noted it.
func IsFull(tx *objectdb.Tx) (bool, error) {
	_, err := tx.Find(full)
	if objectdb.IsMissing(err) {
		return false, nil
	}
	return err == nil, err
}

// MarkFull notes whether too many rows wait. Requests that write rows only read the mark: if they
// counted the rows, each would conflict with all others.
func MarkFull(tx *objectdb.Tx, is bool) error {
	was, err := IsFull(tx)
	switch {
	case err != nil || is == was:
		return err
	case is:
		return tx.Put(full, objectdb.Boolean(true))
	}
	return remove(tx, full)
}

// maxSent is how many sent rows are kept.
const maxSent = 200

// Tidy removes sent rows beyond the last 200, dead rows that have died before a time, and all but
// the last most of these. It returns the number of dead rows that it has removed.
func Tidy(tx *objectdb.Tx, before time.Time, most int) (dropped int, err error) {
	sent, err := nodes(tx, Sent)
	if err != nil {
		return 0, err
	}
	for _, n := range sent[:max(0, len(sent)-maxSent)] {
		if err := remove(tx, Sent.table().Child(n.Name())); err != nil {
			return 0, err
		}
	}
	dead, err := List(tx, Dead)
	if err != nil {
		return 0, err
	}
	slices.SortFunc(dead, func(a, b Row) int { return int(a.Next - b.Next) })
	for i, r := range dead {
		if r.Next >= before.UnixMilli() && len(dead)-i <= most {
			break
		}
		if _, err := Drop(tx, r.Key); err != nil {
			return dropped, err
		}
		dropped++
	}
	return dropped, nil
}

// Counts returns how many rows wait and are dead.
func Counts(tx *objectdb.Tx) (waiting, dead int, err error) {
	w, err := nodes(tx, Waiting)
	if err != nil {
		return 0, 0, err
	}
	d, err := nodes(tx, Dead)
	return len(w), len(d), err
}

// Flush makes all rows due now that have failed and wait for another try. It returns their number.
func Flush(tx *objectdb.Tx, now time.Time) (n int, err error) {
	rows, err := List(tx, Waiting)
	if err != nil {
		return 0, err
	}
	for _, r := range rows {
		if r.Tries == 0 || r.Claimed(now) || r.Next <= now.UnixMilli() {
			continue
		}
		r.Next = now.UnixMilli()
		if err := put(tx, Waiting, r); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
