package login

import (
	"context"
	"errors"
	"slices"
	"time"

	"scripter/objectdb"
	"scripter/site"
)

// sweepEvery is how often a root is swept, and sweepAtOnce how many rows one transaction removes.
const (
	sweepEvery  = 10 * time.Minute
	sweepAtOnce = 200
)

var errSwept = errors.New("the root was swept meanwhile")

// SweepIfDue sweeps unless some process of the root has done it in the last ten minutes.
func (l *Login) SweepIfDue(ctx context.Context) (removed int, err error) {
	isDue := func(tx *objectdb.Tx) (bool, error) {
		v, err := tx.Get(site.VisitorsSwept)
		if err != nil && !objectdb.IsMissing(err) && !errors.Is(err, objectdb.ErrIsTable) {
			return false, err
		}
		last, _ := v.(objectdb.Number)
		ago := l.Now().Sub(time.Unix(int64(last), 0))
		return ago >= sweepEvery || ago < 0, nil // else a clock was set back
	}
	due := false
	err = l.DB.View(ctx, func(tx *objectdb.Tx) (err error) {
		due, err = isDue(tx)
		return err
	})
	if err != nil || !due {
		return 0, err
	}
	err = l.DB.UpdateLocked(ctx, func(tx *objectdb.Tx) error {
		if due, err := isDue(tx); err != nil || !due {
			return errors.Join(err, errSwept)
		}
		tx.Origin = origin("remove expired sessions")
		return tx.Put(site.VisitorsSwept, objectdb.Number(l.Now().Unix()))
	})
	if errors.Is(err, errSwept) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return l.Sweep(ctx)
}

// Sweep removes the sessions of visitors that have expired, those that were used least recently beyond the
// setting maxSessions, and the remembered log-ins that have expired. It returns how many rows it has removed.
func (l *Login) Sweep(ctx context.Context) (removed int, err error) {
	var old []objectdb.Address
	err = l.DB.View(ctx, func(tx *objectdb.Tx) (err error) {
		old, err = l.expired(tx)
		return err
	})
	for err == nil && len(old) > 0 {
		n := min(len(old), sweepAtOnce)
		err = l.DB.UpdateLocked(ctx, func(tx *objectdb.Tx) error {
			tx.Origin = origin("remove expired sessions")
			for _, a := range old[:n] {
				if err := deleteRow(tx, a.Parent(), a.Name()); err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil {
			old, removed = old[n:], removed+n
		}
	}
	return removed, err
}

// expired returns the rows that [Login.Sweep] removes.
func (l *Login) expired(tx *objectdb.Tx) (old []objectdb.Address, err error) {
	snapshot, err := l.Site.Snapshot(tx)
	if err != nil {
		return nil, err
	}
	now, times := l.Now(), VisitTimes(snapshot)
	list, broken, err := Visits(tx)
	if err != nil {
		return nil, err
	}
	for _, id := range broken {
		old = append(old, site.Visitors.Child(id))
	}
	kept := list[:0]
	for _, v := range list {
		if v.lasts(now, times) {
			kept = append(kept, v)
		} else {
			old = append(old, v.address())
		}
	}
	most := int(snapshot.Number(site.MaxSessions))
	for _, v := range kept[min(len(kept), most):] {
		old = append(old, v.address())
	}
	ids, err := rowNames(tx, site.Remembered)
	if err != nil {
		return nil, err
	}
	lasts := RememberTime(snapshot)
	for _, id := range ids {
		var row rememberedRow
		ok, err := readRow(tx, site.Remembered, id, &row)
		if err != nil {
			return nil, err
		}
		if !ok || !now.Before(time.Unix(row.Used, 0).Add(lasts)) {
			old = append(old, site.Remembered.Child(id))
		}
	}
	return old, nil
}

// RememberTime returns how long a log-in is remembered without being used.
func RememberTime(s *site.Snapshot) time.Duration {
	return time.Duration(s.Number(site.RememberDays) * 24 * float64(time.Hour))
}

// Visits returns all sessions of visitors, the last used one first, those that have expired too, and the
// names of the rows that cannot be read.
func Visits(tx *objectdb.Tx) (list []*Visit, broken []string, err error) {
	ids, err := rowNames(tx, site.Visitors)
	if err != nil {
		return nil, nil, err
	}
	for _, id := range ids {
		v, err := ReadVisit(tx, id)
		switch {
		case errors.Is(err, ErrNoSession):
			broken = append(broken, id)
		case err != nil:
			return nil, nil, err
		default:
			list = append(list, v)
		}
	}
	slices.SortStableFunc(list, func(a, b *Visit) int { return b.Seen().Compare(a.Seen()) })
	return list, broken, nil
}

// Remove removes a session of a visitor.
func (v *Visit) Remove(tx *objectdb.Tx) error { return deleteRow(tx, site.Visitors, v.ID) }

// EndVisits ends the sessions of an account on the site, and the remembered log-ins.
func EndVisits(tx *objectdb.Tx, realm, name string) (ended int, err error) {
	a := Account{Name: name, Realm: realm}
	if err := removeOldest(tx, placeOf(a), 0); err != nil {
		return 0, err
	}
	list, _, err := Visits(tx)
	if err != nil {
		return 0, err
	}
	for _, v := range list {
		if v.row.Name != "" && a.Is(Account{Name: v.row.Name, Realm: v.row.Realm}) {
			if err := v.Remove(tx); err != nil {
				return ended, err
			}
			ended++
		}
	}
	return ended, nil
}
