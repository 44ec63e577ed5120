package history

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"scripter/objectdb"
	"scripter/site"
)

// Past is the root as it was. It remembers the objects whose old values are missing.
type Past struct {
	DB         *objectdb.DB // see [objectdb.DB.At]
	today      *objectdb.DB
	generation int64
	mu         sync.Mutex
	later      map[int64]bool // the objects of which a later value was used
}

// NewPast returns the root as the commit of a generation left it.
func NewPast(today *objectdb.DB, generation int64) *Past {
	p := &Past{today: today, generation: generation, later: map[int64]bool{}}
	p.DB = today.At(generation, func(id, _ int64) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.later[id] = true
	})
	return p
}

// LaterValue is an object of which a later value was used.
type LaterValue struct {
	Address objectdb.Address // that it had in the past
	Written time.Time        // when the later value was written
}

// LaterValues returns the objects that were read from Past.DB, and of which a later value was used
// because the old one was not kept. If it cannot find an object, it returns the others and an error.
func (p *Past) LaterValues(ctx context.Context) (list []LaterValue, err error) {
	p.mu.Lock()
	ids := slices.Sorted(maps.Keys(p.later))
	p.mu.Unlock()
	for _, id := range ids {
		later, failed := p.object(ctx, id)
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("object %d: %w", id, failed))
			continue
		}
		if later.Address.Equal(site.FlDirtyRoot.Address()) {
			continue // it is read for every request, and nothing of it is ever kept
		}
		list = append(list, later)
	}
	return list, err
}

// object finds an object of which a later value was used.
func (p *Past) object(ctx context.Context, id int64) (later LaterValue, err error) {
	err = p.today.View(ctx, func(tx *objectdb.Tx) error {
		state, err := tx.StateAt(id, p.generation)
		if err == nil && state != nil {
			later.Address = state.Address
		}
		return err
	})
	if err != nil || later.Address == nil {
		return later, err
	}
	err = p.DB.View(ctx, func(tx *objectdb.Tx) error {
		n, err := tx.Find(later.Address)
		if err == nil {
			later.Written = n.Modified()
		}
		return err
	})
	return later, err
}
