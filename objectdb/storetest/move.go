package storetest

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

const elsewhere = "postgres://ada@db/it's?schema=a"

// A root that is moved has all commits up to the mark, and refuses all others, also in programs that have had it open.
func testMove(t *T) {
	db := open(t)
	other, err := t.Open(db.Path(), Patient)
	require.NoError(t, err)
	defer other.Close()
	n := objectdb.Address{"n"}
	Put(t, db, "n", objectdb.Number(0))
	c := Save(t, db, objectdb.SaveOptions{})
	var writers sync.WaitGroup
	var made atomic.Int64
	for range 2 {
		writers.Go(func() {
			for {
				err := other.Update(context.Background(), func(tx *objectdb.Tx) error { return Increment(tx, n) })
				if err != nil {
					assert.ErrorIs(t, err, objectdb.ErrMoved)
					return
				}
				made.Add(1)
			}
		})
	}
	path := t.Path(t)
	require.NoError(t, db.Move(context.Background(), elsewhere, func(d *objectdb.Dump) error {
		for range 2 {
			err := other.UpdateLocked(context.Background(), func(tx *objectdb.Tx) error { return Increment(tx, n) })
			requireMoved(t, err)
		}
		_, err := t.Import(context.Background(), path, Patient, d)
		return err
	}))
	writers.Wait()
	target, err := t.Open(path, Patient)
	require.NoError(t, err)
	defer target.Close()
	assert.Equal(t, objectdb.Number(made.Load()), Get(t, target, "n"), "no commit is lost")
	assert.Equal(t, Get(t, db, "n"), Get(t, target, "n"))
	assert.Empty(t, Must(target.Info(context.Background()))(t).Moved, "the copy can be written")
	Put(t, target, "n", objectdb.Number(-1))

	assert.Equal(t, elsewhere, Must(db.Info(context.Background()))(t).Moved)
	RequireSound(t, db)
	Save(t, db, objectdb.SaveOptions{})
	again, err := t.Open(db.Path(), Patient)
	require.NoError(t, err)
	defer again.Close()
	for name, write := range map[string]func() error{
		"update": func() error {
			return again.Update(context.Background(), func(tx *objectdb.Tx) error { return Increment(tx, n) })
		},
		"revert": func() error {
			_, err := again.Revert(context.Background(), c.Path, objectdb.SaveOptions{})
			return err
		},
		"forget": func() error {
			_, err := again.Forget(context.Background(), n)
			return err
		},
		"move": func() error {
			return again.Move(context.Background(), "somewhere", func(*objectdb.Dump) error { panic("it was moved already") })
		},
	} {
		t.Run(name, func(t *T) { requireMoved(t, write()) })
	}
	assert.Equal(t, objectdb.Number(made.Load()), Get(t, again, "n"))

	assert.Equal(t, elsewhere, Must(again.Unmark(context.Background()))(t))
	assert.Empty(t, Must(again.Unmark(context.Background()))(t))
	for _, user := range []*objectdb.DB{db, other, again} {
		Update(t, user, func(tx *objectdb.Tx) { require.NoError(t, Increment(tx, n)) })
	}
	assert.Equal(t, objectdb.Number(made.Load()+3), Get(t, db, "n"))
	assert.Empty(t, Must(db.Info(context.Background()))(t).Moved)
}

func requireMoved(t testing.TB, err error) {
	t.Helper()
	require.ErrorIs(t, err, objectdb.ErrMoved)
	require.ErrorIs(t, err, objectdb.ErrReadOnly)
	require.ErrorContains(t, err, elsewhere)
}

// If the move fails, the root can be written again.
func testMoveThatFails(t *T) {
	db := open(t)
	Put(t, db, "n", objectdb.Number(0))
	broken := errors.New("broken")
	ctx, cancel := context.WithCancel(context.Background())
	require.ErrorIs(t, db.Move(ctx, elsewhere, func(*objectdb.Dump) error {
		cancel()
		return broken
	}), broken)
	Put(t, db, "n", objectdb.Number(1))
	reader, err := t.Open(db.Path(), objectdb.Options{ReadOnly: true})
	require.NoError(t, err)
	defer reader.Close()
	require.ErrorIs(t, reader.Move(context.Background(), elsewhere, func(*objectdb.Dump) error { return nil }),
		objectdb.ErrReadOnly)
	require.ErrorIs(t, db.At(1, nil).Move(context.Background(), elsewhere, func(*objectdb.Dump) error { return nil }),
		objectdb.ErrReadOnly)
	Put(t, db, "n", objectdb.Number(2))
}
