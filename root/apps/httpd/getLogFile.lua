-- httpd.getLogFile ()
-- Not there any more: the program writes its log to its standard error; the
-- web server's own configuration says where its own goes.
error ("httpd.getLogFile is not there any more: the program writes its log to its standard error; the web server's own configuration says where its own goes", 0)
