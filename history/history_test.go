package history

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
	"scripter/site"
)

// newDB returns an empty root and a function that makes changes in it as a person, and returns the
// number of the change.
func newDB(t *testing.T) (*objectdb.DB, func(who string, fn func(tx *objectdb.Tx) error) int64) {
	db, err := sqlitestore.Create(t.TempDir()+"/x.root", objectdb.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { db.Close() })
	return db, func(who string, fn func(tx *objectdb.Tx) error) (number int64) {
		require.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error {
			tx.Origin = objectdb.Origin{Person: true, Who: who, Why: "test"}
			number = tx.Generation() + 1
			return fn(tx)
		}))
		return number
	}
}

// put returns a function that puts a value at an address.
func put(address string, v objectdb.Value) func(tx *objectdb.Tx) error {
	return func(tx *objectdb.Tx) error {
		a, err := objectdb.ParseAddress(address)
		if err != nil {
			return err
		}
		return tx.Put(a, v)
	}
}

func view(t *testing.T, db *objectdb.DB, fn func(tx *objectdb.Tx)) {
	require.NoError(t, db.View(context.Background(), func(tx *objectdb.Tx) error {
		fn(tx)
		return nil
	}))
}

func TestList(t *testing.T) {
	db, change := newDB(t)
	made := change("ada", func(tx *objectdb.Tx) error { return tx.NewTable(objectdb.Address{"t"}) })
	a := change("ada", put("t.a", objectdb.Number(1)))
	b := change("eve", put("t.b", objectdb.Number(1)))
	moved := change("eve", func(tx *objectdb.Tx) error {
		return tx.Move(objectdb.Address{"t", "b"}, objectdb.Address{"t", "c"})
	})
	undo := Undo{Changes: []int64{moved}}
	back := change("ada", func(tx *objectdb.Tx) error { _, err := undo.Run(tx); return err })
	both := change("ada", func(tx *objectdb.Tx) error {
		return errors.Join(put("t.a", objectdb.Number(2))(tx), put("t.b", objectdb.Number(2))(tx))
	})
	list := func(f Filter) (numbers []int64, log *Log) {
		view(t, db, func(tx *objectdb.Tx) {
			var err error
			log, err = List(tx, f)
			require.NoError(t, err)
		})
		for _, c := range log.Changes {
			numbers = append(numbers, c.Generation)
		}
		return numbers, log
	}
	all, log := list(Filter{})
	require.Equal(t, []int64{both, back, moved, b, a, made}, all[:6])
	var texts []string
	for _, c := range log.Changes[:6] {
		texts = append(texts, c.Summary.String())
	}
	assert.Equal(t, []string{"changed 2 objects in t", "moved t.c to t.b", "moved t.b to t.c", "added t.b", "added t.a",
		"added t"}, texts)
	assert.Equal(t, back, log.Changes[2].UndoneBy)
	assert.Equal(t, "undone by "+Numbers([]int64{back}), log.Changes[2].Marks())
	assert.Equal(t, "undoes "+Numbers([]int64{moved}), log.Changes[1].Marks())
	assert.Equal(t, "test (eve)", Who(log.Changes[2].Origin))

	numbers, log := list(Filter{Who: "EVE"})
	assert.Equal(t, []int64{moved, b}, numbers)
	assert.False(t, log.More)
	numbers, log = list(Filter{Most: 2})
	assert.Equal(t, []int64{both, back}, numbers)
	assert.True(t, log.More)
	numbers, log = list(Filter{Most: 2, Before: back})
	assert.Equal(t, []int64{moved, b}, numbers)
	assert.True(t, log.More)
	assert.Equal(t, back, log.Changes[0].UndoneBy, "by a change that is not listed")
	numbers, _ = list(Filter{Since: Moment{Change: moved}})
	assert.Equal(t, []int64{both, back}, numbers)
	numbers, _ = list(Filter{At: objectdb.Address{"T", "B"}})
	assert.Equal(t, []int64{both, back, moved, b}, numbers)
	view(t, db, func(tx *objectdb.Tx) {
		_, err := List(tx, Filter{At: objectdb.Address{"t", "x"}})
		assert.ErrorIs(t, err, ErrNoObject)
		assert.ErrorContains(t, err, "there is no object t.x, and the history back to ")
	})
}

