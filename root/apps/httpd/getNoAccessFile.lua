-- httpd.getNoAccessFile ()
-- Not there any more: the web server's own configuration says it; it can be
-- a page of yours by the action NOACCESS.
error ("httpd.getNoAccessFile is not there any more: the web server's own configuration says it; it can be a page of yours by the action NOACCESS", 0)
