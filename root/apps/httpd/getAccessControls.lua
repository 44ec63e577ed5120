-- httpd.getAccessControls ()
-- Not there any more: the web server's own configuration says it, such as
-- Require in Apache and allow in nginx.
error ("httpd.getAccessControls is not there any more: the web server's own configuration says it, such as Require in Apache and allow in nginx", 0)