func TestNumbers(t *testing.T) {
	assert.Equal(t, "1", Numbers([]int64{1}))
	assert.Equal(t, "1, 2, 3, 4, 5", Numbers([]int64{1, 2, 3, 4, 5}))
	assert.Equal(t, "1, 2, 3, 4, 5 and 2 more", Numbers([]int64{1, 2, 3, 4, 5, 6, 7}))
}

// TestSecrets checks that no text and no field has a secret.
func TestSecrets(t *testing.T) {
	db, change := newDB(t)
	row := func(s string) objectdb.Value {
		return objectdb.List{objectdb.NewRecord(map[string]objectdb.Value{"password": objectdb.String(s)})}
	}
	change("", put("myPassword", objectdb.String("old secret")))
	change("", put("rows", row("old secret")))
	first := change("", put("myPassword", objectdb.String("new secret")))
	second := change("", put("rows", row("new secret")))
	view(t, db, func(tx *objectdb.Tx) {
		for number, want := range map[int64]string{first: "-(masked)\n+(masked)\n", second: ""} {
			shown, err := Show(tx, number, 0)
			require.NoError(t, err)
			require.Len(t, shown.Objects, 1)
			d, err := DiffOf(tx, number, &shown.Objects[0])
			require.NoError(t, err)
			assert.Equal(t, want, d.Unified())
			assert.NotContains(t, d.Headline(), "secret")
			require.NotEqual(t, d.Before.Value, d.After.Value)
			assert.NotContains(t, fmt.Sprint(d.Fields()), "secret")
			if number == second {
				assert.Equal(t, []string{"what differs is masked"}, d.Notes())
			}
		}
		_, err := Show(tx, second+1, 0)
		assert.ErrorIs(t, err, ErrNoChange)
	})
	require.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error {
		require.NoError(t, put("myPassword", objectdb.String("third secret"))(tx))
		require.NoError(t, put("rows", row("third secret"))(tx))
		require.NoError(t, put("n", objectdb.Number(3))(tx))
		text, err := Pending(tx)
		assert.Equal(t, "myPassword = (masked)\nn = 3\nrows = \n"+
			"    [\n      {\n        \"password\": \"(masked)\"\n      }\n    ]\n", text)
		return err
	}))
}

func TestCompare(t *testing.T) {
	ctx := context.Background()
	db, change := newDB(t)
	first := change("", func(tx *objectdb.Tx) error {
		return errors.Join(tx.NewTable(objectdb.Address{"t"}), put("t.a", objectdb.Text("1\n2\n"))(tx),
			put("t.b", objectdb.Number(1))(tx), put("t.same", objectdb.Number(1))(tx))
	})
	change("", func(tx *objectdb.Tx) error {
		return errors.Join(put("t.a", objectdb.Text("1\n3\n"))(tx), tx.Delete(objectdb.Address{"t", "b"}),
			put("t.c", objectdb.Number(2))(tx))
	})
	var before State
	view(t, db, func(tx *objectdb.Tx) {
		var err error
		before, err = BeforeLast(tx, objectdb.Address{"t"})
		require.NoError(t, err)
	})
	assert.Equal(t, first, before.Generation)
	var texts []string
	for d, err := range Compare(ctx, db, objectdb.Address{"t"}, before, Now()) {
		require.NoError(t, err)
		texts = append(texts, d.Headline()+"\n"+d.Unified())
	}
	assert.Equal(t, []string{
		"changed t.a, text, 4 bytes\n--- t.a (before change " + Numbers([]int64{first + 1}) + ")\n+++ t.a (now)\n" +
			"@@ -1,2 +1,2 @@\n 1\n-2\n+3\n",
		"removed t.b, number, 8 bytes\n-1\n",
		"added t.c, number, 8 bytes\n+2\n",
	}, texts)
	count := 0
	for _, err := range Compare(ctx, db, objectdb.Address{"t"}, before, Now()) {
		require.NoError(t, err)
		count++
		break
	}
	assert.Equal(t, 1, count, "the caller may stop")
	for d, err := range Compare(ctx, db, objectdb.Address{"t", "x"}, State{Label: "nothing"}, Now()) {
		assert.Nil(t, d)
		assert.ErrorIs(t, err, ErrNoObject)
		assert.EqualError(t, err, "there is no object t.x in nothing, and none in now")
	}
}

