package scheduler

import (
	"context"
	"errors"

	"scripter/objectdb"
	"scripter/outbox"
)

// post makes the HTTP request of a row.
func (a *Agent) post(context.Context, outbox.Row, map[string]objectdb.Value) error {
	return final(errors.New("posts are not known"))
}
