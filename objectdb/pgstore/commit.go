package pgstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"scripter/objectdb"
)

const (
	// A statement writes up to tripRows objects, and a round trip about tripBytes.
	tripBytes = 4 << 20
	tripRows  = 1000
	// The row of a commit with more changed places does not list them.
	maxPlaces     = 1000
	maxPlaceBytes = 16 << 10
)

// A committer writes one commit.
type committer struct {
	*writer
	ctx      context.Context
	w        *objectdb.Commit
	t        *trip
	replaced []objectdb.Replaced
	lasting  bool                          // a kept state is not thinned
	keeps    bool                          // a state is kept
	found    func(generation, stamp int64) // see poller.before
}

// Commit writes a commit and commits it, in one round trip if it is not large. See the package comment for how it
// waits for the disk.
func (w *writer) Commit(ctx context.Context, c *objectdb.Commit) (flush func(context.Context) error, err error) {
	k := &committer{writer: w, ctx: ctx, w: c, t: w.trip()}
	if err := k.write(); err != nil {
		return nil, err
	}
	return k.commit()
}

// write writes everything. The order of the statements allows objects to change places, and an object that was
// moved out of a deleted table to survive.
func (k *committer) write() error {
	w := k.w
	sql := k.store.sql
	if len(w.Moves) > 0 {
		var keep keeping
		ids := make([]int64, len(w.Moves))
		for i, m := range w.Moves {
			keep.add(k, m.ID, m.Keep, m.Large)
			ids[i] = m.ID
		}
		keep.send(k)
		k.t.add(sql[sqlPark], ids)
	}
	if err := k.delete(); err != nil {
		return err
	}
	k.setPlaces()
	if err := k.setValues(); err != nil {
		return err
	}
	if err := k.insert(); err != nil {
		return err
	}
	if len(w.Touched) > 0 {
		k.t.add(sql[sqlTouch], w.Touched, w.Generation, w.Time)
	}
	if err := k.writeIndexes(); err != nil {
		return err
	}
	return k.finish()
}

// full sends the gathered statements if they are many.
func (k *committer) full() error {
	if err := k.ctx.Err(); err != nil {
		return context.Cause(k.ctx)
	}
	if k.t.bytes < tripBytes {
		return nil
	}
	return k.sendNow()
}

// sendNow sends the gathered statements. It stops when the context ends.
func (k *committer) sendNow() error {
	t := k.t
	k.t = k.trip()
	return sqlError(k.ctx, t.run(k.ctx))
}

// keeping is the objects whose present states are kept, as the arguments of sqlKeep.
type keeping struct {
	ids     []int64
	thinned []bool
	whole   []int64
}

func (l *keeping) add(k *committer, id int64, keep objectdb.Keep, large bool) {
	if keep == objectdb.KeepNothing {
		return
	}
	k.keeps = true
	k.lasting = k.lasting || keep == objectdb.KeepAll
	l.ids = append(l.ids, id)
	l.thinned = append(l.thinned, keep == objectdb.KeepThinned)
	l.whole = append(l.whole, k.whole(large))
}

// whole returns the length up to which a value is kept whole.
func (k *committer) whole(large bool) int64 {
	if large {
		return maxValue
	}
	return k.w.Whole
}

func (l *keeping) send(k *committer) {
	if len(l.ids) > 0 {
		k.t.add(k.store.sql[sqlKeep], l.ids, k.w.Generation, l.thinned, l.whole)
	}
	*l = keeping{}
}

// replaces adds an object to the change.
func (k *committer) replaces(id int64, how objectdb.How, keep objectdb.Keep) {
	if keep != objectdb.KeepNothing {
		k.replaced = append(k.replaced, objectdb.Replaced{ID: id, How: how})
	}
}

// delete deletes objects in the order in which they are given, because those that have a rule of their own come
// before the tables that they are in.
func (k *committer) delete() error {
	sql := k.store.sql
	var ids []int64
	var keep keeping
	send := func() error {
		if len(ids) == 0 {
			return nil
		}
		keep.send(k)
		k.t.add(sql[sqlDelete], ids)
		ids = nil
		return k.full()
	}
	for _, d := range k.w.Deletes {
		if !d.Table {
			keep.add(k, d.ID, d.Keep, d.Large)
			k.replaces(d.ID, objectdb.Deleted, d.Keep)
			ids = append(ids, d.ID)
			continue
		}
		if err := send(); err != nil {
			return err
		}
		if d.Keep != objectdb.KeepNothing {
			all := d.Keep == objectdb.KeepAll
			k.keeps, k.lasting = true, k.lasting || all
			k.t.add(sql[sqlKeepTree], d.ID, k.w.Generation, all, k.whole(d.Large), int16(objectdb.Deleted))
		}
		k.t.add(sql[sqlDeleteTree], d.ID)
		// The server may need long, and what is sent with the commit cannot be stopped: send it now.
		if err := k.sendNow(); err != nil {
			return err
		}
	}
	return send()
}

