// Package outbox keeps what a request wants to have done after its commit: mails, HTTP posts,
// scripts that run later. Each is a row in the root that is written in the transaction of the
// request, so that a request that is undone leaves nothing. The agent (package scheduler)
// delivers the rows.
//
// [Add] writes a row. The agent takes it with [Claim], which gives it a lease: until the lease
// ends, no other agent takes the row. Then it says how the delivery went, with [Delivered],
// [Retry] or [Bury]. An agent that was killed says nothing, and the row is claimed again when
// its lease has ended. So a row is delivered at least once, and its key tells the receiver that
// two deliveries are one.
//
// Rows have names of their own, so requests that write rows do not conflict. What is listed often
// (see [Row]) is apart from what is sent:
//
//	queue.KEY     rows that wait
//	dead.KEY      rows that cannot be delivered
//	sent.KEY      the last rows that were delivered, without their content
//	content.KEY   a table: what is sent
package outbox
