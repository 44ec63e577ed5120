-- httpd.hideWindow (flag)
-- Not there any more: a web server of today has no window.
error ("httpd.hideWindow is not there any more: a web server of today has no window", 0)
