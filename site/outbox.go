package site

import "scripter/objectdb"

// The tables of what is done after requests, and on a schedule. The outbox and the runs are written
// by Scripter; the schedule is the owner's.
var (
	Outbox       = home.Child("outbox")
	ScheduleRuns = home.Child("scheduleRuns")
	Schedule     = objectdb.Address{"user", "scheduler"}
)

// The settings of the agent, and their defaults.
var (
	MaxOutbox = &Setting{Name: "maxOutbox", Default: objectdb.Number(10000), Title: "Most rows of the outbox",
		Meaning: "mails, posts and later scripts that may wait; more are refused", Check: whole(1, 1<<20)}
	MaxMail = &Setting{Name: "maxMail", Default: objectdb.Number(10), Title: "Largest mail",
		Meaning: "megabytes of one mail with its attachments, or of one post", Check: between(0.001, 256)}
	OutboxTries = &Setting{Name: "outboxTries", Default: objectdb.Number(16), Title: "Tries of the outbox",
		Meaning: "times that a delivery is tried, in about two days; then it is a dead letter", Check: whole(1, 100)}
	OutboxDays = &Setting{Name: "outboxDays", Default: objectdb.Number(30), Title: "Days of dead letters",
		Meaning: "days for which dead letters are kept", Check: between(0, 365*10)}
	MaxScheduledTime = &Setting{Name: "maxScheduledTime", Default: objectdb.Number(60), Title: "Longest scheduled run",
		Meaning: "seconds that a script of the schedule or the outbox may take, unless it has limits of its own",
		Check:   between(0.01, 3600)}
	FlPauseOutbox = &Setting{Name: "flPauseOutbox", Default: objectdb.Boolean(false), Title: "Pause the outbox",
		Meaning: "nothing of the outbox is delivered; rows wait"}
	FlPauseSchedule = &Setting{Name: "flPauseSchedule", Default: objectdb.Boolean(false), Title: "Pause the schedule",
		Meaning: "no script of the schedule runs"}
)
