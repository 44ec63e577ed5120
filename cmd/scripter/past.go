package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"scripter/gateway"
	"scripter/history"
	"scripter/objectdb"
	"scripter/valuetext"
)

// atFlag is the flag --at of a command: the root as it was.
type atFlag struct {
	text      string // "" = as it is now
	namesOnly bool   // the command prints no values
}

func (f *atFlag) add(t *tool, c *cobra.Command) {
	c.Flags().StringVar(&f.text, "at", "", "the root as it was: a time, or the number of a change")
	t.flag(c, "at", nothing)
}

// viewAt does what view does, in the root as it was if the flag is given.
func (t *tool) viewAt(ctx context.Context, f atFlag, fn func(tx *objectdb.Tx) error) error {
	return t.withAt(ctx, f, forReading, func(db *objectdb.DB) error { return db.View(ctx, fn) })
}

// withGatewayAt does what withGateway does, in the root as it was if the flag is given.
func (t *tool) withGatewayAt(
	ctx context.Context, f atFlag, o objectdb.Options, fn func(g *gateway.Gateway) error,
) error {
	return t.withAt(ctx, f, o, func(db *objectdb.DB) error {
		g, err := t.gateway(db, nil)
		if err != nil {
			return err
		}
		defer t.tellOfFiles(g)
		return fn(g)
	})
}

// withAt calls fn with the open root, as it was if the flag is given. Then it prints a note of
// the values that were not kept.
func (t *tool) withAt(ctx context.Context, f atFlag, o objectdb.Options, fn func(db *objectdb.DB) error) error {
	if f.text == "" {
		return t.with(o, fn)
	}
	m, err := history.ParseMoment(f.text, time.Now())
	if err != nil {
		return err
	}
	return t.with(forReading, func(db *objectdb.DB) error {
		var generation int64
		err := db.View(ctx, func(tx *objectdb.Tx) (err error) {
			generation, err = m.Generation(tx)
			return err
		})
		if err != nil {
			return err
		}
		p := history.NewPast(db, generation)
		err = fn(p.DB)
		if !f.namesOnly {
			t.tellOf(ctx, p)
		}
		return err
	})
}

// maxNamed is how many objects tellOf names.
const maxNamed = 3

// tellOf prints a note of the objects of which a later value was used, because the old one was
// not kept.
func (t *tool) tellOf(ctx context.Context, p *history.Past) {
	list, err := p.LaterValues(ctx)
	if err != nil {
		t.warn("%v", err)
	}
	if len(list) == 0 {
		return
	}
	var names []string
	for _, later := range list[:min(maxNamed, len(list))] {
		names = append(names, fmt.Sprintf("%s (of %s)", later.Address, valuetext.Time(later.Written)))
	}
	if len(list) > maxNamed {
		names = append(names, "…")
	}
	t.note("the old value of %s was not kept, so a later value is used: %s",
		counted(len(list), "object"), strings.Join(names, ", "))
}

// tellOfFiles prints a note if a gateway on the root as it was has read files.
func (t *tool) tellOfFiles(g *gateway.Gateway) {
	if g.IsPast() && g.HasReadFiles() {
		t.note("pages and other files are those of today's disk")
	}
}

// note prints a text for information on the standard error.
func (t *tool) note(format string, args ...any) {
	fmt.Fprintf(t.err, "scripter: note: %s\n", visible(fmt.Sprintf(format, args...)))
}
