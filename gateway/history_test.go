package gateway

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// changes returns the changes of the root, the newest first.
func (s *testSite) changes() []objectdb.Change {
	s.t.Helper()
	var list []objectdb.Change
	require.NoError(s.t, s.db.View(context.Background(), func(tx *objectdb.Tx) error {
		for c, err := range tx.Changes(0) {
			if err != nil {
				return err
			}
			list = append(list, c)
		}
		return nil
	}))
	return list
}

// past returns the values that an object had, the newest first, as far as they are kept.
func (s *testSite) past(address string) []objectdb.Value {
	s.t.Helper()
	a, err := objectdb.ParseAddress(address)
	require.NoError(s.t, err)
	var list []objectdb.Value
	require.NoError(s.t, s.db.View(context.Background(), func(tx *objectdb.Tx) error {
		ids, err := tx.IDsAt(a)
		if err != nil {
			return err
		}
		generations, err := tx.ChangesOf(ids)
		for _, g := range generations {
			for _, id := range ids {
				if state, err := tx.StateAt(id, g-1); err != nil || state == nil {
					continue
				}
				v, err := tx.ValueAt(id, g-1)
				if err != nil {
					return err
				}
				list = append(list, v)
			}
		}
		return err
	}))
	return list
}

func (s *testSite) asPerson(address string, v objectdb.Value) {
	s.t.Helper()
	a, err := objectdb.ParseAddress(address)
	require.NoError(s.t, err)
	update(s.t, s.db, func(tx *objectdb.Tx) error {
		tx.Origin = objectdb.Origin{Person: true, Who: "ada", Why: "scripter put"}
		return tx.Put(a, v)
	})
}

func numbers(n ...float64) (list []objectdb.Value) {
	for _, n := range n {
		list = append(list, objectdb.Number(n))
	}
	return list
}

// Of a counter that requests raise, one value in an interval is kept. What a person overwrites is
// kept each time, and so are scripts, texts and outlines.
func TestRequestsAreThinned(t *testing.T) {
	s := newSite(t)
	s.put("counts.n", objectdb.Number(0))
	s.script("raise", `counts.n = counts.n + 1 return "raised"`)
	raise := func(times int) {
		for range times {
			require.Equal(t, 200, s.ask("/raise.fcgi", nil).Status)
		}
	}
	raise(5)
	assert.Equal(t, numbers(0), s.past("counts.n"), "the first of the hour")
	s.asPerson("counts.n", objectdb.Number(100))
	raise(3)
	assert.Equal(t, numbers(100, 5, 0), s.past("counts.n"), "what the person has overwritten and written too")
	s.asPerson("counts.n", objectdb.Number(7))
	s.asPerson("counts.n", objectdb.Number(8))
	assert.Equal(t, numbers(7, 103, 100, 5, 0), s.past("counts.n"))

	s.put("user.webserver.historyInterval", objectdb.Number(0))
	raise(2)
	assert.Equal(t, numbers(9, 8, 7, 103, 100, 5, 0), s.past("counts.n"), "each value")
}

// Scripts and texts that requests write are kept each time, and also if they are deleted.
func TestScriptsOfRequestsAreKept(t *testing.T) {
	s := newSite(t)
	s.put("own.code", objectdb.Script("return 1"))
	s.put("own.note", objectdb.Text("one"))
	s.put("own.title", objectdb.String("first"))
	s.script("write", `local text = (...).searchTable.text
odb.delete ("own.code")
odb.copy ("drafts.[\"" .. text .. "\"]", "own.code")
own.note, own.title = text, text
return "written"`)
	for _, text := range []string{"2", "3", "4"} {
		s.put(`drafts.["`+text+`"]`, objectdb.Script("return "+text))
	}
	s.script("drop", `odb.delete ("own") return "dropped"`)
	for _, text := range []string{"2", "3", "4"} {
		require.Equal(t, 200, s.ask("/write.fcgi?text="+text, nil).Status)
	}
	require.Equal(t, 200, s.ask("/drop.fcgi", nil).Status)
	scripts := []objectdb.Value{objectdb.Script("return 4"), objectdb.Script("return 3"), objectdb.Script("return 2"),
		objectdb.Script("return 1")}
	assert.Equal(t, scripts, s.past("own.code"))
	assert.Equal(t, []objectdb.Value{objectdb.Text("4"), objectdb.Text("3"), objectdb.Text("2"), objectdb.Text("one")},
		s.past("own.note"))
	assert.Equal(t, []objectdb.Value{objectdb.String("4"), objectdb.String("first")}, s.past("own.title"),
		"thinned, and kept when it is deleted")
}

