package scheduler

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/outbox"
	"scripter/runner"
	"scripter/site"
)

// eval runs Lua that may write into the outbox.
func (r *testRoot) eval(source string) (runner.Evaluated, error) {
	return r.runner().Eval(r.t.Context(), runner.Options{}, source)
}

// later writes the row of a script.
func (r *testRoot) later(source string) {
	r.t.Helper()
	_, err := r.eval(source)
	require.NoError(r.t, err)
}

// TestLater checks scripts that run later: once, with their arguments, at their time.
func TestLater(t *testing.T) {
	r := newRoot(t)
	r.put("workspace.note", objectdb.Script(`
		local who, t, when, last = ...
		scratchpad.n = (scratchpad.n or 0) + 1
		scratchpad.said = who .. t.list [2] .. t.name .. when.year .. tostring (last)
		scratchpad.key = job.key`))
	r.put("workspace.go", objectdb.Script(`
		return after (60, workspace.note, "Ada", {list = {1, 2}, name = "x"}, odb.date ("2026-01-31T00:00:00Z"), true)`))
	r.later(`scratchpad.returned = workspace.go ()`)
	r.once()
	assert.Empty(t, r.get("scratchpad.said"))
	r.pass(time.Minute)
	r.once()
	r.once()
	assert.Equal(t, "Ada2x2026true", r.get("scratchpad.said"))
	assert.Equal(t, "1", r.get("scratchpad.n"))
	key := r.get("scratchpad.returned")
	assert.Equal(t, key, r.get("scratchpad.key"))
	_, state := r.row(key)
	assert.Equal(t, outbox.Sent, state)

	// One that fails leaves nothing, is tried again, and works then.
	r.put("workspace.flaky", objectdb.Script(`
		scratchpad.flaky = "written"
		if not scratchpad.works then error ("not yet") end`))
	r.later(`scratchpad.returned = after (0, "workspace.flaky")`)
	key = r.get("scratchpad.returned")
	r.once()
	row, state := r.row(key)
	assert.Equal(t, outbox.Waiting, state)
	assert.Contains(t, row.Error, "not yet")
	assert.Empty(t, r.get("scratchpad.flaky"))
	assert.Contains(t, r.log.String(), "script failed")
	r.put("scratchpad.works", objectdb.Boolean(true))
	r.pass(15 * time.Second)
	r.once()
	assert.Equal(t, "written", r.get("scratchpad.flaky"))

	for source, why := range map[string]string{
		`after (-1, workspace.note)`: "0 to", `after (0/0, workspace.note)`: "0 to", `after (1e12, workspace.note)`: "0 to",
		`after (1, "workspace.none")`: "there is no script at workspace.none", `after (1, "scratchpad.said")`: "not a script",
		`after (1, workspace.note, nil, 1)`: "cannot be nil", `after (1, workspace.note, string.len)`: "function",
		`after (1, "a..b")`: "no address", `after (1, {})`: "a script of the root", `at (5, workspace.note)`: "date expected",
		`after ("x", workspace.note)`: "number expected",
	} {
		_, err := r.eval(source)
		assert.ErrorContains(t, err, why, source)
	}
}

// TestRolledBack checks that a run that fails, or is undone, sends nothing.
func TestRolledBack(t *testing.T) {
	r := newRoot(t)
	r.reach.MailServers = []site.MailServer{{Host: "localhost", Port: 25, From: []string{"*@example.com"}}}
	r.put("workspace.note", objectdb.Script(`scratchpad.n = 1`))
	const send = `after (0, workspace.note); mail.send ({to = "ada@example.com", from = "x@example.com", text = "x"}) `
	_, err := r.eval(send + `error ("no")`)
	require.Error(t, err)
	_, err = r.runner().Eval(t.Context(), runner.Options{Discard: true}, send)
	require.NoError(t, err)
	_, err = r.eval(`pcall (function () ` + send + ` end) error ("no")`)
	require.Error(t, err)
	assert.Empty(t, r.rows(outbox.Waiting))
	r.view(func(tx *objectdb.Tx) error {
		_, err := tx.Find(site.Outbox)
		assert.ErrorIs(t, err, objectdb.ErrNotFound, "no content either")
		return nil
	})
	r.later(send)
	assert.Len(t, r.rows(outbox.Waiting), 2)
}

