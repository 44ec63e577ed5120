package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"scripter/gateway"
	"scripter/objectdb"
	"scripter/site"
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
	m, err := parseMoment(f.text, time.Now())
	if err != nil {
		return err
	}
	return t.with(forReading, func(db *objectdb.DB) error {
		generation, err := m.generation(ctx, db)
		if err != nil {
			return err
		}
		p := newPast(db, generation)
		err = fn(p.db)
		if !f.namesOnly {
			t.tellOf(ctx, p)
		}
		return err
	})
}

// past is the root as it was, with the objects whose values were missing.
type past struct {
	db, today  *objectdb.DB
	generation int64
	mu         sync.Mutex
	later      map[int64]bool // the objects of which a later value was used
}

func newPast(today *objectdb.DB, generation int64) *past {
	p := &past{today: today, generation: generation, later: map[int64]bool{}}
	p.db = today.At(generation, func(id, _ int64) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.later[id] = true
	})
	return p
}

// maxNamed is how many objects tellOf names.
const maxNamed = 3

// tellOf prints a note of the objects of which a later value was used, because the old one was
// not kept.
func (t *tool) tellOf(ctx context.Context, p *past) {
	p.mu.Lock()
	ids := slices.Sorted(maps.Keys(p.later))
	p.mu.Unlock()
	var names []string
	count := 0
	for _, id := range ids {
		a, modified, err := p.object(ctx, id)
		if err != nil {
			t.warn("object %d: %v", id, err)
		}
		if a.Equal(site.FlDirtyRoot.Address()) {
			continue // it is read for every request, and nothing of it is ever kept
		}
		if count++; count <= maxNamed {
			names = append(names, fmt.Sprintf("%s (of %s)", a, shownTime(modified)))
		}
	}
	if count == 0 {
		return
	}
	if count > maxNamed {
		names = append(names, "…")
	}
	t.note("the old value of %s was not kept, so a later value is used: %s",
		counted(count, "object"), strings.Join(names, ", "))
}

// object returns the address that an object had, and when the value was written that is used
// instead of the old one.
func (p *past) object(ctx context.Context, id int64) (a objectdb.Address, modified time.Time, err error) {
	err = p.today.View(ctx, func(tx *objectdb.Tx) error {
		state, err := tx.StateAt(id, p.generation)
		if err == nil && state != nil {
			a = state.Address
		}
		return err
	})
	if err != nil || a == nil {
		return a, modified, err
	}
	err = p.db.View(ctx, func(tx *objectdb.Tx) error {
		n, err := tx.Find(a)
		if err == nil {
			modified = n.Modified()
		}
		return err
	})
	return a, modified, err
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