func TestUndo(t *testing.T) {
	db, change := newDB(t)
	change("ada", put("a", objectdb.Text("1\n2\n3\n4\n5\n")))
	number := change("ada", func(tx *objectdb.Tx) error {
		return errors.Join(put("a", objectdb.Text("1x\n2\n3\n4\n5\n"))(tx), put("b", objectdb.Number(1))(tx))
	})
	since := change("eve", put("a", objectdb.Text("1x\n2\n3\n4\n5x\n")))
	run := func(u Undo) (did Undone, err error) {
		err = db.Update(context.Background(), func(tx *objectdb.Tx) error {
			tx.Origin.Person = true
			did, err = u.Run(tx)
			return err
		})
		return did, err
	}
	_, err := run(Undo{Changes: []int64{number}})
	var conflict *Conflict
	require.ErrorAs(t, err, &conflict)
	assert.Equal(t, "change "+Numbers([]int64{number})+" (test: 2 objects in the root) is not taken back: "+
		"a was written since (change "+Numbers([]int64{since})+": test (eve))", err.Error())
	assert.True(t, conflict.MayMerge())
	assert.True(t, conflict.Partial)
	assert.Equal(t, []any{map[string]any{"address": "a", "change": number, "why": "was written since", "since": since,
		"sinceBy": "test (eve)"}}, conflict.Fields())

	did, err := run(Undo{Changes: []int64{number}, Merge: true})
	require.NoError(t, err)
	assert.Equal(t, "1 object changed, 1 object removed, 1 of them merged", did.String())
	view(t, db, func(tx *objectdb.Tx) {
		v, err := tx.Get(objectdb.Address{"a"})
		require.NoError(t, err)
		assert.Equal(t, objectdb.Text("1\n2\n3\n4\n5x\n"), v)
	})
	did, err = run(Undo{Redo: true})
	require.NoError(t, err)
	assert.Equal(t, "1 object changed, 1 object added", did.String())
	_, err = run(Undo{Changes: []int64{99}})
	assert.ErrorIs(t, err, ErrNoChange)
}

// TestMergeCompiles checks that a merge of scripts that does not compile is refused.
func TestMergeCompiles(t *testing.T) {
	db, change := newDB(t)
	change("", put("s", objectdb.Script("a\nb\nc\n")))
	number := change("", put("s", objectdb.Script("x\nb\nc\n")))
	change("", put("s", objectdb.Script("x\nb\ny\n")))
	u := Undo{Changes: []int64{number}, Merge: true,
		Compiles: func(_ *objectdb.Tx, a objectdb.Address, s objectdb.Script) error {
			assert.Equal(t, "s", a.String())
			assert.Equal(t, objectdb.Script("a\nb\ny\n"), s)
			return errors.New("line 3")
		}}
	err := db.Update(context.Background(), func(tx *objectdb.Tx) error { _, err := u.Run(tx); return err })
	assert.ErrorContains(t, err, "the result does not compile: line 3")
}

// TestLaterValues checks that the past tells which values were not kept.
func TestLaterValues(t *testing.T) {
	ctx := context.Background()
	db, change := newDB(t)
	change("", func(tx *objectdb.Tx) error { return tx.NewTable(objectdb.Address{"scratchpad"}) })
	change("", put("scratchpad.a", objectdb.Number(1)))
	number := change("", put("b", objectdb.Number(1)))
	change("", put("b", objectdb.Number(2)))
	change("", put("scratchpad.a", objectdb.Number(2))) // of which nothing is kept

	p := NewPast(db, number)
	view(t, p.DB, func(tx *objectdb.Tx) {
		for name, want := range map[string]objectdb.Number{"b": 1, "scratchpad.a": 2} {
			a, err := objectdb.ParseAddress(name)
			require.NoError(t, err)
			v, err := tx.Get(a)
			require.NoError(t, err)
			assert.Equal(t, want, v)
		}
	})
	list, err := p.LaterValues(ctx)
	require.NoError(t, err)
	require.Len(t, list, 1)
	assert.Equal(t, "scratchpad.a", list[0].Address.String())
	assert.False(t, list[0].Written.IsZero())
}