// TestOutboxLimits checks the limits of rows and sizes.
func TestOutboxLimits(t *testing.T) {
	r := newRoot(t)
	r.reach.MailServers = []site.MailServer{{Host: "localhost", Port: 25, From: []string{"x@example.com"}}}
	r.put("workspace.note", objectdb.Script(``))
	r.put("user.webserver.maxMail", objectdb.Number(0.01))
	_, err := r.eval(`mail.send ({to = "ada@example.com", text = ("x"):rep (20000)})`)
	require.ErrorContains(t, err, "user.webserver.maxMail")
	_, err = r.eval(`mail.send ({to = "ada@example.com", text = "x", attachments = {["a.txt"] = ("x"):rep (20000)}})`)
	require.ErrorContains(t, err, "user.webserver.maxMail")
	_, err = r.eval(`for i = 1, 1001 do after (0, workspace.note) end`)
	require.ErrorContains(t, err, "one request can write 1000 rows")

	r.put("user.webserver.maxOutbox", objectdb.Number(3))
	r.put("user.webserver.flPauseOutbox", objectdb.Boolean(true))
	r.later(`for i = 1, 3 do after (0, workspace.note) end`)
	r.once()
	_, err = r.eval(`after (0, workspace.note)`)
	require.ErrorIs(t, err, outbox.ErrFull)
	assert.Contains(t, r.log.String(), "the outbox is full")
	r.put("user.webserver.flPauseOutbox", objectdb.Boolean(false))
	r.once() // another agent, which has not made the mark
	r.once()
	assert.Empty(t, r.rows(outbox.Waiting))
	r.later(`after (0, workspace.note)`)
}

// TestRowsDoNotConflict checks that requests that write rows at once are not run a second time.
func TestRowsDoNotConflict(t *testing.T) {
	r := newRoot(t)
	r.put("workspace.note", objectdb.Script(``))
	run := r.runner()
	write := func() runner.Outcome {
		out, err := run.Run(t.Context(), runner.Options{}, func(run *runner.Run) error {
			run.Start(nil, &testHost{Run: run})
			_, err := run.Thread.RunSource("x", `after (3600, "workspace.note")`)
			return err
		})
		assert.NoError(t, err)
		return out
	}
	write() // makes the tables
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				assert.False(t, write().Again, "a conflict")
			}
		})
	}
	all.Wait()
	assert.Len(t, r.rows(outbox.Waiting), 161)
}

// TestTwoAgents checks that agents which work at once do everything once.
func TestTwoAgents(t *testing.T) {
	r := newRoot(t)
	const n = 200
	r.put("workspace.note", objectdb.Script(`local i = ...; scratchpad ["n" .. i] = (scratchpad ["n" .. i] or 0) + 1`))
	r.later(fmt.Sprintf(`for i = 1, %d do after (0, workspace.note, i) end`, n))
	var all sync.WaitGroup
	for range 3 {
		a := r.agent()
		all.Go(func() { assert.NoError(t, a.Once(t.Context())) })
	}
	all.Wait()
	r.once()
	assert.Empty(t, r.rows(outbox.Waiting))
	for i := range n {
		assert.Equal(t, "1", r.get(fmt.Sprintf("scratchpad.n%d", i+1)))
	}
}

// TestQuick checks that a started agent sees a row soon, and ends.
func TestQuick(t *testing.T) {
	r := newRoot(t)
	r.put("workspace.note", objectdb.Script(`scratchpad.n = "done"`))
	o := r.options()
	o.Now = nil
	stop := New(o).Start()
	time.Sleep(300 * time.Millisecond)
	r.later(`after (0, workspace.note)`)
	begun := time.Now()
	require.Eventually(t, func() bool { return r.get("scratchpad.n") == "done" }, 10*time.Second, 5*time.Millisecond)
	t.Log("took", time.Since(begun))
	stop()
	r.later(`scratchpad.n = "again"; after (0, workspace.note)`)
	time.Sleep(300 * time.Millisecond)
	assert.Equal(t, "again", r.get("scratchpad.n"))
}

// TestLease checks that the row of an agent that is gone is taken over, once its lease has ended, and that the
// first agent cannot say any more what became of it.
func TestLease(t *testing.T) {
	r := newRoot(t)
	r.put("workspace.note", objectdb.Script(`scratchpad.n = (scratchpad.n or 0) + 1`))
	r.later(`after (0, workspace.note)`)
	key := r.rows(outbox.Waiting)[0].Key
	o := r.options()
	o.Run = func(context.Context, Job, Limits) Result { return Result{Err: "killed"} }
	gone := New(o)
	r.update(func(tx *objectdb.Tx) error {
		_, ok, err := outbox.Claim(tx, key, gone.name, r.now(), lease)
		assert.True(t, ok)
		return err
	})
	r.once()
	assert.Empty(t, r.get("scratchpad.n"))
	r.pass(lease + time.Second)
	r.once()
	assert.Equal(t, "1", r.get("scratchpad.n"))
	result := RunJob(t.Context(), r.runner(), r.db, Job{By: gone.name, Key: key}, nil)
	assert.True(t, result.Lost)
	assert.Equal(t, "1", r.get("scratchpad.n"))
	r.update(func(tx *objectdb.Tx) error {
		err := outbox.Retry(tx, key, gone.name, r.now(), errors.New("late"))
		assert.ErrorIs(t, err, outbox.ErrLost)
		return nil
	})

	// A row whose agents always die is a dead letter in the end.
	r.put("user.webserver.outboxTries", objectdb.Number(3))
	r.later(`after (0, workspace.note)`)
	key = r.rows(outbox.Waiting)[0].Key
	for range 3 {
		r.update(func(tx *objectdb.Tx) error {
			_, ok, err := outbox.Claim(tx, key, gone.name, r.now(), lease)
			assert.True(t, ok)
			return err
		})
		r.pass(lease + time.Second)
	}
	r.once()
	row, state := r.row(key)
	assert.Equal(t, outbox.Dead, state)
	assert.Contains(t, row.Error, "it was begun 3 times")
}

