package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"scripter/objectdb"
	"scripter/scheduler"
	"scripter/site"
	"scripter/valuetext"
)

func (t *tool) scheduleCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "schedule",
		Short: "list, add and run scheduled scripts",
		Long: `Schedule lists the rows of user.scheduler: name, when the script runs, time zone,
script, the next run (UTC), and how the last one went.`,
		Args: noSuchCommand("schedule", "add, show, rm, run, on, off, pause and resume"),
		RunE: func(c *cobra.Command, _ []string) error { return t.view(c.Context(), t.listSchedule) },
	}
	c.AddCommand(t.scheduleAddCommand(), t.scheduleShowCommand(), t.scheduleRmCommand(),
		t.reachFlags(t.scheduleRunCommand()),
		t.scheduleSwitchCommand("on", "let a script run again", true),
		t.scheduleSwitchCommand("off", "let a script not run any more", false),
		t.pauseCommand("pause", "run no scheduled script until resume", site.FlPauseSchedule, true),
		t.pauseCommand("resume", "run scheduled scripts again", site.FlPauseSchedule, false))
	return c
}

func (t *tool) listSchedule(tx *objectdb.Tx) error {
	entries, err := scheduler.ReadSchedule(tx)
	if err != nil {
		return err
	}
	runs, err := scheduler.ReadRuns(tx)
	if err != nil {
		return err
	}
	pause, err := paused(tx, site.FlPauseSchedule)
	if err != nil {
		return err
	}
	now := time.Now()
	list, lines := []any{}, [][]string{}
	for _, e := range entries {
		r := runs[objectdb.Fold(e.Name)]
		list = append(list, jsonEntry(e, r, now))
		lines = append(lines, []string{e.Name, e.Cron, e.Zone, scriptText(e), nextText(e, r, now), lastText(r)})
	}
	switch {
	case t.json:
		return t.printJSON(list)
	case len(entries) == 0:
		fmt.Fprintf(t.out, "nothing is scheduled: %s\n", t.self(`schedule add NAME "30 2 * * *" SCRIPT`))
	default:
		if err := t.columns(lines); err != nil {
			return err
		}
	}
	for _, e := range entries {
		if e.Err != nil {
			t.warn("%s does not run: %v", site.Schedule.Child(e.Name), e.Err)
		}
	}
	if pause {
		t.warn("the schedule is paused: nothing runs (%s)", t.self("schedule resume"))
	}
	return nil
}

// scriptText returns the address of the script; "" if the row names none.
func scriptText(e scheduler.Entry) string {
	if e.Script == nil {
		return ""
	}
	return e.Script.String()
}

// nextRun returns when an entry runs next; the zero time if it does not.
func nextRun(e scheduler.Entry, r scheduler.Runs, now time.Time) time.Time {
	switch {
	case e.Err != nil || !e.On:
		return time.Time{}
	case r.Spec == e.Spec() && r.Next > 0:
		return time.UnixMilli(r.Next)
	}
	return e.Next(now)
}

func nextText(e scheduler.Entry, r scheduler.Runs, now time.Time) string {
	switch next := nextRun(e, r, now); {
	case e.Err != nil:
		return "mistake"
	case !e.On:
		return "off"
	case r.By != "" && now.UnixMilli() < r.Lease:
		return "running"
	case next.IsZero():
		return "never"
	default:
		return valuetext.Time(next)
	}
}

func lastText(r scheduler.Runs) string {
	if len(r.Last) == 0 {
		return "never ran"
	}
	last := r.Last[0]
	text := last.Result + " " + valuetext.Time(time.UnixMilli(last.Began))
	if last.Error != "" {
		text += ": " + last.Error
	}
	return text
}