func (k *committer) setPlaces() {
	n := len(k.w.Moves)
	if n == 0 {
		return
	}
	ids, parents, names, folds := make([]int64, n), make([]int64, n), make([]string, n), make([][]byte, n)
	for i, m := range k.w.Moves {
		ids[i], parents[i], names[i], folds[i] = m.ID, m.Parent, m.Name, []byte(m.Fold)
		k.replaces(m.ID, objectdb.Moved, m.Keep)
	}
	k.t.add(k.store.sql[sqlSetPlaces], ids, parents, names, folds, k.w.Generation)
}

// columns are objects that are written, as arrays.
type columns struct {
	ids, parents, created, modified, sizes []int64
	names, kinds, types                    []string
	folds                                  [][]byte
	texts                                  []*string
	bytes                                  [][]byte
	kept                                   []*int64
	size                                   int
}

func (c *columns) add(w *objectdb.Write) {
	c.ids, c.parents = append(c.ids, w.ID), append(c.parents, w.Parent)
	c.names, c.folds = append(c.names, w.Name), append(c.folds, []byte(w.Fold))
	c.kinds, c.types = append(c.kinds, w.Kind.String()), append(c.types, w.Type)
	c.created, c.modified = append(c.created, w.Created), append(c.modified, w.Modified)
	c.sizes = append(c.sizes, w.Size)
	text, bytes := valueColumns(&w.Row)
	if text != nil {
		c.size += len(*text)
	}
	c.size += len(bytes)
	c.texts, c.bytes = append(c.texts, text), append(c.bytes, bytes)
	var kept *int64
	if w.Keep != objectdb.KeepNothing {
		kept = &w.Kept
	}
	c.kept = append(c.kept, kept)
	c.size += 100 + len(w.Name) + len(w.Fold)
}

// valueColumns returns the columns text and bytes for the value of a row. One of them is nil, or both.
func valueColumns(r *objectdb.Row) (text *string, bytes []byte) {
	if r.Value == nil {
		return nil, nil
	}
	s := objectdb.EncodeText(r.Value)
	if r.Kind != objectdb.KindBinary && isText(s) {
		return &s, nil
	}
	return nil, []byte(s)
}

// isText reports whether a column of PostgreSQL's type text can hold s.
func isText(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }

func (c *columns) full() bool { return len(c.ids) >= tripRows || c.size >= tripBytes }

func (k *committer) setValues() error {
	var c columns
	var keep keeping
	send := func() error {
		if len(c.ids) == 0 {
			return nil
		}
		keep.send(k)
		k.t.add(k.store.sql[sqlSetValues], c.ids, c.kinds, c.modified, c.sizes, c.types, c.texts, c.bytes, c.kept,
			k.w.Generation)
		k.t.bytes += c.size
		c = columns{}
		return k.full()
	}
	for v, err := range k.w.Values {
		if err != nil {
			return err
		}
		w := v
		keep.add(k, w.ID, w.Keep, w.Large)
		k.replaces(w.ID, objectdb.Written, w.Keep)
		if c.add(&w); c.full() {
			if err := send(); err != nil {
				return err
			}
		}
	}
	return send()
}

func (k *committer) insert() error {
	var c columns
	send := func() error {
		if len(c.ids) == 0 {
			return nil
		}
		k.t.add(k.store.sql[sqlInsert], c.ids, c.parents, c.names, c.folds, c.kinds, c.created, c.modified, c.sizes,
			c.types, c.texts, k.w.Generation, c.bytes)
		k.t.bytes += c.size
		c = columns{}
		return k.full()
	}
	for v, err := range k.w.Inserts {
		if err != nil {
			return err
		}
		w := v
		k.lasting = k.lasting || w.Keep == objectdb.KeepAll
		k.replaces(w.ID, objectdb.Inserted, w.Keep)
		if c.add(&w); c.full() {
			if err := send(); err != nil {
				return err
			}
		}
	}
	return send()
}

