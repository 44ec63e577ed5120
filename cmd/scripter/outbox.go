package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"scripter/objectdb"
	"scripter/outbox"
	"scripter/site"
	"scripter/valuetext"
)

func (t *tool) outboxCommand() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:   "outbox",
		Short: "list what waits to be sent, and what could not be; send it again, drop it",
		Long: `Outbox lists the mails, posts and later scripts that wait, and the dead letters: those
that were refused, or failed too often. Each line has the end of the key, the state,
the kind, to whom it goes, when it is tried next (UTC), the tries so far, and the last
error. --all also lists the last ones that were sent. Wherever a command takes a KEY,
its beginning or its end will do.`,
		Args: noSuchCommand("outbox", "show, resend, drop, flush, pause and resume"),
		RunE: func(c *cobra.Command, _ []string) error {
			return t.view(c.Context(), func(tx *objectdb.Tx) error { return t.listOutbox(tx, all) })
		},
	}
	c.Flags().BoolVar(&all, "all", false, "list what was sent, too")
	c.AddCommand(t.outboxShowCommand(), t.outboxResendCommand(), t.outboxDropCommand(), t.outboxFlushCommand(),
		t.pauseCommand("pause", "deliver nothing until resume", site.FlPauseOutbox, true),
		t.pauseCommand("resume", "deliver again", site.FlPauseOutbox, false))
	return c
}

// noSuchCommand returns a check that a command with subcommands has no other arguments.
func noSuchCommand(name, list string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return usageError{hintError{fmt.Errorf("there is no command %q", name+" "+args[0]), "the commands are " + list}}
	}
}

// pauseCommand returns a command that sets a flag of the site.
func (t *tool) pauseCommand(name, short string, flag *site.Setting, value bool) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: short, Args: args(0, 0), ValidArgsFunction: t.arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			return t.update(c.Context(), func(tx *objectdb.Tx) error { return flag.Set(tx, objectdb.Boolean(value)) })
		},
	}
}

func (t *tool) listOutbox(tx *objectdb.Tx, all bool) error {
	states := []outbox.State{outbox.Dead, outbox.Waiting}
	if all {
		states = append(states, outbox.Sent)
	}
	list, lines := []any{}, [][]string{}
	counts := map[outbox.State]int{}
	for _, s := range states {
		rows, err := outbox.List(tx, s)
		if err != nil {
			return err
		}
		counts[s] = len(rows)
		for _, r := range rows {
			list = append(list, jsonRow(r, s))
			lines = append(lines, rowLine(r, s))
		}
	}
	pause, err := paused(tx, site.FlPauseOutbox)
	if err != nil {
		return err
	}
	if t.json {
		return t.printJSON(list)
	}
	if len(lines) == 0 {
		fmt.Fprintln(t.out, "nothing waits, and there are no dead letters")
	} else if err := t.columns(lines); err != nil {
		return err
	}
	if pause {
		t.warn("the outbox is paused: nothing is delivered (%s)", t.self("outbox resume"))
	}
	if counts[outbox.Dead] > 0 {
		t.note("%s: scripter outbox show KEY tells why, resend KEY tries again", counted(counts[outbox.Dead], "dead letter"))
	}
	return nil
}

// stateText returns the word for the state of a row.
func stateText(r outbox.Row, s outbox.State) string {
	switch {
	case s != outbox.Waiting:
		return string(s)
	case r.Claimed(time.Now()):
		return "sending"
	}
	return "waiting"
}

func millis(n int64) time.Time { return time.UnixMilli(n) }

// shortKey is how much of a key a list shows: the end, which is random.
const shortKey = 8

func rowLine(r outbox.Row, s outbox.State) []string {
	return []string{r.Key[max(0, len(r.Key)-shortKey):], stateText(r, s), string(r.Kind), r.To, r.Subject,
		valuetext.Time(millis(r.Next)), fmt.Sprint(r.Tries), r.Error}
}

func jsonRow(r outbox.Row, s outbox.State) map[string]any {
	m := map[string]any{"key": r.Key, "state": stateText(r, s), "kind": r.Kind, "to": r.To, "tries": r.Tries,
		"size": r.Size, "from": r.From, "created": millis(r.Created).UTC().Format(time.RFC3339),
		"next": millis(r.Next).UTC().Format(time.RFC3339)}
	if r.Subject != "" {
		m["subject"] = r.Subject
	}
	if r.Error != "" {
		m["error"] = r.Error
	}
	return m
}

func (t *tool) outboxShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show KEY", Short: "show a row with its content", Args: args(1, 1), ValidArgsFunction: t.arguments(outboxKeys),
		RunE: func(c *cobra.Command, args []string) error {
			return t.view(c.Context(), func(tx *objectdb.Tx) error { return t.showRow(tx, args[0]) })
		},
	}
}

// findRow returns the row with a key, with a hint if there is none.
func findRow(tx *objectdb.Tx, key string) (outbox.Row, outbox.State, error) {
	r, s, err := outbox.Find(tx, key)
	if errors.Is(err, outbox.ErrNone) {
		err = hintError{err, `"scripter outbox --all" lists the rows`}
	}
	return r, s, err
}

