-- httpd.setLogFormat (text)
-- Not there any more: the web server's own configuration says it.
error ("httpd.setLogFormat is not there any more: the web server's own configuration says it", 0)