// TestCommit checks that Commit returns the number of the change that it makes, and whether it is
// one in the history.
func TestCommit(t *testing.T) {
	db, err := sqlitestore.Create(t.TempDir()+"/x.root", objectdb.Options{History: site.History()})
	require.NoError(t, err)
	defer db.Close()
	ctx := t.Context()
	require.NoError(t, db.Update(ctx, put("system.temp.x", objectdb.Number(0))))
	person := objectdb.Origin{Person: true, Who: "ada", Why: "web page"}
	kept := func(number int64) bool {
		kept, err := Kept(ctx, db, number)
		require.NoError(t, err)
		return kept
	}
	number, err := Commit(ctx, db, func(tx *objectdb.Tx) error {
		tx.Origin = person
		return put("a.b", objectdb.Number(1))(tx)
	})
	require.NoError(t, err)
	assert.True(t, kept(number))
	view(t, db, func(tx *objectdb.Tx) {
		c, err := Find(tx, number)
		require.NoError(t, err)
		assert.Equal(t, person, c.Origin)
	})
	number, err = Commit(ctx, db, func(tx *objectdb.Tx) error {
		tx.Origin = person
		return put("system.temp.x", objectdb.Number(1))(tx)
	})
	require.NoError(t, err)
	assert.False(t, kept(number), "nothing is kept of system.temp")
	number, err = Commit(ctx, db, func(tx *objectdb.Tx) error { return nil })
	require.NoError(t, err)
	assert.Zero(t, number, "nothing was changed")
}

// TestListOfALargeTable lists the changes of a table in steps.
func TestListOfALargeTable(t *testing.T) {
	db, change := newDB(t)
	put := func(table string, names ...string) int64 {
		return change("ada", func(tx *objectdb.Tx) error {
			for _, name := range names {
				if err := tx.Put(objectdb.Address{table, name}, objectdb.String(name)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	move := func(from, to string) int64 {
		return change("eve", func(tx *objectdb.Tx) error {
			return tx.Move(objectdb.Address{"t", from}, objectdb.Address{to, from})
		})
	}
	many := put("t", "a", "b", "c", "d", "e", "f", "g")
	put("other", "x", "y", "z")
	first := put("t", "h")
	put("other", "x2")
	moved := move("a", "other")
	since := put("other", "a", "x", "y")
	last := put("t", "b")
	large := put("other", "1", "2", "3", "4", "5", "6")
	var pages [][]int64
	f := Filter{At: objectdb.Address{"T"}, Objects: 5}
	for range 10 {
		var log *Log
		view(t, db, func(tx *objectdb.Tx) {
			var err error
			log, err = List(tx, f)
			require.NoError(t, err)
		})
		page := []int64{}
		for _, c := range log.Changes {
			page = append(page, c.Generation)
		}
		pages = append(pages, page)
		assert.Equal(t, log.More, log.Next > 0)
		if f.Before = log.Next; f.Before == 0 {
			break
		}
	}
	assert.Equal(t, [][]int64{{large}, {last, moved}, {first}, {many}}, pages,
		"changes of more objects than are looked at count")
	f = Filter{At: objectdb.Address{"t"}, Objects: 100, Most: 2}
	view(t, db, func(tx *objectdb.Tx) {
		log, err := List(tx, f)
		require.NoError(t, err)
		assert.Equal(t, []int64{last, since}, []int64{log.Changes[0].Generation, log.Next}, "with what was in it before")
	})
}

func TestObjectsOfSummaries(t *testing.T) {
	db, update := newDB(t)
	put := func(names ...string) {
		update("ada", func(tx *objectdb.Tx) error {
			for _, name := range names {
				if err := tx.Put(objectdb.Address{"user", name}, objectdb.String(name)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	put("a")
	put("b", "c", "d", "e")
	put("f")
	require.NoError(t, db.View(context.Background(), func(tx *objectdb.Tx) error {
		log, err := List(tx, Filter{Objects: 3, Most: 3})
		require.NoError(t, err)
		var texts []string
		for _, c := range log.Changes {
			texts = append(texts, c.Summary.String())
		}
		assert.Equal(t, []string{"added user.f", "4 objects", "added 2 objects in user"}, texts)
		return nil
	}))
}
