-- httpd.getMaxListens ()
-- Not there any more: the web server's own configuration says it.
error ("httpd.getMaxListens is not there any more: the web server's own configuration says it", 0)