// finish adds the change to the history, and the row of the commit.
func (k *committer) finish() error {
	w, sql := k.w, k.store.sql
	recorded := k.keeps || len(k.replaced) > 0 || len(w.Undoes) > 0
	if list := objectdb.MergeReplaced(k.replaced); len(list) > 0 {
		ids, hows := make([]int64, len(list)), make([]int16, len(list))
		for i, r := range list {
			ids[i], hows[i] = r.ID, int16(r.How)
		}
		k.t.add(sql[sqlAddReplaced], w.Generation, ids, hows)
	}
	if recorded {
		first, undoes := w.First, w.Undoes
		if first == 0 {
			first = w.Generation
		}
		if undoes == nil {
			undoes = []int64{}
		}
		o := w.Origin
		k.t.add(sql[sqlAddChange], w.Generation, w.Time, first, o.Person, objectdb.StorableText(o.Who), objectdb.StorableText(o.Why),
			objectdb.StorableText(o.Path), undoes, k.lasting)
	}
	tables, folds := places(w)
	k.stamp = rand.Int64()
	k.t.add(sql[sqlAddCommit], w.Generation, k.stamp, w.LastID, tables, folds, w.Revives, k.keeps)
	k.t.add(sql[sqlDropCommit], w.Generation-keptCommits)
	if recorded {
		return k.prune()
	}
	return nil
}

// places returns the changed places for the row of the commit, or nil if they are too many.
func places(w *objectdb.Commit) (tables []int64, folds [][]byte) {
	if w.Revives || len(w.Changed) > maxPlaces {
		return nil, nil
	}
	tables, folds = make([]int64, 0, len(w.Changed)), make([][]byte, 0, len(w.Changed))
	size := 0
	for _, p := range w.Changed {
		if size += len(p.Fold); size > maxPlaceBytes {
			return nil, nil
		}
		tables, folds = append(tables, p.Table), append(folds, []byte(p.Fold))
	}
	return tables, folds
}

// commit sends the gathered statements, and commits. The context does not stop it from here on, because then nobody
// would know whether it has committed.
func (k *committer) commit() (flush func(context.Context) error, err error) {
	if k.ctx.Err() != nil {
		return nil, context.Cause(k.ctx)
	}
	s, t := k.store, k.t
	ctx, cancel := context.WithTimeout(context.WithoutCancel(k.ctx), answerTime)
	t.add(commitAsync)
	t.add(commit)
	t.mark()
	if !s.options.Relaxed {
		t.add(barrierSync)
		t.add(barrier)
	}
	k.found = s.poller.before()
	err = t.send(ctx)
	if err == nil {
		err = t.until()
	}
	if err != nil {
		_ = t.close()
		defer cancel()
		if err = noAnswer(ctx, err); errors.Is(err, objectdb.ErrUnreachable) {
			return nil, k.lookUp(err)
		}
		return nil, fenced(err)
	}
	k.committed()
	if s.options.Relaxed {
		_ = t.until() // it has committed, even if the connection is lost now
		cancel()
		return nil, nil
	}
	k.pending = true
	return func(context.Context) error {
		defer cancel()
		err := t.until()
		if err != nil {
			_ = t.close()
		}
		k.rollback()
		s.sessions <- struct{}{}
		if err != nil {
			return k.lookUp(noAnswer(ctx, err))
		}
		return nil
	}, nil
}

// committed remembers that the commit was made. No transaction of this host begins with an older state any more.
func (k *committer) committed() {
	k.store.stamps.put(k.w.Generation, k.stamp)
	k.found(k.w.Generation, k.stamp)
}

// noAnswer is sqlError for a statement that the context of a transaction does not stop. If ctx has ended, the
// server has not answered in time.
func noAnswer(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%w: it has not answered for %v", objectdb.ErrUnreachable, answerTime)
	}
	return sqlError(ctx, err)
}

// lookUp finds out whether the commit was made, after the connection was lost, and waits until it is on the disk.
// It holds the lock, so the lost transaction has ended.
func (k *committer) lookUp(lost error) error {
	s, generation := k.store, k.w.Generation
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	wait := s.options.BusyTimeout
	var newest, stamp *int64
	c, err := s.connect(ctx, &wait, func(ctx context.Context, c *session) error {
		t := c.trip()
		t.add(beginWriting)
		t.add(setLimits, milliseconds(max(wait, time.Millisecond)), milliseconds(s.idleTime()))
		t.add(takeLock, s.lock)
		t.one(func(rows pgx.Rows) error { return rows.Scan(&newest, &stamp) }, s.sql[sqlStamp], generation)
		t.add(barrierSync)
		t.add(barrier)
		t.add(commit)
		return sqlError(ctx, t.run(ctx))
	})
	if err != nil {
		// It must not be taken for ErrUnreachable, after which nothing is committed.
		return fmt.Errorf("%w: the connection was lost while change %d was committed (%v), and then: %v",
			objectdb.ErrUnknown, generation, lost, err)
	}
	c.rollback()
	switch {
	case stamp != nil && *stamp == k.stamp:
		k.committed()
		return nil
	case stamp == nil && newest != nil && *newest > generation:
		return fmt.Errorf("%w: the connection was lost while change %d was committed (%v), and the server no longer "+
			"knows the outcome", objectdb.ErrUnknown, generation, lost)
	}
	return fmt.Errorf("change %d was not committed: %w", generation, lost)
}
