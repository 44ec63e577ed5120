package gateway

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"scripter/objectdb"
	"scripter/script"
)

// cgiparams is where the parameters of the last request are kept when
// Debugging is checked (specification, 2.2 and 2.3).
var cgiparams = objectdb.Address{"scratchpad", "cgiparams"}

// Bounds of what is kept, in bytes: of one text, of all, and what an object
// takes beside its text.
const (
	keptText     = 64 << 10
	keptInAll    = 256 << 10
	keptOverhead = 100
)

// How long keeping waits for other writers: before the run it holds the
// visitor up, after the answer nobody waits. Tests wait longer: a machine that
// stood still in the meantime has not made anybody wait.
var (
	patienceBefore = 500 * time.Millisecond
	patienceAfter  = 2 * time.Second
)

// record keeps a request, at scratchpad.cgiparams and in the log beside it, in
// a transaction of its own, so that the request of a failing script is kept
// too. It never fails the request.
func (x *exchange) record(ctx context.Context) {
	if x.recorded || !x.plan.debug {
		return
	}
	x.recorded = true
	g := x.g
	var k *Kept
	var m *masking
	late := false
	err := g.updateSoon(ctx, patienceBefore, func(tx *objectdb.Tx) error {
		s := readSettings(tx)
		if late = s.debuggingIsOver(g.now()); late {
			return tx.Put(flDebug.Address(), objectdb.Boolean(false))
		}
		var err error
		k, m, err = x.recordIn(tx, s)
		return err
	})
	switch {
	case err != nil:
		g.log.Warn("request not kept", "path", x.request.LogPath(), "err", err)
	case late:
		g.log.Info("debugging has switched itself off", "setting", debugMinutes.Address())
	default:
		x.entry, x.seed = k, k.seed
		x.out.rec = &recorder{mask: m, begun: g.now()}
	}
}

// updateSoon is UpdateLocked that waits for the writer's lock no longer than
// patience. What it does with the lock is small, and bounded by the lock's own limit.
func (g *Gateway) updateSoon(ctx context.Context, patience time.Duration, fn func(*objectdb.Tx) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	waiting := time.AfterFunc(patience, func() { cancel(context.DeadlineExceeded) })
	defer waiting.Stop()
	return g.db.UpdateLocked(ctx, func(tx *objectdb.Tx) error {
		waiting.Stop()
		return fn(tx)
	})
}

// debuggingIsOver tells whether flDebug was set longer ago than debugMinutes.
func (s settings) debuggingIsOver(now time.Time) bool {
	minutes := s.number(debugMinutes)
	n := s.node(flDebug.Name)
	return minutes > 0 && n != nil && now.Sub(n.Modified()) > time.Duration(minutes*float64(time.Minute))
}

// recordIn keeps a request within a transaction that holds the writer's lock:
// numbers are given out one by one.
func (x *exchange) recordIn(tx *objectdb.Tx, s settings) (*Kept, *masking, error) {
	r := x.request
	shown, m, body := r, (*masking)(nil), x.body
	if !s.flag(flDebugSecrets) {
		shown, m = r.mask()
		body = m.body(r.Params["CONTENT_TYPE"], body)
	}
	if err := x.recordParams(tx, s, shown, m, body); err != nil {
		return nil, nil, err
	}
	k := newKept(shown, m, body)
	k.BodySize, k.connection, k.Time = int64(len(x.body)), x.connectionID(), x.g.now()
	k.Developer = r.Developer || r.ShowErrors || r.hasToken(s)
	return k, m, k.add(tx, int(s.number(maxRequests)))
}

// recordParams keeps the parameter table at scratchpad.cgiparams. A request
// whose parameters cannot be made leaves it empty. shown and body have no secrets, unless
// m is nil.
func (x *exchange) recordParams(tx *objectdb.Tx, s settings, shown *Request, m *masking, body string) error {
	if err := emptyTable(tx, cgiparams); err != nil {
		return err
	}
	target, err := dispatch(&Request{Params: shown.Params, HandlerNames: shown.HandlerNames}, actionTables{s})
	if err != nil {
		return nil
	}
	p := newParameters(x, target, s, s.limitsFor(target))
	p.request = shown
	params, err := p.table()
	if err != nil {
		return nil
	}
	if m != nil {
		maskParams(params, body)
	}
	// The parameters that repeat others come last: the others take precedence if
	// there is not room for all.
	again := []string{"fields", "allFiles"}
	k := keeper{tx, keptInAll}
	late := make([]script.Value, len(again))
	for i, name := range again {
		late[i] = params.Get(name)
		params.Delete(name)
	}
	if err := k.table(cgiparams, params); err != nil {
		return err
	}
	for i, name := range again {
		if err := k.value(cgiparams.Child(name), late[i]); err != nil {
			return err
		}
	}
	return nil
}