// A row of user.webserver.history says what is kept of the objects below its address.
func TestHistoryRows(t *testing.T) {
	s := newSite(t)
	s.put(`user.webserver.history.["own.secrets"]`, objectdb.String("nothing"))
	s.put(`user.webserver.history.["own.orders"]`, objectdb.String("everything"))
	s.put(`user.webserver.history.["own.orders.open"]`, objectdb.String("thinned"))
	for _, a := range []string{"own.secrets.key", "own.orders.last", "own.orders.open.last"} {
		s.put(a, objectdb.String("0"))
	}
	s.script("write", `local n = (...).searchTable.n
own.secrets.key, own.orders.last, own.orders.open.last = n, n, n
return "written"`)
	for n := range 3 {
		require.Equal(t, 200, s.ask(fmt.Sprintf("/write.fcgi?n=%d", n+1), nil).Status)
	}
	text := func(list ...string) (values []objectdb.Value) {
		for _, s := range list {
			values = append(values, objectdb.String(s))
		}
		return values
	}
	assert.Equal(t, text("2", "1", "0"), s.past("own.orders.last"))
	assert.Equal(t, text("0"), s.past("own.orders.open.last"))

	before := len(s.changes())
	s.asPerson("own.secrets.key", objectdb.String("a person's"))
	s.asPerson("own.secrets.key", objectdb.String("again"))
	update(t, s.db, func(tx *objectdb.Tx) error {
		tx.Origin.Person = true
		return tx.Delete(objectdb.Address{"own", "secrets", "key"})
	})
	assert.Empty(t, s.past("own.secrets.key"))
	assert.Len(t, s.changes(), before, "nothing that could be told")
}

// The history does not keep what Scripter writes for itself: recorded requests, the dirty root flag.
func TestBookkeepingIsNotKept(t *testing.T) {
	s := debugging(t)
	s.script("hello", `webserver.setDirtyRoot () return "hello"`)
	before := s.changes()
	for range 3 {
		require.Equal(t, 200, s.ask("/hello.fcgi", nil).Status)
	}
	require.Len(t, s.recorded(), 3)
	assert.Equal(t, before, s.changes())
}

func TestOriginOfRequests(t *testing.T) {
	s := debugging(t)
	s.put("own.n", objectdb.Number(0))
	s.script("raise", `own.n = own.n + 1 return "raised"`)
	s.put("user.webserver.historyInterval", objectdb.Number(0))
	last := func() objectdb.Origin { return s.changes()[0].Origin }

	r := s.postForm("/raise.fcgi", "", map[string]string{"PATH_INFO": "/more", "REMOTE_USER": "ada"})
	_, out := s.answer(r)
	require.Equal(t, 200, out.Status)
	assert.Equal(t, objectdb.Origin{Who: "ada", Why: "POST", Path: "/raise.fcgi/more (request 1)"}, last())

	s.put("user.webserver.flDebug", objectdb.Boolean(false))
	require.Equal(t, 200, s.ask("/raise.fcgi", map[string]string{"PATH_INFO": "/\xff" + strings.Repeat("x", 300)}).Status)
	path := last().Path
	assert.True(t, strings.HasPrefix(path, "/raise.fcgi/\uFFFDxxx"), path)
	assert.True(t, strings.HasSuffix(path, "x…"), path)

	person := objectdb.Origin{Person: true, Who: "tom", Why: "scripter call"}
	r = s.request("/raise.fcgi", nil)
	r.By = person
	_, out = s.answer(r)
	require.Equal(t, 200, out.Status)
	person.Path = "/raise.fcgi"
	assert.Equal(t, person, last())
}

// If Debugging switches itself off, the origin of the change says so.
func TestOriginOfDebugMinutes(t *testing.T) {
	s := debugging(t)
	s.put("user.webserver.historyInterval", objectdb.Number(0))
	s.script("hello", `return "hello"`)
	later := time.Now().Add(time.Hour)
	s.g.now = func() time.Time { return later }
	require.Equal(t, 200, s.ask("/hello.fcgi", nil).Status)
	require.Equal(t, objectdb.Boolean(false), s.get("user.webserver.flDebug"))
	assert.Equal(t, objectdb.Origin{Why: "debugMinutes"}, s.changes()[0].Origin)
}
