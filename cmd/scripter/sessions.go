package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"scripter/login"
	"scripter/objectdb"
	"scripter/site"
)

// shortID is how much of the ID of a session is shown, and at least wanted.
const shortID = 12

func (t *tool) sessionsCommand() *cobra.Command {
	var user, realm string
	c := &cobra.Command{
		Use:   "sessions",
		Short: "list and end the sessions of the visitors of the site",
		Long: `Sessions lists what the site keeps of its visitors: the beginning of the session's
ID, who has logged in, when it was used last, when it ends if it is not used (UTC),
how much scripts have stored in it, and the host. The last used ones come first.
The sessions of people on the web page are another matter: scripter users.`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return usageError{hintError{fmt.Errorf("there is no command %q", "sessions "+args[0]),
				"the commands are sessions end and sessions purge"}}
		},
		RunE: func(c *cobra.Command, _ []string) error {
			return t.view(c.Context(), func(tx *objectdb.Tx) error { return t.listSessions(tx, user, realm) })
		},
	}
	t.userFlags(c, &user, &realm)
	c.AddCommand(t.sessionsEndCommand(), t.sessionsPurgeCommand())
	return c
}

func (t *tool) userFlags(c *cobra.Command, user, realm *string) {
	c.Flags().StringVar(user, "user", "", "only those of the user `NAME`")
	c.Flags().StringVar(realm, "realm", site.DefaultRealm, "the `REALM` of the user")
	t.flag(c, "user", userNames)
	t.flag(c, "realm", nothing)
}

// isOf reports whether a session is of a user who has logged in; all are of the user "".
func isOf(v *login.Visit, user, realm string) bool {
	name, in := v.Name()
	return user == "" || name != "" && in == realm && objectdb.Fold(name) == objectdb.Fold(user)
}

func (t *tool) listSessions(tx *objectdb.Tx, user, realm string) error {
	s, err := site.Read(tx)
	if err != nil {
		return err
	}
	times, now := login.VisitTimes(s), time.Now()
	all, broken, err := login.Visits(tx)
	if err != nil {
		return err
	}
	list, lines, expired := []any{}, [][]string{}, 0
	for _, v := range all {
		if !isOf(v, user, realm) {
			continue
		}
		ends := v.Expires(times)
		if !now.Before(ends) {
			expired++
			continue
		}
		size, err := v.Size(tx)
		if err != nil {
			return err
		}
		name, of := v.Name()
		m := map[string]any{"id": v.ID, "host": v.Host(), "began": v.Created().UTC().Format(time.RFC3339),
			"used": v.Seen().UTC().Format(time.RFC3339), "ends": ends.UTC().Format(time.RFC3339), "bytes": size}
		who := "-"
		if name != "" {
			m["user"], m["realm"], who = name, of, name
			if of != site.DefaultRealm {
				who += " of " + of
			}
		}
		list = append(list, m)
		lines = append(lines, []string{v.ID[:min(shortID, len(v.ID))], who, "used " + v.Seen().UTC().Format(time.DateTime),
			"ends " + ends.UTC().Format(time.DateTime), counted(int(size), "byte"), v.Host()})
	}
	if t.json {
		return t.printJSON(list)
	}
	if len(lines) == 0 {
		fmt.Fprintln(t.out, "there are no sessions")
	} else if err := t.columns(lines); err != nil {
		return err
	}
	if expired += len(broken); expired > 0 && user == "" {
		fmt.Fprintf(t.out, "%s more, which the site removes from time to time: %s\n",
			counted(expired, "expired session"), t.self("sessions purge"))
	}
	return nil
}

func (t *tool) sessionsEndCommand() *cobra.Command {
	var user, realm string
	var all bool
	c := &cobra.Command{
		Use:   "end [ID...]",
		Short: "end sessions of visitors, with all that is stored in them",
		Long: `End ends the sessions with these IDs, of which the beginning is enough, those of
--user, or --all. The remembered log-ins of --user end too.`,
		Args:              args(0, -1),
		ValidArgsFunction: t.arguments(sessionIDs),
		RunE: func(c *cobra.Command, ids []string) error {
			ways := 0
			for _, given := range []bool{len(ids) > 0, user != "", all} {
				if given {
					ways++
				}
			}
			if ways != 1 {
				return usageError{hintError{errors.New("sessions end takes IDs, or --user, or --all"), "usage: " + c.UseLine()}}
			}
			return t.endSessions(c.Context(), ids, user, realm)
		},
	}
	t.userFlags(c, &user, &realm)
	c.Flags().BoolVar(&all, "all", false, "all sessions")
	return c
}

// sessionIDs completes the beginning of the ID of a session.
func sessionIDs(t *tool, c *cobra.Command, _ []string, typed string) (list []offer) {
	t.peek(c, func(tx *objectdb.Tx) error {
		all, _, err := login.Visits(tx)
		for _, v := range all {
			name, _ := v.Name()
			about := strings.TrimSpace(name + " used " + v.Seen().UTC().Format(time.DateTime))
			list = append(list, offer{text: v.ID[:min(shortID, len(v.ID))], about: about})
		}
		return err
	})
	return beginning(typed, list)
}

func (t *tool) endSessions(ctx context.Context, ids []string, user, realm string) error {
	n := 0
	err := t.update(ctx, func(tx *objectdb.Tx) (err error) {
		if user != "" {
			n, err = login.EndVisits(tx, realm, user)
			return err
		}
		wanted, err := t.sessionRows(tx, ids)
		n = len(wanted)
		for _, id := range wanted {
			err = cmp.Or(err, tx.Delete(site.Visitors.Child(id)))
		}
		return err
	})
	if err == nil {
		fmt.Fprintf(t.out, "ended %s\n", counted(n, "session"))
	}
	return err
}

// sessionRows returns the IDs of the sessions that begin with one of ids, or of all for none.
func (t *tool) sessionRows(tx *objectdb.Tx, ids []string) (wanted []string, err error) {
	list, broken, err := login.Visits(tx)
	if err != nil {
		return nil, err
	}
	all := broken
	for _, v := range list {
		all = append(all, v.ID)
	}
	if len(ids) == 0 {
		return all, nil
	}
	for _, id := range ids {
		if len(id) < shortID {
			return nil, fmt.Errorf("the ID %q is too short: it has at least %d characters", id, shortID)
		}
		i := slices.IndexFunc(all, func(row string) bool { return strings.HasPrefix(row, strings.ToLower(id)) })
		if i < 0 {
			return nil, hintError{fmt.Errorf("there is no session %q", id), fmt.Sprintf("%q lists them", t.self("sessions"))}
		}
		wanted = append(wanted, all[i])
		all = slices.Delete(all, i, i+1)
	}
	return wanted, nil
}

func (t *tool) sessionsPurgeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "purge",
		Short: "remove the sessions and remembered log-ins that have expired",
		Long: `Purge removes what has expired, which the site does by itself at most every ten
minutes, when a session begins.`,
		Args: args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			return t.with(forWork, func(db *objectdb.DB) error {
				n, err := login.New(login.Config{DB: db, Site: site.NewCache()}).Sweep(c.Context())
				if err == nil {
					fmt.Fprintf(t.out, "removed %s and remembered log-ins that have expired\n", counted(n, "session"))
				}
				return err
			})
		},
	}
}
