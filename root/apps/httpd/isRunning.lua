-- httpd.isRunning ()
-- Not there any more: the operating system does that, for example by
-- systemctl is-active; that this script answers a request shows it too.
error ("httpd.isRunning is not there any more: the operating system does that, for example by systemctl is-active; that this script answers a request shows it too", 0)
