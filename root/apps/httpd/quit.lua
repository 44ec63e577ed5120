-- httpd.quit ()
-- Not there any more: the operating system does that, for example by
-- systemctl.
error ("httpd.quit is not there any more: the operating system does that, for example by systemctl", 0)
