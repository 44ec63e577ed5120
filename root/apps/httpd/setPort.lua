-- httpd.setPort (port)
-- Not there any more: the web server's own configuration says it, by Listen
-- in Apache and listen in nginx.
error ("httpd.setPort is not there any more: the web server's own configuration says it, by Listen in Apache and listen in nginx", 0)
