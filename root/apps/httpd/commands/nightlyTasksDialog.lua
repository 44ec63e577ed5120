-- httpd.commands.nightlyTasksDialog ()
-- Not there any more: cron or a timer of systemd does what is due at night,
-- with scripter run.
error ("httpd.commands.nightlyTasksDialog is not there any more: cron or a timer of systemd does what is due at night, with scripter run", 0)
