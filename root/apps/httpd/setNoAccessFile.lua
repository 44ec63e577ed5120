-- httpd.setNoAccessFile (text)
-- Not there any more: the web server's own configuration says it; it can be
-- a page of yours by the action NOACCESS.
error ("httpd.setNoAccessFile is not there any more: the web server's own configuration says it; it can be a page of yours by the action NOACCESS", 0)
