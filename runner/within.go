package runner

import "iter"

// runWithin runs fn in the transaction of o.Within.
func (r *Runner) runWithin(o Options, fn func(*Run) error) error {
	outer := o.Within
	return outer.Thread.Interrupt(func() error {
		view, err := r.config.Site.View(outer.Tx)
		if err != nil {
			return err
		}
		o.Discard = o.Discard || o.ReadOnly
		run := &Run{Tx: outer.Tx, runner: r, options: o, view: view}
		defer run.close()
		// A failure undoes what the present Try has written. keep ends that Try and begins another one,
		// in the loop below. fn runs in a coroutine, so that keep can leave it and come back.
		next, stop := iter.Pull(func(yield func(struct{}) bool) {
			run.keep = func() { yield(struct{}{}) }
			if err = run.do(fn); err == nil {
				err = view.Err()
			}
			if err == nil && o.Discard {
				err = errDiscard
			}
		})
		defer stop()
		for more := true; more && err == nil; {
			err = outer.Thread.Try(func() error {
				if _, more = next(); more {
					return nil
				}
				return err
			})
		}
		if err == errDiscard {
			err = nil
		}
		return err
	})
}
