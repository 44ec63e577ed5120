package objectdb

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestIsFailure(t *testing.T) {
	for _, err := range []error{ErrDamaged, ErrDisk, ErrUnreachable, ErrUnknown} {
		assert.True(t, IsFailure(&Error{Op: "get", Err: fmt.Errorf("%w: why", err)}), err)
	}
	for _, err := range []error{nil, ErrNotFound, ErrConflict, ErrBusy, ErrReadOnly, ErrReach} {
		assert.False(t, IsFailure(err), err)
	}
}