// TestTidy checks that sent and dead rows do not stay for ever.
func TestTidy(t *testing.T) {
	r := newRoot(t)
	r.put("workspace.note", objectdb.Script(``))
	r.put("workspace.bad", objectdb.Script(`error ("never")`))
	r.put("user.webserver.outboxTries", objectdb.Number(1))
	r.later(`for i = 1, 210 do after (0, workspace.note) end; after (0, workspace.bad)`)
	r.once()
	assert.Len(t, r.rows(outbox.Sent), 200)
	require.Len(t, r.rows(outbox.Dead), 1)
	r.pass(29 * 24 * time.Hour)
	r.once()
	require.Len(t, r.rows(outbox.Dead), 1)
	r.pass(2 * 24 * time.Hour)
	r.once()
	assert.Empty(t, r.rows(outbox.Dead))
	assert.Contains(t, r.log.String(), "dead letters were removed")
	r.view(func(tx *objectdb.Tx) error {
		list, err := tx.List(site.Outbox.Child("content"))
		assert.Empty(t, list)
		return err
	})
}

// TestMailArguments checks what mail.send refuses.
func TestMailArguments(t *testing.T) {
	r := newRoot(t)
	r.reach.MailServers = []site.MailServer{{Host: "localhost", Port: 25, From: []string{"shop@example.com", "*@example.org"}}}
	r.put("user.logo", objectdb.Binary{Type: "image/png", Data: "PNG"})
	with := func(cells string) string {
		return `mail.send ({to = "ada@example.com", subject = "x", text = "x", ` + cells + `})`
	}
	for source, why := range map[string]string{
		with(`subject = "a\nBcc: x@example.net"`): "line end", with(`subject = "a\0"`): "control character",
		with(`from = "x@example.net"`): "does not let mails come from", with(`from = "a@example.org, b@example.org"`): "more than one",
		with(`to = "ada@example.com\r\nBcc: x@y.z"`): "to: ", with(`to = "nobody"`): "no address", with(`cc = {"a@b.c", "x"}`): "cc: ",
		with(`to = "\"a\rb\"@example.com"`): "to: ", with(`to = "<a@b.c>, <d@e.f"`): "to: ", with(`to = "jörg@example.com"`): "not ASCII",
		with(`sujbect = "x"`): `"sujbect" is none of to`, with(`to = {}`): "no recipients", with(`text = false`): "not a text",
		with(`headers = {Subject = "x"}`): "headers: ", with(`headers = {["X-A"] = "a\nb"}`): "headers: ",
		with(`headers = {["X-A: b\n"] = "a"}`): "headers: ", with(`attachments = {["a/b"] = "x"}`): "not the name of a file",
		with(`attachments = {["a\n"] = "x"}`): "not the name of a file", with(`attachments = {odb.address ("user.none")}`): "none",
		with(`attachments = {"x"}`): "neither the address", with(`attachments = {{name = "x", data = "y", type = "a\nb/c"}}`): "MIME",
		`mail.send ({to = "a@b.c", subject = "x"})`: "neither text nor html", `mail.send ("x")`: "table expected",
		with(`text = "\255"`): "not UTF-8", with(`reply_to = {"a@b.c", "d@e.f"}`): "more than one",
		with(`to = ("a@example.com, "):rep (100) .. "b@example.com"`): "101 recipients",
	} {
		_, err := r.eval(source)
		assert.ErrorContains(t, err, why, source)
	}
	assert.Empty(t, r.rows(outbox.Waiting))
	r.later(with(`cc = {"Grace <grace@example.com>", "b@example.com, c@example.com"},
		attachments = {odb.address ("user.logo"), ["list.csv"] = "a,b", {name = "x.bin", data = "\255\0"}}`))
	row := r.rows(outbox.Waiting)[0]
	assert.Equal(t, "ada@example.com, grace@example.com, b@example.com, c@example.com", row.To)
	r.view(func(tx *objectdb.Tx) error {
		cells, err := outbox.Content(tx, row.Key)
		require.NoError(t, err)
		m, err := outbox.ReadMessage(cells)
		require.NoError(t, err)
		var files []string
		for _, a := range m.Attachments {
			files = append(files, a.Name+" "+a.Type)
		}
		assert.Equal(t, "list.csv text/csv, logo image/png, x.bin application/octet-stream", strings.Join(files, ", "))
		assert.Equal(t, "shop@example.com", m.From)
		return nil
	})
}
