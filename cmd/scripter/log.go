package main

import (
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"scripter/objectdb"
)

// logging is one run of "scripter log".
type logging struct {
	most       int
	since, who string
	after      moment // of since
}

func (t *tool) logCommand() *cobra.Command {
	var l logging
	c := &cobra.Command{
		Use:   "log [ADDRESS]",
		Short: "list the changes of the root, or of an object",
		Long: `Log lists the changes in the history, the newest first: number, time (UTC), who has
made it, what was changed, and whether the change undoes others or is undone. With
ADDRESS it lists the changes of the object there, or of all that is or was in the
table there. "scripter show" shows a change, "scripter undo" takes it back.

--since takes a moment. ` + momentHelp,
		Args:              args(0, 1),
		ValidArgsFunction: t.arguments(addressOf()),
		RunE: func(c *cobra.Command, args []string) error {
			a, err := address(strings.Join(args, ""))
			if err != nil {
				return err
			}
			if l.since != "" {
				if l.after, err = parseMoment(l.since, time.Now()); err != nil {
					return err
				}
			}
			if l.most < 0 {
				return usageError{errors.New("-n is no less than 0")}
			}
			return t.view(c.Context(), func(tx *objectdb.Tx) error { return t.printLog(tx, a, &l) })
		},
	}
	c.Flags().IntVarP(&l.most, "number", "n", 20, "list at most so many changes; 0 is all")
	c.Flags().StringVar(&l.since, "since", "", "list only the changes since a time, or after the change with a number")
	c.Flags().StringVar(&l.who, "who", "", "list only the changes with this text in the column of who made them")
	t.flag(c, "number", nothing)
	t.flag(c, "since", changeNumbers)
	t.flag(c, "who", nothing)
	return c
}

// changesOf yields the changes of the object at an address and of all that is or was in it. If the
// address is empty, it yields the changes of the whole root.
func changesOf(tx *objectdb.Tx, a objectdb.Address) (iter.Seq2[objectdb.Change, error], error) {
	if len(a) == 0 {
		return tx.Changes(0), nil
	}
	ids, err := idsAt(tx, a)
	if err != nil {
		return nil, err
	}
	list, err := tx.ChangesOf(ids)
	return func(yield func(objectdb.Change, error) bool) {
		for _, g := range list {
			c, err := tx.Change(g)
			if errors.Is(err, objectdb.ErrNotFound) {
				continue // it was dropped, and something that it has kept is still there
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}, err
}

// idsAt returns the ids of the objects that are or were at and below an address.
func idsAt(tx *objectdb.Tx, a objectdb.Address) ([]int64, error) {
	ids, err := tx.IDsAt(a)
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		reach, made, err := tx.Reach()
		if err != nil {
			return nil, err
		}
		since := "change " + strconv.FormatInt(reach, 10)
		if made.UnixNano() > 0 {
			since += " of " + shownTime(made)
		}
		return nil, hintError{fmt.Errorf("there is no object %s, and the history back to %s has none", a, since),
			`"scripter ls" lists what is there, "scripter log" what was changed`}
	}
	return tx.IDsBelow(ids)
}

func (t *tool) printLog(tx *objectdb.Tx, a objectdb.Address, l *logging) error {
	changes, err := changesOf(tx, a)
	if err != nil {
		return err
	}
	list, more, newest := []change{}, false, int64(0)
	seen := undoings{}
	for c, err := range changes {
		if err != nil {
			return err
		}
		newest = max(newest, c.Generation)
		with := seen.see(c)
		if l.ended(&c) {
			break
		}
		if l.who != "" && !strings.Contains(strings.ToLower(who(c.Origin)), strings.ToLower(l.who)) {
			continue
		}
		if more = l.most > 0 && len(list) == l.most; more {
			break
		}
		list = append(list, with)
	}
	unkept, err := writtenAfter(tx, a, newest)
	if err != nil {
		return err
	}
	summaries := make([]summary, len(list))
	for i, c := range list {
		if summaries[i], err = summarize(tx, c.Change); err != nil {
			return err
		}
	}
	if t.json {
		changes := []any{}
		for i := range list {
			changes = append(changes, list[i].fields(&summaries[i]))
		}
		m := map[string]any{"changes": changes, "more": more}
		if unkept != nil {
			m["presentWritten"] = unkept.Modified().UTC()
		}
		return t.printJSON(m)
	}
	var rows [][]string
	for i, c := range list {
		row := []string{strconv.FormatInt(c.Generation, 10), shownTime(time.Unix(0, c.Time)), who(c.Origin),
			summaries[i].text(c.Count)}
		if m := c.marks(); m != "" {
			row[3] += " (" + m + ")"
		}
		rows = append(rows, row)
	}
	if err := t.columns(rows); err != nil {
		return err
	}
	if len(list) == 0 {
		fmt.Fprintln(t.out, l.none(a))
	}
	if more {
		fmt.Fprintf(t.out, "there are older ones: -n %d lists more, -n 0 all\n", 5*l.most)
	}
	if unkept != nil && l.since == "" && l.who == "" {
		fmt.Fprintf(t.out, "the present value was written at %s by a commit of which nothing is kept\n",
			shownTime(unkept.Modified()))
	}
	return nil
}

// ended reports whether a change, and with it all older ones, is from before --since.
func (l *logging) ended(c *objectdb.Change) bool {
	if l.since == "" {
		return false
	}
	if l.after.change > 0 {
		return c.Generation <= l.after.change
	}
	return time.Unix(0, c.Time).Before(l.after.time)
}

// none says that no change is listed.
func (l *logging) none(a objectdb.Address) string {
	of := ""
	if len(a) > 0 {
		of = " of " + a.String()
	}
	if l.since != "" || l.who != "" {
		return "there is no such change" + of
	}
	return "no change" + of + " is kept"
}

// writtenAfter returns the object at an address if its value was written after a change.
func writtenAfter(tx *objectdb.Tx, a objectdb.Address, newest int64) (*objectdb.Node, error) {
	if len(a) == 0 {
		return nil, nil
	}
	n, err := tx.Find(a)
	if errors.Is(err, objectdb.ErrNotFound) || errors.Is(err, objectdb.ErrNotTable) {
		return nil, nil
	}
	if err != nil || n.Kind() == objectdb.KindTable || n.Version() <= newest {
		return nil, err
	}
	return n, nil
}