func (t *tool) showRow(tx *objectdb.Tx, key string) error {
	r, s, err := findRow(tx, key)
	if err != nil {
		return err
	}
	cells, err := outbox.Content(tx, r.Key)
	if err != nil {
		return err
	}
	if t.json {
		m := jsonRow(r, s)
		content := map[string]string{}
		for name, v := range cells {
			content[name] = valuetext.Format(v)
		}
		m["content"] = content
		return t.printJSON(m)
	}
	lines := [][]string{{"key", r.Key}, {"state", stateText(r, s)}, {"kind", string(r.Kind)}, {"to", r.To},
		{"subject", r.Subject}, {"from", r.From}, {"created", valuetext.Time(millis(r.Created))},
		{"next", valuetext.Time(millis(r.Next))}, {"tries", fmt.Sprint(r.Tries)}, {"error", r.Error}}
	switch s {
	case outbox.Sent:
		lines[7][0] = "sent"
	case outbox.Dead:
		lines[7][0] = "died"
	}
	if r.Kind != outbox.Mail {
		lines[4][0] = "method"
	}
	lines = slices.DeleteFunc(lines, func(l []string) bool { return l[1] == "" })
	if err := t.columns(lines); err != nil {
		return err
	}
	return t.showContent(r, cells)
}

// showContent prints what is sent.
func (t *tool) showContent(r outbox.Row, cells map[string]objectdb.Value) error {
	if len(cells) == 0 {
		fmt.Fprintln(t.out, "\nthe content is not kept")
		return nil
	}
	switch r.Kind {
	case outbox.Mail:
		m, err := outbox.ReadMessage(cells)
		if err != nil {
			return err
		}
		fmt.Fprintf(t.out, "\nFrom: %s\n", m.From)
		for name, list := range map[string][]string{"To": m.To, "Cc": m.Cc, "Bcc": m.Bcc} {
			for _, a := range list {
				fmt.Fprintf(t.out, "%s: %s\n", name, a)
			}
		}
		for _, f := range m.Attachments {
			fmt.Fprintf(t.out, "Attachment: %s, %s, %s\n", f.Name, f.Type, counted(len(f.Data), "byte"))
		}
		text := m.Text
		if text == "" {
			text = m.HTML
		}
		fmt.Fprintf(t.out, "\n%s\n", text)
	case outbox.Script:
		_, args, err := outbox.ReadScript(cells)
		if err != nil {
			return err
		}
		fmt.Fprintf(t.out, "\narguments  %s\n", valuetext.Format(args))
	default:
		for name, v := range cells {
			fmt.Fprintf(t.out, "\n%s\n%s\n", name, valuetext.Format(v))
		}
	}
	return nil
}

// outboxKeys completes a key.
func outboxKeys(t *tool, c *cobra.Command, _ []string, typed string) (list []offer) {
	t.peek(c, func(tx *objectdb.Tx) error {
		for _, s := range outbox.States {
			rows, err := outbox.List(tx, s)
			if err != nil {
				return err
			}
			for _, r := range rows {
				list = append(list, offer{text: r.Key, about: string(r.Kind) + " to " + r.To})
			}
		}
		return nil
	})
	return beginning(typed, list)
}

func (t *tool) outboxResendCommand() *cobra.Command {
	var dead bool
	c := &cobra.Command{
		Use:   "resend KEY...",
		Short: "send rows again now, with all their tries",
		Long: `Resend makes dead letters and waiting rows ones that are due now. The agent sends them:
scripter-fcgi, serve, or scripter agent. Their keys stay the same.`,
		Args:              args(0, -1),
		ValidArgsFunction: t.arguments(outboxKeys),
		RunE: func(c *cobra.Command, keys []string) error {
			if dead == (len(keys) > 0) {
				return usageError{hintError{errors.New("resend takes keys, or --dead"), "usage: " + c.UseLine()}}
			}
			return t.changeRows(c.Context(), keys, dead, "sent again", func(tx *objectdb.Tx, key string) error {
				_, err := outbox.Resend(tx, key, time.Now())
				return err
			})
		},
	}
	c.Flags().BoolVar(&dead, "dead", false, "all dead letters")
	return c
}

func (t *tool) outboxDropCommand() *cobra.Command {
	var dead bool
	c := &cobra.Command{
		Use: "drop KEY...", Short: "remove rows, and deliver them never", Args: args(0, -1),
		ValidArgsFunction: t.arguments(outboxKeys),
		RunE: func(c *cobra.Command, keys []string) error {
			if dead == (len(keys) > 0) {
				return usageError{hintError{errors.New("drop takes keys, or --dead"), "usage: " + c.UseLine()}}
			}
			return t.changeRows(c.Context(), keys, dead, "dropped", func(tx *objectdb.Tx, key string) error {
				_, err := outbox.Drop(tx, key)
				return err
			})
		},
	}
	c.Flags().BoolVar(&dead, "dead", false, "all dead letters")
	return c
}

// changeRows changes the rows with these keys, or all dead ones, or none if one fails.
func (t *tool) changeRows(
	ctx context.Context, keys []string, dead bool, done string, change func(tx *objectdb.Tx, key string) error,
) error {
	n := 0
	err := t.update(ctx, func(tx *objectdb.Tx) error {
		list := keys
		if dead {
			rows, err := outbox.List(tx, outbox.Dead)
			if err != nil {
				return err
			}
			for _, r := range rows {
				list = append(list, r.Key)
			}
		}
		n = len(list)
		for _, key := range list {
			r, _, err := findRow(tx, key)
			if err == nil {
				err = change(tx, r.Key)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		fmt.Fprintf(t.out, "%s: %s\n", done, counted(n, "row"))
	}
	return err
}

func (t *tool) outboxFlushCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "flush",
		Short: "try all mails and posts that wait now",
		Long: `Flush makes all mails and posts that have failed and wait for another try due now: a
mail server works again, say. Later scripts keep their times.`,
		Args: args(0, 0), ValidArgsFunction: t.arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			n := 0
			err := t.update(c.Context(), func(tx *objectdb.Tx) (err error) {
				n, err = outbox.Flush(tx, time.Now())
				return err
			})
			if err == nil {
				fmt.Fprintf(t.out, "due now: %s\n", counted(n, "row"))
			}
			return err
		},
	}
}
