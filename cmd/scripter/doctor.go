package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"scripter/doctor"
	"scripter/objectdb"
	"scripter/scheduler"
)

func (t *tool) doctorCommand() *cobra.Command {
	o := doctor.Options{Root: doctorRoot{t}}
	c := &cobra.Command{
		Use:   "doctor --url http://www.example.com/",
		Short: "find what is wrong between the web server and the root",
		Long: `Doctor asks the real web server for scripts and pages, and says what arrives
here, what is missing, and which line of the web server's configuration to
change. Its requests carry a token, whose hash lies in the root while it works
and for five minutes at most; nothing of the site runs.

Run it on the web server's machine, as a user who may write the root. The exit
status is 1 when there is a fault, and 0 with only warnings and notes.`,
		Args: args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			if o.URL == "" {
				return usageError{hintError{errors.New("doctor wants the address of the web server"),
					"scripter doctor --url http://localhost/"}}
			}
			return t.doctor(c.Context(), o)
		},
	}
	c.Flags().StringVar(&o.URL, "url", "", "the site's address, http or https")
	c.Flags().StringVar(&o.Page, "page", "",
		"path of a page with macros, such as /welcome.mcro; else one is looked for")
	c.Flags().StringVar(&o.Protected, "protected", "",
		"folder of URLs that needs a password, such as /members/; requested without one")
	c.Flags().StringArrayVar(&o.Headers, "header", nil, `header field "Name: value" of all requests; may be repeated`)
	t.flag(c, "url", nothing)
	t.flag(c, "page", nothing)
	t.flag(c, "protected", nothing)
	t.flag(c, "header", nothing)
	return c
}

// doctorRoot is the root of the doctor. It is open only during a transaction.
type doctorRoot struct{ t *tool }

func (f doctorRoot) Path() string { return f.t.rootName() }

func (f doctorRoot) View(ctx context.Context, fn func(tx *objectdb.Tx) error) error {
	return f.t.view(ctx, fn)
}

func (f doctorRoot) Update(ctx context.Context, fn func(tx *objectdb.Tx) error) error {
	return f.t.update(ctx, fn)
}

// mailServers asks the mail servers that are listed for the root.
func (t *tool) mailServers(ctx context.Context) (list []doctor.MailServer, err error) {
	reach, err := t.mayReach()
	if err != nil {
		return nil, err
	}
	for _, m := range reach.MailServers {
		list = append(list, doctor.MailServer{MailServer: m, Err: scheduler.CheckMailServer(ctx, m)})
	}
	return list, nil
}

func (t *tool) doctor(ctx context.Context, o doctor.Options) (err error) {
	if o.MailServers, err = t.mailServers(ctx); err != nil {
		return err
	}
	r, err := doctor.Run(ctx, o)
	var wrong *doctor.OptionError
	switch {
	case errors.As(err, &wrong):
		return usageError{fmt.Errorf("--%w", err)}
	case errors.Is(err, objectdb.ErrReadOnly):
		return hintError{err,
			"doctor leaves a token in the root; run it as a user who may write it, such as the root's owner: sudo -u …"}
	case err != nil:
		return err
	}
	if t.json {
		if err := t.printJSON(r); err != nil {
			return err
		}
	} else {
		for _, f := range r.Checks {
			fmt.Fprintf(t.out, "%-7s  %-14s %s\n", f.State, f.Check, f.Reason)
			for _, line := range f.Change {
				fmt.Fprintf(t.out, "%-7s  %-14s %s\n", "", "  change:", line)
			}
		}
	}
	if r.Faults > 0 {
		return fmt.Errorf("%s: %s, %s", r.URL, counted(r.Faults, "fault"), counted(r.Warnings, "warning"))
	}
	return nil
}
