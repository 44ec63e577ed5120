-- httpd.setMaxUsers (text)
-- Not there any more: the web server's own configuration says it.
error ("httpd.setMaxUsers is not there any more: the web server's own configuration says it", 0)