func jsonEntry(e scheduler.Entry, r scheduler.Runs, now time.Time) map[string]any {
	m := map[string]any{"name": e.Name, "cron": e.Cron, "zone": e.Zone, "script": scriptText(e), "on": e.On,
		"runs": append([]scheduler.Run{}, r.Last...)}
	if next := nextRun(e, r, now); !next.IsZero() {
		m["next"] = next.UTC().Format(time.RFC3339)
	}
	if e.Err != nil {
		m["why"] = e.Err.Error()
	}
	return m
}

func (t *tool) scheduleAddCommand() *cobra.Command {
	var zone, missed string
	c := &cobra.Command{
		Use:   "add NAME CRON SCRIPT [ARGUMENT...]",
		Short: "add or change a scheduled script",
		Long: `Add makes or changes the row NAME of user.scheduler. CRON is when the script runs, as
crontabs have it: minute, hour, day of the month, month, day of the week, or @hourly,
@daily, @weekly, @monthly or "@every 90m". SCRIPT is the address of a script. The
arguments are texts.

If no program was there to run the script in time, it runs once as soon as one is;
with --missed skip it waits for the next time.`,
		Args:              args(3, -1),
		ValidArgsFunction: t.arguments(nothing, nothing, addressOf(objectdb.KindScript), nothing),
		RunE: func(c *cobra.Command, args []string) error {
			a, err := address(args[2])
			if err != nil {
				return err
			}
			if missed != scheduler.MissedRun && missed != scheduler.MissedSkip {
				return usageError{fmt.Errorf("--missed is run or skip, not %q", missed)}
			}
			e := scheduler.Entry{Name: args[0], Cron: args[1], Zone: zone, Script: a, On: true,
				Skip: missed == scheduler.MissedSkip}
			for _, text := range args[3:] {
				e.Args = append(e.Args, objectdb.String(text))
			}
			err = t.update(c.Context(), func(tx *objectdb.Tx) error {
				if err := e.Check(tx); err != nil {
					return hintError{fmt.Errorf("schedule %s: %w", e.Name, err), "nothing was changed"}
				}
				return e.Put(tx)
			})
			if err == nil {
				fmt.Fprintf(t.out, "%s runs next at %s\n", e.Name, valuetext.Time(e.Next(time.Now())))
			}
			return err
		},
	}
	c.Flags().StringVar(&zone, "zone", "", `time zone of CRON, such as "Europe/Paris"; UTC without it`)
	c.Flags().StringVar(&missed, "missed", scheduler.MissedRun, "run or skip what was missed")
	t.flag(c, "zone", nothing)
	t.flag(c, "missed", words(scheduler.MissedRun, scheduler.MissedSkip))
	return c
}

// scheduleNames completes the name of a row.
func scheduleNames(t *tool, c *cobra.Command, _ []string, typed string) (list []offer) {
	t.peek(c, func(tx *objectdb.Tx) error {
		entries, err := scheduler.ReadSchedule(tx)
		for _, e := range entries {
			list = append(list, offer{text: e.Name, about: e.Cron + " " + e.Script.String()})
		}
		return err
	})
	return beginning(typed, list)
}

// findEntry returns the row with a name.
func findEntry(tx *objectdb.Tx, name string) (scheduler.Entry, error) {
	entries, err := scheduler.ReadSchedule(tx)
	if err != nil {
		return scheduler.Entry{}, err
	}
	for _, e := range entries {
		if objectdb.Fold(e.Name) == objectdb.Fold(name) {
			return e, nil
		}
	}
	return scheduler.Entry{}, hintError{fmt.Errorf("the schedule has no %q", name), `"scripter schedule" lists the rows`}
}

func (t *tool) scheduleShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show NAME", Short: "show a scheduled script and its last runs", Args: args(1, 1),
		ValidArgsFunction: t.arguments(scheduleNames),
		RunE: func(c *cobra.Command, args []string) error {
			return t.view(c.Context(), func(tx *objectdb.Tx) error { return t.showEntry(tx, args[0]) })
		},
	}
}

