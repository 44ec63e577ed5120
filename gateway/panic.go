package gateway

import (
	"fmt"
	"runtime/debug"
)

// panicked is a panic in Go while a request was answered: a mistake of ours. It
// fails this request alone; package script has its own for panics in verbs.
type panicked struct {
	value any
	stack []byte
}

func (e *panicked) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// safely calls fn and makes an error of its panic. What fn holds it gives back
// by defer: locks, transactions, its turn.
func safely(fn func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicked{v, debug.Stack()}
		}
	}()
	return fn()
}
