-- httpd.setMaxListens (text)
-- Not there any more: the web server's own configuration says it.
error ("httpd.setMaxListens is not there any more: the web server's own configuration says it", 0)
