-- httpd.commands.doNightlyTasks ()
-- Not there any more: cron or a timer of systemd does what is due at night,
-- with scripter run.
error ("httpd.commands.doNightlyTasks is not there any more: cron or a timer of systemd does what is due at night, with scripter run", 0)
