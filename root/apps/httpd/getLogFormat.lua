-- httpd.getLogFormat ()
-- Not there any more: the web server's own configuration says it.
error ("httpd.getLogFormat is not there any more: the web server's own configuration says it", 0)
