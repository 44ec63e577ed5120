-- httpd.launch ()
-- Not there any more: the operating system does that, for example by
-- systemctl.
error ("httpd.launch is not there any more: the operating system does that, for example by systemctl", 0)