// emptyTable makes an empty table of whatever is at a. A table that is there
// stays the same object.
func emptyTable(tx *objectdb.Tx, a objectdb.Address) error {
	if n, err := tx.Find(a); err == nil && n.Kind() == objectdb.KindTable {
		children, err := tx.Children(n)
		for _, child := range children {
			if err == nil {
				err = tx.Remove(n, child.Name())
			}
		}
		return err
	} else if err == nil {
		if err := tx.Delete(a); err != nil {
			return err
		}
	}
	return tx.NewTable(a)
}

// newSeed makes a seed for math.random that a double holds exactly.
func newSeed() int64 {
	var b [8]byte
	rand.Read(b[:])
	return int64(binary.LittleEndian.Uint64(b[:])>>12) + 1
}

// recordOutcome keeps what became of a recorded request, after its answer.
func (x *exchange) recordOutcome(ctx context.Context, out Outcome) {
	k, g, rec := x.entry, x.g, x.out.rec
	if k == nil || k.Number == 0 {
		return
	}
	x.out.flush() // nobody shall wait for this; who is gone is told elsewhere
	k.Duration = g.now().Sub(rec.begun)
	k.Answer, k.Incident = rec.recorded(x.out.status), out.Incident
	if out.Err != nil {
		k.Error = cutText(rec.mask.text(Describe(out.Err)), keptError)
	}
	if err := g.updateSoon(context.WithoutCancel(ctx), patienceAfter, k.addOutcome); err != nil {
		g.log.Warn("outcome of a request not kept", "path", x.request.LogPath(), "number", k.Number, "err", err)
	}
}

// keeper stores parameters, up to a number of bytes in all: a visitor must
// not fill the disk because debugging is on.
type keeper struct {
	tx   *objectdb.Tx
	left int
}

// table stores a Lua table of texts, numbers, lists and tables. Names that
// the root cannot hold, or that differ only in case, get a number.
func (k *keeper) table(a objectdb.Address, t *script.Table) error {
	for i, name := range tableKeys(t) {
		if k.left -= len(name) + keptOverhead; k.left < 0 {
			return nil
		}
		safe := name
		if objectdb.CheckName(safe) != nil {
			safe = fmt.Sprintf("name %d", i+1)
		}
		if _, err := k.tx.Stat(a.Child(safe)); err == nil {
			safe = fmt.Sprintf("%.200s (%d)", strings.ToValidUTF8(safe, ""), i+1)
		}
		if err := k.value(a.Child(safe), t.Get(name)); err != nil {
			return err
		}
	}
	return nil
}

func (k *keeper) value(a objectdb.Address, v script.Value) error {
	switch v := v.(type) {
	case string:
		return k.tx.Put(a, k.text(v))
	case float64:
		return k.tx.Put(a, objectdb.Number(v))
	case *script.Table:
		if v.Len() > 0 {
			return k.list(a, v)
		}
		if err := k.tx.NewTable(a); err != nil {
			return err
		}
		return k.table(a, v)
	}
	return nil
}

// list stores the values of a field.
func (k *keeper) list(a objectdb.Address, t *script.Table) error {
	list := objectdb.List{}
	var err error
	t.Each(func(n, v script.Value) bool {
		switch v := v.(type) {
		case string:
			list = append(list, k.text(v))
		case *script.Table: // files
			err = k.value(a.Child(fmt.Sprintf("file %v", n)), v)
		}
		return err == nil && k.left > 0
	})
	if err != nil || len(list) == 0 {
		return err
	}
	return k.tx.Put(a, list)
}

func (k *keeper) text(s string) objectdb.String {
	s = cutText(s, min(keptText, k.left))
	k.left -= len(s)
	return objectdb.String(s)
}

// cutText cuts a text to n bytes at most, between characters.
func cutText(s string, n int) string {
	n = max(n, 0)
	if len(s) <= n {
		return s
	}
	for i := 0; i < utf8.UTFMax && n > 0 && !utf8.RuneStart(s[n]); i++ {
		n--
	}
	return s[:n]
}
