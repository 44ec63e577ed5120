-- httpd.getMaxUsers ()
-- Not there any more: the web server's own configuration says it.
error ("httpd.getMaxUsers is not there any more: the web server's own configuration says it", 0)
