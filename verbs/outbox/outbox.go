// Package outbox has the verbs that look at the outbox: see the package outbox that keeps it.
package outbox

import (
	"errors"
	"time"

	"scripter/objectdb"
	"scripter/outbox"
	"scripter/script"
)

// Verbs are the verbs of the group.
var Verbs = []script.Verb{
	{
		Name:    "outbox.state",
		Doc:     `What has become of a mail, a post or a later script: "waiting", "sent", "dead", or nil.`,
		Params:  []script.Param{script.Arg("key", "string", "from mail.send, http.post_later, after or at")},
		Results: script.Returns("any", "nil if it was dropped, or was sent long ago"),
		Example: `outbox.state ("none") or "unknown"`,
		Gives:   "unknown",
		Func:    state,
	},
	{
		Name: "outbox.list",
		Doc: "The mails, posts and later scripts that wait, the oldest first, as tables with key, kind (mail, post, " +
			"script), to, subject, created and next (dates), tries, and error.",
		Params:  []script.Param{script.Opt("state", "string", `"waiting"`, `"waiting", "dead" or "sent"`)},
		Results: script.Returns("table[]", ""),
		Errors:  "another state",
		Example: `user.remind = odb.script ("user.reminded = ...")
after (3600, user.remind)
return outbox.list () [1].to`,
		Gives: "user.remind",
		Func:  list,
	},
	{
		Name:    "outbox.drop",
		Doc:     "Removes a mail, a post or a later script that waits or is dead.",
		Params:  []script.Param{script.Arg("key", "string", "from mail.send, http.post_later, after or at")},
		Results: script.Returns("boolean", "false if it was sent, is being sent now, or is unknown"),
		Example: `user.remind = odb.script ("user.reminded = ...")
return tostring (outbox.drop (after (3600, user.remind)))`,
		Gives: "true",
		Func:  drop,
	},
}

const waiting = "waiting"

func find(c *script.Call) (outbox.Row, outbox.State, error) {
	key := c.String(1)
	if !outbox.IsKey(key) {
		return outbox.Row{}, "", nil
	}
	r, s, err := outbox.Find(c.Thread().Tx(), key)
	if errors.Is(err, outbox.ErrNone) {
		return r, "", nil
	}
	return r, s, err
}

func state(c *script.Call) error {
	_, s, err := find(c)
	switch s {
	case "":
		c.Return(nil)
	case outbox.Waiting:
		c.Return(waiting)
	default:
		c.Return(string(s))
	}
	return err
}

func list(c *script.Call) error {
	s := outbox.State(c.OptString(1, waiting))
	switch s {
	case waiting:
		s = outbox.Waiting
	case outbox.Dead, outbox.Sent:
	default:
		c.Bad(1, `"waiting", "dead" or "sent" expected`)
	}
	rows, err := outbox.List(c.Thread().Tx(), s)
	if err != nil {
		return err
	}
	all := script.NewList()
	for _, r := range rows {
		c.Charge(1)
		t := script.NewTable()
		t.Set("key", r.Key)
		t.Set("kind", string(r.Kind))
		t.Set("to", r.To)
		t.Set("subject", r.Subject)
		t.Set("created", objectdb.Date{Time: time.UnixMilli(r.Created).UTC()})
		t.Set("next", objectdb.Date{Time: time.UnixMilli(r.Next).UTC()})
		t.Set("tries", r.Tries)
		t.Set("error", r.Error)
		all.Append(t)
	}
	c.Return(all)
	return nil
}

func drop(c *script.Call) error {
	r, s, err := find(c)
	if err != nil || s == "" || s == outbox.Sent || r.Claimed(c.Thread().Now()) {
		c.Return(false)
		return err
	}
	_, err = outbox.Drop(c.Thread().Tx(), r.Key)
	c.Return(err == nil)
	return err
}
