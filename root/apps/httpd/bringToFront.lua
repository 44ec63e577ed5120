-- httpd.bringToFront ()
-- Not there any more: a web server of today has no window.
error ("httpd.bringToFront is not there any more: a web server of today has no window", 0)