func (t *tool) showEntry(tx *objectdb.Tx, name string) error {
	e, err := findEntry(tx, name)
	if err != nil {
		return err
	}
	runs, err := scheduler.ReadRuns(tx)
	if err != nil {
		return err
	}
	now, r := time.Now(), runs[objectdb.Fold(e.Name)]
	if t.json {
		return t.printJSON(jsonEntry(e, r, now))
	}
	missed := scheduler.MissedRun
	if e.Skip {
		missed = scheduler.MissedSkip
	}
	lines := [][]string{{"name", e.Name}, {"cron", e.Cron}, {"zone", e.Zone}, {"script", scriptText(e)},
		{"args", valuetext.Format(append(objectdb.List{}, e.Args...))}, {"missed", missed}, {"next", nextText(e, r, now)}}
	if e.Err != nil {
		lines = append(lines, []string{"mistake", e.Err.Error()})
	}
	if err := t.columns(lines); err != nil {
		return err
	}
	if len(r.Last) == 0 {
		return nil
	}
	fmt.Fprintln(t.out)
	lines = nil
	for _, run := range r.Last {
		line := []string{valuetext.Time(time.UnixMilli(run.Began)), run.Result,
			(time.Duration(run.Took) * time.Millisecond).String(), run.Incident, run.Error + run.Text}
		if run.Missed > 0 {
			line[1] += fmt.Sprintf(", %d missed", run.Missed)
		}
		lines = append(lines, line)
	}
	return t.columns(lines)
}

func (t *tool) scheduleRmCommand() *cobra.Command {
	return &cobra.Command{
		Use: "rm NAME", Short: "remove a scheduled script", Args: args(1, 1), ValidArgsFunction: t.arguments(scheduleNames),
		RunE: func(c *cobra.Command, args []string) error {
			return t.update(c.Context(), func(tx *objectdb.Tx) error {
				e, err := findEntry(tx, args[0])
				if err != nil {
					return err
				}
				if err := tx.Delete(site.Schedule.Child(e.Name)); err != nil {
					return err
				}
				return scheduler.RemoveRuns(tx, e.Name)
			})
		},
	}
}

func (t *tool) scheduleSwitchCommand(name, short string, on bool) *cobra.Command {
	return &cobra.Command{
		Use: name + " NAME", Short: short, Args: args(1, 1), ValidArgsFunction: t.arguments(scheduleNames),
		RunE: func(c *cobra.Command, args []string) error {
			return t.update(c.Context(), func(tx *objectdb.Tx) error {
				e, err := findEntry(tx, args[0])
				if err != nil {
					return err
				}
				return tx.Put(site.Schedule.Child(e.Name).Child("on"), objectdb.Boolean(on))
			})
		},
	}
}

func (t *tool) scheduleRunCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "run NAME",
		Short: "run a scheduled script now",
		Long: `Run runs a scheduled script now, unless it runs already, as the agent does: with its
arguments, in one transaction, within the limit maxScheduledTime. It prints what the
script writes and returns. Its next run stays where it is.`,
		Args: args(1, 1), ValidArgsFunction: t.arguments(scheduleNames),
		RunE: func(c *cobra.Command, args []string) error { return t.runEntry(c.Context(), args[0]) },
	}
}

func (t *tool) runEntry(ctx context.Context, name string) error {
	return t.withAgent(ctx, func(a *scheduler.Agent) error {
		run, err := a.RunNow(ctx, name)
		switch {
		case err != nil:
			return fmt.Errorf("schedule run %s: %w", name, err)
		case run.Result != scheduler.RunOK:
			return errors.New(run.Error)
		case t.json:
			return t.printJSON(run)
		}
		if run.Text != "" {
			fmt.Fprintln(t.raw(), run.Text)
		}
		fmt.Fprintf(t.out, "%s ran in %v\n", name, time.Duration(run.Took)*time.Millisecond)
		return nil
	})
}
