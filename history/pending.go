package history

import "scripter/objectdb"

// PendingDiffs returns what a transaction has written and not committed, as differences from what
// was there before: most of them at the most. more is how many others there are. An object that was
// moved is removed from one place and added at another one.
func PendingDiffs(tx *objectdb.Tx, most int) (list []*Diff, more int, err error) {
	all, err := tx.Pending()
	if err != nil {
		return nil, 0, err
	}
	more = max(len(all)-most, 0)
	for _, p := range all[:len(all)-more] {
		d, err := pendingDiff(tx, p)
		if err != nil {
			return nil, 0, err
		}
		list = append(list, d)
	}
	return list, more, nil
}

func pendingDiff(tx *objectdb.Tx, p objectdb.Pending) (*Diff, error) {
	d := &Diff{How: "changed"}
	if p.Before == nil {
		d.How = "added"
	} else {
		a := p.Address.Parent().Child(p.Before.Name())
		d.Before = &Side{Address: a, Kind: p.Before.Kind(), Size: p.Before.Size(), Label: "before"}
	}
	if p.Node == nil {
		d.How = "removed"
	} else {
		d.After = &Side{Address: p.Address, Kind: p.Node.Kind(), Size: p.Node.Size(), Label: "after"}
	}
	var err error
	if d.Before != nil && d.Before.Kind != objectdb.KindTable {
		if d.Before.Value, err = tx.ValueBefore(p); err != nil {
			return nil, err
		}
	}
	if d.After != nil && d.After.Kind != objectdb.KindTable {
		d.After.Value, err = tx.Value(p.Node)
	}
	return d, err
}
