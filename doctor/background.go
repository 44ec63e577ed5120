package doctor

import (
	"time"

	"scripter/objectdb"
	"scripter/outbox"
	"scripter/site"
)

// A MailServer is a mail server that scripter.conf lists, and why it cannot be used; nil if it can.
type MailServer struct {
	site.MailServer
	Err error
}

// late is how long a row of the outbox may be due before it is said that no agent works.
const late = 5 * time.Minute

// background is what the outbox says.
type background struct {
	overdue, dead int
	since         time.Time // when the first of the overdue rows was due
	paused        bool
}

func readBackground(tx *objectdb.Tx, now time.Time) (b background, err error) {
	rows, err := outbox.List(tx, outbox.Waiting)
	if err != nil {
		return b, err
	}
	for _, r := range rows {
		if due := r.Due(); now.Sub(due) > late {
			b.overdue++
			if b.since.IsZero() || due.Before(b.since) {
				b.since = due
			}
		}
	}
	if _, b.dead, err = outbox.Counts(tx); err != nil {
		return b, err
	}
	b.paused = bool(setValue(tx, site.FlPauseOutbox).(objectdb.Boolean))
	return b, nil
}

// checkBackground says whether what follows commits is done, and whether the mail servers take mails.
func (d *doctor) checkBackground() {
	for _, m := range d.mailServers {
		if m.Err != nil {
			d.warn("mail", "no mail can be sent by the server that scripter.conf lists: %v", m.Err)
		} else {
			d.ok("mail", "%s answers, and takes mails", m.URL())
		}
	}
	b := d.background
	switch {
	case b.paused:
		d.note("outbox", "it is paused (user.webserver.flPauseOutbox); scripter outbox resume ends that")
	case b.overdue > 0:
		d.warn("outbox", "no agent works: the first of %d overdue rows should have been delivered at %s UTC; scripter-fcgi and "+
			"scripter serve deliver them, or a line in a crontab: * * * * * scripter --root %s agent --once",
			b.overdue, b.since.UTC().Format(time.DateTime), d.root)
	}
	if b.dead > 0 {
		d.warn("outbox",
			"dead letters, which were refused or failed too often: %d; scripter outbox lists them", b.dead)
	}
}
