package macros

// expansion is one pass through a page.
type expansion struct {
	page *Page
	ev   Evaluator
	done int // offset of the first byte that was neither written nor left out
}

// Expand writes the page with its markers replaced to ev, up to the first error of ev, which it
// returns.
func (p *Page) Expand(ev Evaluator) error {
	x := expansion{page: p, ev: ev}
	if err := x.run(0, len(p.markers)); err != nil {
		return err
	}
	if p.more && x.done < len(p.text) {
		if err := x.rest(); err != nil {
			return err
		}
	}
	x.text(len(p.text))
	return nil
}

// rest expands the markers that the page does not store.
func (x *expansion) rest() error {
	s := scanner{position: x.page.rest}
	for m := s.next(len(x.page.markers)); m != nil; m = s.next(m.Index + 1) {
		if m.Kind != Insert {
			m.fail("blocks must end among the first 10,000 markers of a page")
		}
		x.text(m.Offset)
		x.done = m.end()
		if err := x.ev.Insert(m); err != nil {
			return err
		}
	}
	return nil
}

// text writes the text up to an offset.
func (x *expansion) text(to int) {
	if x.done < to {
		x.ev.Text(x.page.text[x.done:to])
		x.done = to
	}
}

// run expands the markers from i on and before stop, and the text between them.
func (x *expansion) run(i, stop int) (err error) {
	for err == nil && i < stop {
		m := x.page.markers[i]
		x.text(m.Offset)
		x.done = m.end()
		switch {
		case m.Kind == Insert:
			err = x.ev.Insert(m)
			i++
		case m.Next == len(x.page.markers):
			// Nobody knows where the block ends. What may be in it is left out.
			err = x.ev.Insert(m)
			x.done = len(x.page.text)
			i = stop
		case m.Kind == If:
			i, err = x.choose(m)
		case m.Kind == For:
			i, err = x.loop(m)
		default:
			err = x.ev.Block(m, func() error { return x.branch(m) })
			i = x.after(x.page.markers[m.Next])
		}
	}
	return err
}

// branch expands what is between m and the marker that ends its branch.
func (x *expansion) branch(m *Marker) error {
	x.done = m.end()
	err := x.run(m.Index+1, m.Next)
	if err == nil {
		x.text(x.page.markers[m.Next].Offset)
	}
	return err
}

// after leaves out everything up to an End, and returns the index of the next marker.
func (x *expansion) after(end *Marker) int {
	x.done = end.end()
	return end.Index + 1
}

// choose expands the first branch of an If whose condition is true, and returns the index of the next
// marker.
func (x *expansion) choose(m *Marker) (next int, err error) {
	chosen := false
	for ; m.Kind != End; m = x.page.markers[m.Next] {
		if chosen {
			continue
		}
		if chosen = m.Kind == Else; !chosen {
			chosen, err = x.ev.Test(m)
		}
		switch {
		case err == ErrFailed:
			chosen, err = true, nil
		case err == nil && chosen:
			err = x.branch(m)
		}
		if err != nil {
			return 0, err
		}
	}
	return x.after(m), nil
}

// loop expands the items of a For, or its Else if there are none, and returns the index of the next
// marker.
func (x *expansion) loop(m *Marker) (next int, err error) {
	found, err := x.ev.Each(m, func() error { return x.branch(m) })
	if err != nil && err != ErrFailed {
		return 0, err
	}
	end := x.page.markers[m.Next]
	if end.Kind == Else {
		if !found && err == nil {
			if err := x.branch(end); err != nil {
				return 0, err
			}
		}
		end = x.page.markers[end.Next]
	}
	return x.after(end), nil
}
