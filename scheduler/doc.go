// Package scheduler has the agent of a root: it delivers the outbox and runs the scripts of the schedule.
//
//	stop := scheduler.New(scheduler.Options{…}).Start()
//	defer stop()
//
// Any number of agents may work on a root, on any number of hosts. What an agent does, it claims
// first, in a transaction of the root, for a time: two agents never do the same at once, and if an
// agent is killed, another one takes over when that time has passed.
//
//	agent.go     the loop: what is due, and who does it
//	delivery.go  a row of the outbox: tried, tried again, given up
//	mail.go      mails, by SMTP
//	post.go      HTTP requests
//	job.go       scripts, each in a process of its own
//	schedule.go  the rows of user.scheduler
//	cron.go      when they are due
//	runs.go      the last runs of each
package scheduler
