package gateway

import (
	"scripter/outbox"
	"scripter/site"
)

var _ outbox.Host = (*attempt)(nil)

// Batch returns what the attempt writes into the outbox.
func (c *attempt) Batch() *outbox.Batch { return &c.batch }

// Reach returns what the root may use of its host.
func (c *attempt) Reach() site.Reach { return c.g.Reach() }
