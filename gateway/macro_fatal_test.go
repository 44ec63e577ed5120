package gateway

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"scripter/objectdb"
)

// TestFailuresOfTheStoreEndThePage checks that no page is sent without a marker whose values could not be read.
func TestFailuresOfTheStoreEndThePage(t *testing.T) {
	for _, err := range []error{
		objectdb.ErrDamaged, objectdb.ErrDisk, objectdb.ErrUnreachable, objectdb.ErrUnknown, objectdb.ErrConflict,
	} {
		wrapped := fmt.Errorf("get user.x: %w", err)
		assert.True(t, isFatal(wrapped), err)
		if err != objectdb.ErrConflict {
			assert.Equal(t, 503, statusOf(wrapped), err)
		}
	}
	assert.False(t, isFatal(objectdb.ErrNotFound))
}
