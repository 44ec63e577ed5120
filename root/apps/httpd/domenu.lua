-- httpd.domenu (name)
-- Not there any more: a web server of today has no menu.
error ("httpd.domenu is not there any more: a web server of today has no menu", 0)
