package doctor_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/doctor"
	"scripter/objectdb"
	"scripter/outbox"
	"scripter/site"
)

// TestBackground checks what is said of mail servers, rows that nobody delivers, and dead letters.
func TestBackground(t *testing.T) {
	root := newRoot(t)
	o := doctor.Options{Root: root, MailServers: []doctor.MailServer{
		{MailServer: site.MailServer{Host: "a.example", Port: 25}},
		{MailServer: site.MailServer{Host: "b.example", Port: 25}, Err: errors.New("smtp://b.example:25: refused")},
	}}
	told := func() (list []string) {
		r, err := doctor.Run(t.Context(), o)
		require.NoError(t, err)
		for _, f := range r.Checks {
			if f.Check == "outbox" || f.Check == "mail" {
				list = append(list, f.State+" "+f.Reason)
			}
		}
		return list
	}
	assert.Equal(t, []string{
		"ok smtp://a.example:25 answers, and takes mails",
		"warning no mail can be sent by the server that scripter.conf lists: smtp://b.example:25: refused",
	}, told())
	o.MailServers = nil
	then := time.Now().Add(-time.Hour)
	require.NoError(t, root.Update(t.Context(), func(tx *objectdb.Tx) error {
		for range 2 {
			key, err := outbox.Add(tx, then, outbox.Row{Kind: outbox.Script}, nil)
			require.NoError(t, err)
			if _, _, err := outbox.Claim(tx, key, "x", then, time.Minute); err != nil {
				return err
			}
			if err := outbox.Bury(tx, key, "x", then, errors.New("no")); err != nil {
				return err
			}
		}
		_, err := outbox.Add(tx, then, outbox.Row{Kind: outbox.Script}, nil)
		return err
	}))
	list := told()
	require.Len(t, list, 2)
	assert.Contains(t, list[0], "warning no agent works: the first of 1 overdue rows")
	assert.Contains(t, list[1], "warning dead letters, which were refused or failed too often: 2")
	require.NoError(t, root.Update(t.Context(), func(tx *objectdb.Tx) error {
		return site.FlPauseOutbox.Set(tx, objectdb.Boolean(true))
	}))
	assert.Contains(t, told()[0], "note it is paused")
}
