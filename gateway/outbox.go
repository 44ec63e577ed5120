package gateway

import (
	"scripter/outbox"
	"scripter/site"
)

var _ outbox.Host = (*attempt)(nil)

// Batch returns what the attempt writes into the outbox.
func (c *attempt) Batch() *outbox.Batch { return &c.batch }

// Reach returns what the root may use of its host. In tests it has a mail server.
func (c *attempt) Reach() site.Reach {
	r := c.g.Reach()
	if c.test != nil && len(r.MailServers) == 0 {
		r.MailServers = []site.MailServer{site.TestMailServer}
	}
	return r
}
